import { ConfigError, type ProviderError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { ownVersion } from "../../mcp/sdk-packages.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from "../read-json.ts"
import { type CliProcessEnd, type StopCause, startCliProcess } from "../turn/cli-process.ts"
import { cancelledAnswer } from "./acp-permissions.ts"

// Types alone: the package arrives with the first agent.
type AcpPackage = typeof import("@agentclientprotocol/sdk")

/** A running program that speaks the Agent Client Protocol, version 1. */
export interface AcpProcess {
  /** What it said of itself. */
  readonly initializeResult: JsonObject
  /** Asks it for something. Rejects with a `ProviderError`: what it answered, or how it ended. */
  request(method: string, params: JsonObject): Promise<JsonObject>
  notify(method: string, params: JsonObject): void
  /** Who is told what it says; nobody between turns. */
  listener: AcpListener | undefined
  stop(why: StopCause): void
  /** Whether it has ended, or is about to. */
  readonly isGone: boolean
  /** Ends it and all that it started. */
  close(): Promise<void>
}

export interface AcpListener {
  /** Of the turn, for the words in which it failed. */
  readonly limits: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined }
  /** Any line at all has come. */
  activity(): void
  /** Takes the parameters of a `session/update`. */
  update(params: JsonObject): void
  /** Takes a line that is none of the protocol. */
  unknownLine(line: Json): void
  /** Gives the answer to `session/request_permission`. */
  answerPermission(request: JsonObject): Promise<JsonObject>
}

export interface AcpProcessOptions {
  cli: { readonly provider: string; readonly title: string }
  program: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  folder: string
  listener: AcpListener
  /** Called as soon as it can be stopped. */
  onStarted(agent: AcpProcess): void
}

/** Starts one, and agrees on the protocol. */
export async function startAcpProcess({
  cli,
  listener: ears,
  onStarted: started,
  ...start
}: AcpProcessOptions): Promise<AcpProcess> {
  const { client, PROTOCOL_VERSION, RequestError } = await loadAcp()
  let receive: ReadableStreamDefaultController | undefined
  let ended: CliProcessEnd | undefined
  let gone = false
  let broken: unknown
  let about: JsonObject = {}

  function take(line: string): void {
    agent.listener?.activity()
    const message = parseMessage(line)
    if (textAt(message, "jsonrpc") === undefined) agent.listener?.unknownLine(message ?? line)
    // Not through the package, which complains aloud of what an agent of tomorrow may say.
    else if (textAt(message, "method") === "session/update") agent.listener?.update(objectAt(message, "params"))
    else receive?.enqueue(message)
  }

  const child = startCliProcess({
    ...start,
    // It outlives the turn; whoever owns it ends it.
    signal: new AbortController().signal,
    onLine(text) {
      try {
        if (!gone && text.trim() !== "") take(text)
      } catch (error) {
        // A bug of ours must not end the program: it ends the turn.
        broken ??= error
        agent.stop("abort")
      }
    },
  })
  const readable = new ReadableStream({
    start(controller) {
      receive = controller
    },
  })
  const writable = new WritableStream({ write: (message) => child.write(`${JSON.stringify(message)}\n`) })
  const connection = client({ name: "karst" })
    .onRequest(
      "session/request_permission",
      // Read as it comes, for the same reason.
      (params) => params as JsonObject,
      async ({ params }) => (await agent.listener?.answerPermission(params)) ?? cancelledAnswer,
    )
    .connect({ readable, writable })
  const over = child.ended.then((end) => {
    ended = end
    gone = true
    connection.close()
  })

  const agent: AcpProcess = {
    get initializeResult() {
      return about
    },
    async request(method, params) {
      try {
        return (await connection.agent.request<JsonObject | null>(method, params)) ?? {}
      } catch (error) {
        if (error instanceof RequestError) throw acpRequestFailure(cli, method, error)
        if (!gone) agent.stop("abort")
        await over
        throw broken ?? (ended ? exitFailure(cli, ended, agent.listener?.limits ?? {}) : error)
      }
    },
    notify: (method, params) => void connection.agent.notify(method, params).catch(() => undefined),
    listener: ears,
    stop(why) {
      gone = true
      child.stop(why)
    },
    get isGone() {
      return gone
    },
    async close() {
      if (!gone) child.finish()
      gone = true
      await over
    },
  }

  started(agent)
  try {
    about = await agent.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "karst", version: ownVersion() },
    })
    if (numberAt(about, "protocolVersion") === PROTOCOL_VERSION) return agent
    const message = `it speaks version ${String(valueAt(about, "protocolVersion"))} of the protocol, and Karst ${PROTOCOL_VERSION}`
    throw providerFailure({ ...cli, message, code: "protocol" })
  } catch (error) {
    agent.stop("abort")
    await over
    throw error
  }
}

async function loadAcp(): Promise<AcpPackage> {
  const name = "@agentclientprotocol/sdk"
  const loaded = await importOptionalPackage(name, "agents that speak ACP")
  // A package that has what its second major version has is taken to be as its types say.
  if (typeof loaded.client === "function") return loaded as AcpPackage
  throw new ConfigError(`The package "${name}" is not what Karst knows. Install 2 or newer: npm install ${name}@2`)
}

const authRequired = -32000
const notFound = -32002

/** What an agent answered in place of what it was asked for. */
export function acpRequestFailure(
  { provider, title }: { readonly provider: string; readonly title: string },
  method: string,
  { code, message, data }: { code: number; message: string; data?: unknown },
): ProviderError {
  // It came as JSON.
  const more = data as Json | undefined
  const told = textAt(more, "details") ?? textAt(more, "message") ?? (typeof more === "string" ? more : undefined)
  const words = [nestedMessage(message), told].filter((text) => text !== undefined && text !== "").join(": ")
  const status = [code, numberAt(more, "statusCode"), numberAt(more, "status")].find(isStatus)
  const facts = { provider, title, message: words || `${method} failed`, status }
  if (code === authRequired || textAt(more, "errorName") === "ProviderAuthError")
    return providerFailure({ ...facts, code: "authentication" })
  const unknown = code === notFound || /session.{0,200}?not found|no previous session|invalid session/i.test(words)
  if (unknown && method.startsWith("session/")) return providerFailure({ ...facts, code: "session-not-found" })
  if (status === undefined && /ECONNREFUSED|ConnectionRefused|fetch failed/i.test(words)) {
    return providerFailure({ ...facts, code: "connection" })
  }
  return providerFailure(facts)
}

// Some hand on the body of the service's answer.
function nestedMessage(message: string): string {
  const json = parseMessage(message)
  return textAt(json, "error", "message") ?? textAt(json, "message") ?? message
}

function isStatus(code: number | undefined): code is number {
  return code !== undefined && code >= 400 && code < 600
}

function parseMessage(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
