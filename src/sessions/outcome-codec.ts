// Encodes the outcomes of calls (a value or an error) for recordings, and decodes them for replays.
import { serialize } from "node:v8"
import { ApprovalDenied } from "../actions/approval.ts"
import { CallTimeout } from "../actions/call.ts"
import { attempt } from "../core/attempt.ts"
import { AgentError, type ErrorData, errorData } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { errorParts } from "../core/text/error-text.ts"
import { decodeValue, encodeOrDescribe } from "./value-codec.ts"

/** What a call returned or threw, in a recording. */
export type Outcome =
  /** `tool` marks the result of a tool, which is more than its data. */
  | { ok: true; json: Json; tool?: true; nullPrototypes?: number[] }
  /** A value that is more than JSON, such as a Map, a date or bytes: the bytes of `v8.serialize` in base64. */
  | { ok: true; bytes: string; tool?: true; nullPrototypes?: number[] }
  /** A value that cannot be stored, because it has behaviour or an identity, or is too large: only its kind. */
  | { ok: true; opaque: string }
  | { ok: false; error: StoredError }

/** An error as data. `cause` is the encoded cause; an opaque one is not restored. */
export interface StoredError extends Omit<ErrorData, "code"> {
  code?: string | number
  cause?: Outcome
}

export function encodeOutcome(value: unknown): Outcome {
  const encoded = encodeOrDescribe(value)
  if ("opaque" in encoded) return { ok: true, ...encoded }
  const { json, bytes = json === undefined ? undefinedBytes : undefined, ...marks } = encoded
  const size = bytes?.length ?? JSON.stringify(json).length
  if (size > maxOutcomeBytes) return { ok: true, opaque: `a value of ${size} bytes` }
  return json === undefined ? { ok: true, bytes: bytes ?? "", ...marks } : { ok: true, json, ...marks }
}

export function encodeFailure(error: unknown): Outcome {
  return { ok: false, error: encodeError(error) }
}

/** Turns an error into data, with its whole message, its code and its causes, so that a replayed call throws the same
 *  error. */
export function encodeError(error: unknown, maxCauses = 8): StoredError {
  const read = (name: string): unknown => attempt(() => (error instanceof Error ? Reflect.get(error, name) : undefined))
  const [code, cause] = [read("code"), read("cause")]
  return {
    ...errorData(error),
    ...errorParts(error),
    ...((typeof code === "string" || (typeof code === "number" && Number.isFinite(code))) && { code }),
    ...(cause instanceof Error && maxCauses > 0 && { cause: { ok: false, error: encodeError(cause, maxCauses - 1) } }),
    ...(cause !== undefined && !(cause instanceof Error) && { cause: encodeOutcome(cause) }),
  }
}

/** Returns the recorded value or throws the recorded error. */
export function decodeOutcome(outcome: Exclude<Outcome, { opaque: string }>): unknown {
  if (!outcome.ok) throw decodeError(outcome.error)
  return decodeValue(outcome)
}

/** Turns a stored error back into one that is handled like the original. */
export function decodeError({ name, message, code, retryable, cause: stored }: StoredError): Error {
  if (name === "ApprovalDenied") return new ApprovalDenied(message)
  if (name === "TimeoutError") return new CallTimeout(message)
  const cause = !stored || "opaque" in stored ? undefined : stored.ok ? decodeValue(stored) : decodeError(stored.error)
  const options = cause === undefined ? {} : { cause }
  const Kind = kinds.find((kind) => kind.name === name) ?? Error
  // Only an AgentError has `retryable`, and its code is a text.
  const error =
    retryable === undefined
      ? Object.assign(new Kind(message, options), code !== undefined && { code })
      : new AgentError(message, { ...options, code: code?.toString(), retryable })
  if (error.name !== name) Object.defineProperty(error, "name", { value: name, writable: true, configurable: true })
  return error
}

const kinds = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError]

const undefinedBytes = serialize(undefined).toString("base64")
const maxOutcomeBytes = 1_000_000
