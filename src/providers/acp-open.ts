import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ProviderError, UnsupportedError } from "../core/errors.ts"
import { type AcpAgent, type AcpEars, startAcpAgent } from "./acp-agent.ts"
import { failureOf } from "./failure.ts"
import type { CliServer, Settings } from "./provider.ts"
import { at, type JsonObject, listAt, objectAt, textAt } from "./read-json.ts"

/** A CLI that speaks the Agent Client Protocol. */
export interface AcpCli {
  readonly provider: string
  readonly title: string
  /** How it is started. Files go into the folder, which is private and gone when the process is. `key`: the conversation that it
   *  will be asked to go on with. */
  launch(settings: Settings, place: { folder: string; key: string | undefined }): Promise<AcpLaunch>
  /** Whether the tokens it tells are those of its last answer alone. */
  readonly tellsLastAnswer?: boolean | undefined
}

export interface AcpLaunch {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** What is in the arguments and the environment already, and is not told again by the protocol. */
  given?: readonly ("instructions" | "model" | "reasoning" | "servers")[] | undefined
  /** How to authenticate where it asks for that: the id of one of its methods. */
  auth?: string | undefined
  /** Called when the process is gone. */
  ended?: (() => Promise<void>) | undefined
}

/** A running agent with a conversation open. */
export interface AcpLive {
  readonly agent: AcpAgent
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

export interface AcpOpening {
  settings: Settings
  /** The conversation to go on with. */
  key: string | undefined
  ears: AcpEars
  /** Called as soon as there is something that could be stopped. */
  started(agent: AcpAgent): void
}

export async function openAcp(cli: AcpCli, { settings, key, ears, started }: AcpOpening): Promise<AcpLive> {
  const { program, cwd } = settings
  const folder = await mkdtemp(join(tmpdir(), "karst-acp-"))
  let launch: AcpLaunch | undefined
  let agent: AcpAgent | undefined
  async function end(): Promise<void> {
    await agent?.close()
    await launch?.ended?.()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    launch = await cli.launch(settings, { folder, key })
    const env = { ...settings.env, ...launch.env }
    const running = await startAcpAgent({
      cli,
      program,
      args: launch.args,
      cwd,
      env,
      folder,
      ears,
      started(child) {
        agent = child
        started(child)
      },
    })
    const given = new Set(launch.given)
    const params = { cwd, mcpServers: given.has("servers") ? [] : serversFor(cli, running, settings.servers) }
    const opened = await authenticated(cli, running, launch.auth, () => conversation(cli, running, key, params))
    const id = textAt(opened, "sessionId") ?? key
    if (id === undefined) throw failureOf({ ...cli, message: "session/new gave no sessionId", code: "protocol" })
    const warnings: string[] = []
    for (const what of ["model", "reasoning"] as const) {
      const value = settings[what]
      if (value === undefined || given.has(what) || (await choose(running, id, opened, what, value))) continue
      warnings.push(`${cli.title} lets nobody choose its ${what}: "${value}" is not used.`)
    }
    return {
      agent: running,
      id,
      model:
        settings.model ??
        textAt(optionOf(opened, "model"), "currentValue") ??
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

async function conversation(
  cli: AcpCli,
  agent: AcpAgent,
  key: string | undefined,
  params: JsonObject,
): Promise<JsonObject> {
  if (key === undefined) return await agent.request("session/new", params)
  const can = objectAt(agent.about, "agentCapabilities")
  if (at(can, "loadSession") === true) return await agent.request("session/load", { ...params, sessionId: key })
  if (at(can, "sessionCapabilities", "resume"))
    return await agent.request("session/resume", { ...params, sessionId: key })
  const message = "it cannot go on with an earlier conversation: it has neither session/load nor session/resume"
  throw failureOf({ ...cli, message, code: "session-not-found" })
}

async function authenticated(
  { provider, title }: AcpCli,
  agent: AcpAgent,
  auth: string | undefined,
  open: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== "authentication" || agent.gone) throw error
    if (auth === undefined) {
      const methods = listAt(agent.about, "authMethods").flatMap((method) => textAt(method, "id") ?? [])
      if (provider !== "acp" || methods.length === 0) throw error
      const message = `it asks to be authenticated by one of ${methods.join(", ")}: acp({ auth: "${methods[0]}" })`
      throw failureOf({ provider, title, message, code: "authentication" })
    }
    await agent.request("authenticate", { methodId: auth })
    return await open()
  }
}

function serversFor({ title }: AcpCli, { about }: AcpAgent, servers: readonly CliServer[]): JsonObject[] {
  return servers.map((server) => {
    const { name } = server
    if (!("url" in server))
      return { name, command: server.command, args: [...(server.args ?? [])], env: pairs(server.env) }
    if (at(about, "agentCapabilities", "mcpCapabilities", "http") !== true) {
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

function optionOf(opened: JsonObject, what: keyof typeof categories) {
  return listAt(opened, "configOptions").find((option) => textAt(option, "category") === categories[what])
}

async function choose(
  agent: AcpAgent,
  sessionId: string,
  opened: JsonObject,
  what: keyof typeof categories,
  value: string,
): Promise<boolean> {
  const configId = textAt(optionOf(opened, what), "id")
  if (configId !== undefined) await agent.request("session/set_config_option", { sessionId, configId, value })
  else if (what === "model" && at(opened, "models"))
    await agent.request("session/set_model", { sessionId, modelId: value })
  else return false
  return true
}
