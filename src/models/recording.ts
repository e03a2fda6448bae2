// Records the calls of a model, and replays a recording as a model.
import { existsSync, readFileSync, statSync } from "node:fs"
import { setTimeout as after } from "node:timers/promises"
import * as check from "../core/checks/check-options.ts"
import { mustBePrice } from "../core/checks/limit-checks.ts"
import type { ErrorData, ModelErrorCode, ModelErrorOptions } from "../core/errors.ts"
import { AgentError, ConfigError, errorData, isAbortError, ModelError } from "../core/errors.ts"
import { appendPrivateFileSync } from "../core/private-files.ts"
import { abortError } from "../core/run.ts"
import { timerMs } from "../core/time-limit.ts"
import type { Price } from "../core/usage.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { wrapModel } from "./model-stream.ts"
import type { RecordedRequest, RequestTexts } from "./recorded-request.ts"
import { createRequestRecorder, requestDifference, requestTexts, restoreRequestTexts } from "./recorded-request.ts"
import { splitTextPart } from "./scripted.ts"

/** One call of a model as plain JSON. A recording is a list of calls; in a file, one call per line. */
export interface RecordedCall {
  /** Calls of version 1 have no comparable request. */
  version: 1 | 2
  /** Counts from 0, in the order in which the calls were made. */
  call: number
  model: string
  /** The request, for comparison with `strict`. */
  request?: RecordedRequest | undefined
  /** The answer, with adjacent pieces of text joined. Has no `finish` if the call failed or was aborted. */
  parts: ModelPart[]
  error?: ErrorData & { status?: number; retryAfterMs?: number }
}

export interface RecordOptions {
  /** Continues an existing file. Default false: an existing file is refused, so that recordings are not mixed. */
  append?: boolean | undefined
  /** True: records each request with the texts of prompts and results, as `strict` requires. Default true. */
  includeRequests?: boolean | undefined
}

const recordChecks: check.OptionChecks<RecordOptions> = {
  append: check.mustBeBoolean,
  includeRequests: check.mustBeBoolean,
}

/** Returns the same model, which records every call when it ends: to a new file of JSON lines, to an array, or by a
 *  function. Throws a `ConfigError` if the file already has calls and `append` is not set. */
export function recordModel(
  model: Model,
  sink: string | RecordedCall[] | ((call: RecordedCall) => void),
  options: RecordOptions = {},
): Model {
  check.checkOptions("recordModel()", options, recordChecks)
  const { append = false, includeRequests = true } = options
  if (append && typeof sink !== "string") throw new ConfigError("recordModel: append is for a file. Leave it out.")
  let calls = typeof sink === "string" ? nextCallNumber(sink, append) : 0
  let hasWritten = append
  let recordedRequest = createRequestRecorder()

  function write(entry: RecordedCall): void {
    if (typeof sink === "function") return sink(entry)
    if (typeof sink !== "string") {
      sink.push(entry)
      return
    }
    // Another recorder may have started the file in the meantime.
    if (!hasWritten) refuseExisting(sink)
    hasWritten = true
    try {
      appendPrivateFileSync(sink, `${JSON.stringify(entry)}\n`)
    } catch (error) {
      // The next request is recorded as a whole, because it cannot refer to this one.
      recordedRequest = createRequestRecorder()
      throw error
    }
  }

  async function* recorded(request: ModelRequest): AsyncGenerator<ModelPart> {
    const call = calls++
    const entry: RecordedCall = {
      version: 2,
      call,
      model: model.id,
      ...(includeRequests && { request: recordedRequest(call, request) }),
      parts: [],
    }
    let isWritten = false
    const writeOnce = () => {
      if (isWritten) return
      isWritten = true
      write(entry)
    }
    try {
      for await (const part of model.stream(request)) {
        appendPart(entry.parts, part)
        // A reader takes no part after this one and would not see that the call could not be recorded.
        if (part.type === "finish") writeOnce()
        yield part
      }
    } catch (error) {
      // The caller aborted the call; that is not an error of the model.
      if (!isAbortError(error)) entry.error = recordedErrorFields(error)
      throw error
    } finally {
      writeOnce()
    }
  }

  return wrapModel(model, recorded)
}

/** The number of the first call to record. */
function nextCallNumber(path: string, append: boolean): number {
  if (!append) refuseExisting(path)
  if (!append || !existsSync(path)) return 0
  return Math.max(-1, ...loadRecording(path).map(({ call }) => call)) + 1
}

function refuseExisting(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  throw new ConfigError(
    `The recording "${path}" exists. Delete it to record anew, or continue it: recordModel(model, path, { append: true }).`,
  )
}

export interface ReplayOptions {
  /** True: compares each request with the recorded one (system prompt with the declarations of bindings, tools,
   *  messages) and throws at the first difference. Default false: only the order counts. */
  strict?: boolean | undefined
  /** With `strict`: replaces texts that differ each time, such as dates, before comparing. */
  mask?: ((text: string) => string) | undefined
  /** The delay before each piece of text, to imitate a real model. Default 0. */
  delayMs?: number | undefined
  /** The number of characters per piece of text. Default: 12 if `delayMs` is set, otherwise the whole text. */
  chunkChars?: number | undefined
  /** Default: the real clock. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined
  /** Default: the id of the recorded model. */
  id?: string | undefined
  /** In tokens. */
  contextWindow?: number | undefined
  /** In USD per million tokens. */
  price?: Price | undefined
}

const replayChecks: check.OptionChecks<ReplayOptions> = {
  strict: check.mustBeBoolean,
  mask: check.mustBeFunction,
  delayMs: check.mustBeIntegerFrom(0),
  chunkChars: check.mustBeIntegerFrom(1),
  sleep: check.mustBeFunction,
  id: check.mustBeText,
  contextWindow: check.mustBeIntegerFrom(1),
  price: mustBePrice,
}

/** Replays a recording call by call, in the recorded order: a model that needs neither a key nor a network. */
export function replayModel(source: string | readonly RecordedCall[], options: ReplayOptions = {}): Model {
  check.checkOptions("replayModel()", options, replayChecks)
  const { strict = false, mask = (text) => text, delayMs = 0, sleep = realSleep, contextWindow, price } = options
  const { chunkChars = delayMs > 0 ? 12 : Infinity } = options
  const name = typeof source === "string" ? `"${source}"` : "given"
  const calls = (typeof source === "string" ? loadRecording(source) : [...source]).sort((a, b) => a.call - b.call)
  const recorded = strict ? restoreRequestTexts(calls.filter(({ version }) => version === 2)) : undefined
  let position = 0

  function nextCall(request: ModelRequest): RecordedCall {
    const index = position++
    const entry = calls[index]
    if (!entry) {
      throw new ConfigError(
        `The recording ${name} has ${calls.length} calls, and a further one was made. ` +
          "The run took another path than the recorded one: record it again.",
      )
    }
    if (recorded) compare(index, recorded.get(entry.call), request)
    return entry
  }

  function compare(index: number, before: RequestTexts | undefined, request: ModelRequest): void {
    if (!before) {
      throw new ConfigError(
        `Call ${index + 1} of the recording ${name} has no request to compare. Record it again, or replay without strict.`,
      )
    }
    const difference = requestDifference(before, requestTexts(request), mask)
    if (difference === undefined) return
    throw new ConfigError(
      `Call ${index + 1} of the recording ${name} was made with another request: ${difference}\n` +
        "Record it again, or replay without strict.",
    )
  }

  async function* answer(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { signal } = request
    const entry = nextCall(request)
    for (const part of entry.parts) {
      for (const piece of splitTextPart(part, chunkChars)) {
        if (delayMs > 0) await sleep(delayMs, signal)
        if (signal?.aborted) throw abortError(signal)
        yield piece
      }
    }
    if (entry.error) throw restoreError(entry.error)
    if (entry.parts.at(-1)?.type !== "finish") {
      throw new ConfigError(
        `Call ${entry.call + 1} of the recording ${name} was left before its end, and this run reads on. Record it again.`,
      )
    }
  }

  return { id: options.id ?? calls[0]?.model ?? "replay/empty", contextWindow, price, stream: answer }
}

function loadRecording(path: string): RecordedCall[] {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    throw new ConfigError(`The recording "${path}" cannot be read. Make one with recordModel(model, path).`, {
      cause: error,
    })
  }
  return text.split("\n").flatMap((line, index) => (line.trim() ? [parseLine(line, path, index + 1)] : []))
}

function parseLine(line: string, path: string, number: number): RecordedCall {
  try {
    const entry: RecordedCall = JSON.parse(line)
    if ((entry.version === 1 || entry.version === 2) && Array.isArray(entry.parts)) return entry
  } catch {}
  throw new ConfigError(`Line ${number} of the recording "${path}" is not a recorded call of version 1 or 2.`)
}

function appendPart(parts: ModelPart[], part: ModelPart): void {
  const last = parts.at(-1)
  if (last?.type === "text" && part.type === "text") {
    parts[parts.length - 1] = { type: "text", text: last.text + part.text }
  } else if (last?.type === "reasoning" && part.type === "reasoning" && !last.provider) {
    parts[parts.length - 1] = { ...part, text: last.text + part.text }
  } else {
    parts.push(part)
  }
}

function recordedErrorFields(error: unknown): NonNullable<RecordedCall["error"]> {
  const data = errorData(error)
  if (!(error instanceof ModelError)) return data
  const { status, retryAfterMs } = error
  return { ...data, ...(status !== undefined && { status }), ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function restoreError({ name, message, code, retryable, ...rest }: NonNullable<RecordedCall["error"]>): Error {
  if (name === "ModelError") {
    // It was a ModelErrorCode when it was recorded.
    const options: ModelErrorOptions = { ...rest, code: code as ModelErrorCode, retryable }
    return new ModelError(message, options)
  }
  return new AgentError(message, { code, retryable })
}

async function realSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // An abort only ends the delay; the caller checks its signal.
  await after(timerMs(ms), undefined, { signal }).catch(() => {})
}
