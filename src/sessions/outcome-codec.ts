// Encodes the outcomes of calls (a value or an error) for recordings, and decodes them for replays.
import { serialize } from "node:v8"
import { ApprovalDenied } from "../actions/approval.ts"
import { CallTimeout } from "../actions/call.ts"
import { AgentError, type ErrorData, errorData } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { errorParts } from "../core/text/error-text.ts"
import { decodeValue, encodeOrDescribe } from "./value-codec.ts"

/** What a call returned or threw, in a recording. */
export type Outcome =
  /** `tool` marks the result of a tool, which is more than its data. */
  | { ok: true; json: Json; tool?: true }
  /** A value that is more than JSON, such as a Map, a date or bytes: the bytes of `v8.serialize` in base64. */
  | { ok: true; bytes: string; tool?: true }
  /** A value that cannot be stored, because it has behaviour or an identity, or is too large: only its kind. */
  | { ok: true; opaque: string }
  | { ok: false; error: ErrorData }

export function encodeOutcome(value: unknown): Outcome {
  const encoded = encodeOrDescribe(value)
  if ("opaque" in encoded) return { ok: true, ...encoded }
  const { json, bytes = json === undefined ? undefinedBytes : undefined, ...tool } = encoded
  const size = bytes?.length ?? JSON.stringify(json).length
  if (size > maxOutcomeBytes) return { ok: true, opaque: `a value of ${size} bytes` }
  return json === undefined ? { ok: true, bytes: bytes ?? "", ...tool } : { ok: true, json, ...tool }
}

export function encodeFailure(error: unknown): Outcome {
  return { ok: false, error: encodeError(error) }
}

/** Turns an error into data, with its whole message and its code, so that a replayed call throws the same error. */
export function encodeError(error: unknown): ErrorData {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return { ...errorData(error), ...errorParts(error), ...(typeof code === "string" && { code }) }
}

/** Returns the recorded value or throws the recorded error. */
export function decodeOutcome(outcome: Exclude<Outcome, { opaque: string }>): unknown {
  if (!outcome.ok) throw decodeError(outcome.error)
  return decodeValue(outcome)
}

/** Turns a stored error back into one that is handled like the original. */
export function decodeError({ name, message, code, retryable }: ErrorData): Error {
  if (name === "ApprovalDenied") return new ApprovalDenied(message)
  if (name === "TimeoutError") return new CallTimeout(message)
  // Only an AgentError has `retryable`.
  if (retryable !== undefined) return Object.assign(new AgentError(message, { code, retryable }), { name })
  const Kind = kinds.find((kind) => kind.name === name) ?? Error
  return Object.assign(new Kind(message), { name, ...(code !== undefined && { code }) })
}

const kinds = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError]

const undefinedBytes = serialize(undefined).toString("base64")
const maxOutcomeBytes = 1_000_000
