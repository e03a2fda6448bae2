import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ProviderError, UnsupportedError } from "../../core/errors.ts"
import type { CliServer, TurnSettings } from "../provider.ts"
import { providerFailure } from "../provider-failure.ts"
import { type JsonObject, listAt, objectAt, textAt, valueAt } from "../read-json.ts"
import { type AcpListener, type AcpProcess, startAcpProcess } from "./acp-process.ts"

/** A CLI that speaks the Agent Client Protocol. */
export interface AcpCli {
  readonly provider: string
  readonly title: string
  /** How it is started. Files go into the folder, which is private and gone when the process is. `key`: the conversation that it
   *  will be asked to go on with. */
  launch(settings: TurnSettings, place: { folder: string; key: string | undefined }): Promise<AcpCommand>
  /** Whether the tokens it tells are those of its last answer alone. */
  readonly reportsLastAnswerOnly?: boolean | undefined
}

export interface AcpCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** What is in the arguments and the environment already, and is not told again by the protocol. */
  alreadyPassed?: readonly ("instructions" | "model" | "reasoning" | "servers")[] | undefined
  /** How to authenticate where it asks for that: the id of one of its methods. */
  auth?: string | undefined
  /** Called when the process is gone. */
  cleanUp?: (() => Promise<void>) | undefined
}

/** A running agent with a conversation open. */
export interface OpenAcpSession {
  readonly acpProcess: AcpProcess
  /** Its id for the conversation. */
  readonly id: string
  /** The model, where it is known. */
  readonly model: string | undefined
  /** Instructions that must go with the prompt, because the agent has no other place for them. */
  readonly instructions: string | undefined
  /** What was asked for and cannot be had. */
  readonly warnings: readonly string[]
  /** Ends the agent and what was made for it. */
  end(): Promise<void>
}

export interface AcpSessionOptions {
  settings: TurnSettings
  /** The conversation to go on with. */
  key: string | undefined
  listener: AcpListener
  /** Called as soon as there is something that could be stopped. */
  onStarted(agent: AcpProcess): void
}

export async function openAcpSession(
  cli: AcpCli,
  { settings, key, listener: ears, onStarted: started }: AcpSessionOptions,
): Promise<OpenAcpSession> {
  const { program, cwd } = settings
  const folder = await mkdtemp(join(tmpdir(), "karst-acp-"))
  let launch: AcpCommand | undefined
  let agent: AcpProcess | undefined
  async function end(): Promise<void> {
    await agent?.close()
    await launch?.cleanUp?.()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    launch = await cli.launch(settings, { folder, key })
    const env = { ...settings.env, ...launch.env }
    const running = await startAcpProcess({
      cli,
      program,
      args: launch.args,
      cwd,
      env,
      folder,
      listener: ears,
      onStarted(child) {
        agent = child
        started(child)
      },
    })
    const given = new Set(launch.alreadyPassed)
    const params = { cwd, mcpServers: given.has("servers") ? [] : serversFor(cli, running, settings.servers) }
    const opened = await withAuthentication(cli, running, launch.auth, () =>
      newOrLoadedSession(cli, running, key, params),
    )
    const id = textAt(opened, "sessionId") ?? key
    if (id === undefined) throw providerFailure({ ...cli, message: "session/new gave no sessionId", code: "protocol" })
    const warnings: string[] = []
    for (const what of ["model", "reasoning"] as const) {
      const value = settings[what]
      if (value === undefined || given.has(what) || (await setSessionOption(running, id, opened, what, value))) continue
      warnings.push(`${cli.title} lets nobody choose its ${what}: "${value}" is not used.`)
    }
    return {
      acpProcess: running,
      id,
      model:
        settings.model ??
        textAt(sessionOption(opened, "model"), "currentValue") ??
        textAt(opened, "models", "currentModelId"),
      instructions: given.has("instructions") ? undefined : settings.instructions,
      warnings,
      end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function newOrLoadedSession(
  cli: AcpCli,
  agent: AcpProcess,
  key: string | undefined,
  params: JsonObject,
): Promise<JsonObject> {
  if (key === undefined) return await agent.request("session/new", params)
  const can = objectAt(agent.initializeResult, "agentCapabilities")
  if (valueAt(can, "loadSession") === true) return await agent.request("session/load", { ...params, sessionId: key })
  if (valueAt(can, "sessionCapabilities", "resume"))
    return await agent.request("session/resume", { ...params, sessionId: key })
  const message = "it cannot go on with an earlier conversation: it has neither session/load nor session/resume"
  throw providerFailure({ ...cli, message, code: "session-not-found" })
}

async function withAuthentication(
  { provider, title }: AcpCli,
  agent: AcpProcess,
  auth: string | undefined,
  open: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== "authentication" || agent.isGone) throw error
    if (auth === undefined) {
      const methods = listAt(agent.initializeResult, "authMethods").flatMap((method) => textAt(method, "id") ?? [])
      if (provider !== "acp" || methods.length === 0) throw error
      const message = `it asks to be authenticated by one of ${methods.join(", ")}: acp({ auth: "${methods[0]}" })`
      throw providerFailure({ provider, title, message, code: "authentication" })
    }
    await agent.request("authenticate", { methodId: auth })
    return await open()
  }
}

function serversFor(
  { title }: AcpCli,
  { initializeResult: about }: AcpProcess,
  servers: readonly CliServer[],
): JsonObject[] {
  return servers.map((server) => {
    const { name } = server
    if (!("url" in server))
      return { name, command: server.command, args: [...(server.args ?? [])], env: pairs(server.env) }
    if (valueAt(about, "agentCapabilities", "mcpCapabilities", "http") !== true) {
      throw new UnsupportedError(
        `${title} takes no MCP servers over HTTP, so "${name}" cannot reach it: leave out tools, runtime and servers with a url.`,
      )
    }
    return { type: "http", name, url: server.url, headers: pairs(server.headers) }
  })
}

function pairs(record: Readonly<Record<string, string>> = {}): JsonObject[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }))
}

const categories = { model: "model", reasoning: "thought_level" } as const

function sessionOption(opened: JsonObject, what: keyof typeof categories) {
  return listAt(opened, "configOptions").find((option) => textAt(option, "category") === categories[what])
}

async function setSessionOption(
  agent: AcpProcess,
  sessionId: string,
  opened: JsonObject,
  what: keyof typeof categories,
  value: string,
): Promise<boolean> {
  const configId = textAt(sessionOption(opened, what), "id")
  if (configId !== undefined) await agent.request("session/set_config_option", { sessionId, configId, value })
  else if (what === "model" && valueAt(opened, "models"))
    await agent.request("session/set_model", { sessionId, modelId: value })
  else return false
  return true
}
