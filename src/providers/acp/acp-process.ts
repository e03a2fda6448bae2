// Starts a program that speaks the Agent Client Protocol, version 1, and exchanges messages with it.
import { attempt } from "../../core/attempt.ts"
import { ConfigError, type ProviderError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { ownVersion } from "../../core/own-version.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from "../read-json.ts"
import { type CliProcessEnd, type ProgramOptions, type StopCause, startCliProcess } from "../turn/cli-process.ts"
import { cancelledAnswer } from "./acp-permissions.ts"

// Only types: the optional package is loaded when the first program is started.
type AcpPackage = typeof import("@agentclientprotocol/sdk")

export interface AcpProcess {
  /** Its answer to `initialize`: name, version and capabilities. */
  readonly initializeResult: JsonObject
  /** Sends a request. Rejects with a `ProviderError` if it answers with an error or exits. */
  request(method: string, params: JsonObject): Promise<JsonObject>
  notify(method: string, params: JsonObject): void
  /** Gets its messages; undefined between turns. */
  listener: AcpListener | undefined
  stop(why: StopCause): void
  /** True if it has ended or is being ended. */
  readonly isGone: boolean
  /** Ends it and all processes it started. */
  close(): Promise<void>
}

export interface AcpListener {
  /** The time-outs of the turn, for error messages. */
  readonly limits: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined }
  /** Called for every line of output. */
  onOutputLine(): void
  /** Gets the parameters of a `session/update`. */
  update(params: JsonObject): void
  /** Gets a line that is not part of the protocol. */
  unknownLine(line: Json): void
  /** Answers `session/request_permission`. */
  answerPermission(request: JsonObject): Promise<JsonObject>
}

export interface AcpProcessOptions extends ProgramOptions {
  cli: { readonly provider: string; readonly title: string }
  listener: AcpListener
  /** Called as soon as the process can be stopped. */
  onStarted(acpProcess: AcpProcess): void
}

/** Starts the program and sends `initialize`. */
export async function startAcpProcess({ cli, listener, onStarted, ...start }: AcpProcessOptions): Promise<AcpProcess> {
  const { client, PROTOCOL_VERSION, RequestError } = await loadAcp()
  let receive: ReadableStreamDefaultController | undefined
  let ended: CliProcessEnd | undefined
  let isGone = false
  let listenerError: unknown
  let initializeResult: JsonObject = {}

  function take(line: string): void {
    acpProcess.listener?.onOutputLine()
    const message = parseMessage(line)
    if (textAt(message, "jsonrpc") === undefined) acpProcess.listener?.unknownLine(message ?? line)
    // Not passed to the package, which logs errors for kinds of updates that it does not know.
    else if (textAt(message, "method") === "session/update") acpProcess.listener?.update(objectAt(message, "params"))
    else receive?.enqueue(message)
  }

  const child = startCliProcess({
    ...start,
    // The process outlives the turn; its owner ends it with `close`.
    signal: new AbortController().signal,
    onLine(text) {
      try {
        if (!isGone && text.trim() !== "") take(text)
      } catch (error) {
        // A bug in a listener ends the turn, not this program.
        listenerError ??= error
        acpProcess.stop("abort")
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
      // Not validated by the package, which may not know newer fields.
      (params) => params as JsonObject,
      async ({ params }) => (await acpProcess.listener?.answerPermission(params)) ?? cancelledAnswer,
    )
    .connect({ readable, writable })
  const processEnded = child.ended.then((end) => {
    ended = end
    isGone = true
    connection.close()
  })

  const acpProcess: AcpProcess = {
    get initializeResult() {
      return initializeResult
    },
    async request(method, params) {
      try {
        return (await connection.agent.request<JsonObject | null>(method, params)) ?? {}
      } catch (error) {
        if (error instanceof RequestError) throw acpRequestFailure(cli, method, error)
        if (!isGone) acpProcess.stop("abort")
        await processEnded
        throw listenerError ?? (ended ? exitFailure(cli, ended, acpProcess.listener?.limits ?? {}) : error)
      }
    },
    notify: (method, params) => void connection.agent.notify(method, params).catch(() => undefined),
    listener,
    stop(why) {
      isGone = true
      child.stop(why)
    },
    get isGone() {
      return isGone
    },
    async close() {
      if (!isGone) child.finish()
      isGone = true
      await processEnded
    },
  }

  onStarted(acpProcess)
  try {
    initializeResult = await acpProcess.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "karst", version: ownVersion() },
    })
    if (numberAt(initializeResult, "protocolVersion") === PROTOCOL_VERSION) return acpProcess
    const version = String(valueAt(initializeResult, "protocolVersion"))
    const message = `it speaks version ${version} of the protocol, and Karst ${PROTOCOL_VERSION}`
    throw providerFailure({ ...cli, message, code: "protocol" })
  } catch (error) {
    acpProcess.stop("abort")
    await processEnded
    throw error
  }
}

async function loadAcp(): Promise<AcpPackage> {
  const name = "@agentclientprotocol/sdk"
  const loaded = await importOptionalPackage(name, "agents that speak ACP")
  // The cast holds: `client` exists since version 2.
  if (typeof loaded.client === "function") return loaded as AcpPackage
  throw new ConfigError(`The package "${name}" is not what Karst knows. Install 2 or newer: npm install ${name}@2`)
}

const authRequired = -32000
const notFound = -32002

/** Creates the error for a request that the program answered with an error. */
export function acpRequestFailure(
  { provider, title }: { readonly provider: string; readonly title: string },
  method: string,
  { code, message, data }: { code: number; message: string; data?: unknown },
): ProviderError {
  const more = data as Json | undefined
  const detail = textAt(more, "details") ?? textAt(more, "message") ?? (typeof more === "string" ? more : undefined)
  const text = [nestedMessage(message), detail].filter((text) => text !== undefined && text !== "").join(": ")
  const status = [code, numberAt(more, "statusCode"), numberAt(more, "status")].find(isStatus)
  const facts = { provider, title, message: text || `${method} failed`, status }
  if (code === authRequired || textAt(more, "errorName") === "ProviderAuthError")
    return providerFailure({ ...facts, code: "authentication" })
  const unknown = code === notFound || /session.{0,200}?not found|no previous session|invalid session/i.test(text)
  if (unknown && method.startsWith("session/")) return providerFailure({ ...facts, code: "session-not-found" })
  if (status === undefined && /ECONNREFUSED|ConnectionRefused|fetch failed/i.test(text)) {
    return providerFailure({ ...facts, code: "connection" })
  }
  return providerFailure(facts)
}

// Some programs pass on the JSON body of the model service's answer as message.
function nestedMessage(message: string): string {
  const json = parseMessage(message)
  return textAt(json, "error", "message") ?? textAt(json, "message") ?? message
}

function isStatus(code: number | undefined): code is number {
  return code !== undefined && code >= 400 && code < 600
}

function parseMessage(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined
  return attempt(() => JSON.parse(text))
}
