import { existsSync, readFileSync, statSync } from "node:fs"
import { setTimeout as after } from "node:timers/promises"
import {
  checkOptions,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeFunction,
  mustBeObject,
  mustBePositive,
  mustBeText,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import {
  AgentError,
  ConfigError,
  type ErrorData,
  errorData,
  isAbortError,
  ModelError,
  type ModelErrorCode,
  type ModelErrorOptions,
} from "../core/errors.ts"
import { appendPrivateFileSync } from "../core/private-files.ts"
import { abortError } from "../core/run.ts"
import type { Price } from "../core/usage.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { wrapModel } from "./model-stream.ts"
import {
  createRequestRecorder,
  type RecordedRequest,
  type RequestTexts,
  requestDifference,
  requestTexts,
  restoreRequestTexts,
} from "./recorded-request.ts"
import { splitTextPart } from "./scripted.ts"

/** One call of a model, plain JSON; a recording is a list of these, in a file one a line. */
export interface RecordedCall {
  /** Calls of version 1 have no request that can be compared. */
  version: 1 | 2
  /** Counts from 0 in the order the calls were made. */
  call: number
  model: string
  /** What the model was asked, which `strict` compares. */
  request?: RecordedRequest | undefined
  /** What the model said, text that came in pieces put together. Without `finish` when it failed or was left early. */
  parts: ModelPart[]
  error?: ErrorData & { status?: number; retryAfterMs?: number }
}

export interface RecordOptions {
  /** Continues a file that exists. Default false: such a file is refused, so that recordings are not mixed. */
  append?: boolean | undefined
  /** Whether each request is written down, with the texts of prompts and results; `strict` needs it. Default true. */
  requests?: boolean | undefined
}

const recordChecks: OptionChecks<RecordOptions> = { append: mustBeBoolean, requests: mustBeBoolean }

/** The same model, with every call written down as it ends: to a new file of JSON lines, into an array, or by a
 *  function. Throws a `ConfigError` for a file that has calls already, unless it is to be continued. */
export function recordModel(
  model: Model,
  sink: string | RecordedCall[] | ((call: RecordedCall) => void),
  options: RecordOptions = {},
): Model {
  checkOptions("recordModel()", options, recordChecks)
  const { append = false, requests = true } = options
  if (append && typeof sink !== "string") throw new ConfigError("record: append is for a file. Leave it out.")
  let calls = typeof sink === "string" ? nextCallNumber(sink, append) : 0
  let hasWritten = append
  const recordedRequest = createRequestRecorder()

  function write(entry: RecordedCall): void {
    if (typeof sink === "function") return sink(entry)
    if (typeof sink !== "string") {
      sink.push(entry)
      return
    }
    // Another recorder may have begun the file meanwhile.
    if (!hasWritten) refuseExisting(sink)
    hasWritten = true
    appendPrivateFileSync(sink, `${JSON.stringify(entry)}\n`)
  }

  async function* recorded(request: ModelRequest): AsyncGenerator<ModelPart> {
    const call = calls++
    const entry: RecordedCall = {
      version: 2,
      call,
      model: model.id,
      ...(requests && { request: recordedRequest(call, request) }),
      parts: [],
    }
    try {
      for await (const part of model.stream(request)) {
        appendPart(entry.parts, part)
        yield part
      }
    } catch (error) {
      // An abort is the caller's doing, not the model's: the call was left early.
      if (!isAbortError(error)) entry.error = recordedErrorFields(error)
      throw error
    } finally {
      write(entry)
    }
  }

  return wrapModel(model, recorded)
}

/** The number of the first call that is to be recorded. */
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
  /** Compares each request with the recorded one: system prompt with its declarations of bindings, tools, and messages.
   *  The first difference is an error that shows it. Default false: only the order counts. */
  strict?: boolean | undefined
  /** With `strict`: makes texts comparable that differ each time, such as dates. */
  mask?: ((text: string) => string) | undefined
  /** Waits this long before each piece of text, as a real model would. Default 0. */
  paceMs?: number | undefined
  /** Text is given out in pieces of this many characters. Default: 12 when paced, else whole. */
  chunk?: number | undefined
  /** Default: the real clock. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined
  /** Default: the recorded model's. */
  id?: string | undefined
  contextWindow?: number | undefined
  price?: Price | undefined
}

const replayChecks: OptionChecks<ReplayOptions> = {
  strict: mustBeBoolean,
  mask: mustBeFunction,
  paceMs: mustBeAtLeast(0),
  chunk: mustBeAtLeast(1),
  sleep: mustBeFunction,
  id: mustBeText,
  contextWindow: mustBePositive,
  price: mustBeObject,
}

/** Plays a recording back, call by call in the order it was made: a model that needs no key and no network. */
export function replayModel(source: string | readonly RecordedCall[], options: ReplayOptions = {}): Model {
  checkOptions("replayModel()", options, replayChecks)
  const { strict = false, mask = (text) => text, paceMs = 0, sleep = realSleep, contextWindow, price } = options
  const { chunk = paceMs > 0 ? 12 : Infinity } = options
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
      for (const piece of splitTextPart(part, chunk)) {
        if (paceMs > 0) await sleep(paceMs, signal)
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
    // The code was a ModelErrorCode when it was recorded.
    const options: ModelErrorOptions = { ...rest, code: code as ModelErrorCode, retryable }
    return new ModelError(message, options)
  }
  return new AgentError(message, { code, retryable })
}

async function realSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // An abort only ends the wait; the caller checks its signal.
  await after(ms, undefined, { signal }).catch(() => {})
}
