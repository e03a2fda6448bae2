// Starts an ACP program and opens a session in it: servers, authentication, model and reasoning.
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
  /** Returns the command. It may write files into the folder, which is private and removed after the process has ended.
   *  `key`: the conversation that will be resumed. */
  launch(settings: TurnSettings, paths: { folder: string; key: string | undefined }): Promise<AcpCommand>
  /** True if the tokens it reports are those of its last answer only. */
  readonly reportsLastAnswerOnly?: boolean | undefined
}

export interface AcpCommand {
  args: readonly string[]
  env?: Readonly<Record<string, string>> | undefined
  /** Settings that arguments or environment already contain, so that they are not sent over the protocol. */
  alreadyPassed?: readonly ("instructions" | "model" | "reasoning" | "servers")[] | undefined
  /** The id of the authentication method to use if it requires one. */
  auth?: string | undefined
  /** Called after the process has ended. */
  cleanUp?: (() => Promise<void>) | undefined
}

/** A running ACP program with an open session. */
export interface OpenAcpSession {
  readonly acpProcess: AcpProcess
  /** The ACP session id. */
  readonly id: string
  /** The model, if known. */
  readonly model: string | undefined
  /** Instructions to send with the prompt, because ACP has no other place for them. */
  readonly instructions: string | undefined
  /** Settings that could not be applied. */
  readonly warnings: readonly string[]
  /** Ends the process and removes its files. */
  end(): Promise<void>
}

export interface AcpSessionOptions {
  settings: TurnSettings
  /** The conversation to resume. */
  key: string | undefined
  listener: AcpListener
  /** Called as soon as the process can be stopped. */
  onStarted(acpProcess: AcpProcess): void
}

export async function openAcpSession(
  cli: AcpCli,
  { settings, key, listener, onStarted }: AcpSessionOptions,
): Promise<OpenAcpSession> {
  const { program, cwd } = settings
  const folder = await mkdtemp(join(tmpdir(), "karst-acp-"))
  let command: AcpCommand | undefined
  let running: AcpProcess | undefined
  async function end(): Promise<void> {
    await running?.close()
    await command?.cleanUp?.()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    command = await cli.launch(settings, { folder, key })
    const acpProcess = await startAcpProcess({
      ...{ cli, program, cwd, folder, listener },
      args: command.args,
      env: { ...settings.env, ...command.env },
      onStarted(child) {
        running = child
        onStarted(child)
      },
    })
    const alreadyPassed = new Set(command.alreadyPassed)
    const mcpServers = alreadyPassed.has("servers") ? [] : serversFor(cli, acpProcess, settings.servers)
    const params = { cwd, mcpServers }
    const opened = await withAuthentication(cli, acpProcess, command.auth, () =>
      newOrLoadedSession(cli, acpProcess, key, params),
    )
    const id = textAt(opened, "sessionId") ?? key
    if (id === undefined) throw providerFailure({ ...cli, message: "session/new gave no sessionId", code: "protocol" })
    const warnings: string[] = []
    for (const setting of ["model", "reasoning"] as const) {
      const value = settings[setting]
      if (value === undefined || alreadyPassed.has(setting)) continue
      if (await setSessionOption(acpProcess, id, opened, setting, value)) continue
      warnings.push(`${cli.title} has no choice of ${setting}: "${value}" is not used.`)
    }
    return {
      acpProcess,
      id,
      model:
        settings.model ??
        textAt(sessionOption(opened, "model"), "currentValue") ??
        textAt(opened, "models", "currentModelId"),
      instructions: alreadyPassed.has("instructions") ? undefined : settings.instructions,
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
  acpProcess: AcpProcess,
  key: string | undefined,
  params: JsonObject,
): Promise<JsonObject> {
  if (key === undefined) return await acpProcess.request("session/new", params)
  const can = objectAt(acpProcess.initializeResult, "agentCapabilities")
  if (valueAt(can, "loadSession") === true)
    return await acpProcess.request("session/load", { ...params, sessionId: key })
  if (valueAt(can, "sessionCapabilities", "resume"))
    return await acpProcess.request("session/resume", { ...params, sessionId: key })
  const message = "it cannot go on with an earlier conversation: it has neither session/load nor session/resume"
  throw providerFailure({ ...cli, message, code: "session-not-found" })
}

async function withAuthentication(
  { provider, title }: AcpCli,
  acpProcess: AcpProcess,
  auth: string | undefined,
  open: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== "authentication" || acpProcess.isGone) throw error
    if (auth === undefined) {
      const methods = listAt(acpProcess.initializeResult, "authMethods").flatMap((method) => textAt(method, "id") ?? [])
      if (provider !== "acp" || methods.length === 0) throw error
      const message = `it asks to be authenticated by one of ${methods.join(", ")}: acp({ auth: "${methods[0]}" })`
      throw providerFailure({ provider, title, message, code: "authentication" })
    }
    await acpProcess.request("authenticate", { methodId: auth })
    return await open()
  }
}

function serversFor({ title }: AcpCli, { initializeResult }: AcpProcess, servers: readonly CliServer[]): JsonObject[] {
  return servers.map((server) => {
    const { name } = server
    if (!("url" in server))
      return { name, command: server.command, args: [...(server.args ?? [])], env: pairs(server.env) }
    if (valueAt(initializeResult, "agentCapabilities", "mcpCapabilities", "http") !== true) {
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

function sessionOption(opened: JsonObject, setting: keyof typeof categories) {
  return listAt(opened, "configOptions").find((option) => textAt(option, "category") === categories[setting])
}

async function setSessionOption(
  acpProcess: AcpProcess,
  sessionId: string,
  opened: JsonObject,
  setting: keyof typeof categories,
  value: string,
): Promise<boolean> {
  const configId = textAt(sessionOption(opened, setting), "id")
  if (configId !== undefined) await acpProcess.request("session/set_config_option", { sessionId, configId, value })
  else if (setting === "model" && valueAt(opened, "models"))
    await acpProcess.request("session/set_model", { sessionId, modelId: value })
  else return false
  return true
}
