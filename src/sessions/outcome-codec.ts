import { deserialize, serialize } from "node:v8"
import { ApprovalDenied } from "../actions/approval.ts"
import { CallTimeout } from "../actions/call.ts"
import { AgentError, type ErrorData, errorData } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { errorParts } from "../core/text/error-text.ts"
import { isToolResult, type ToolResult, toolResult } from "../tools/tool.ts"

/** What a call came to, as it can be stored. */
export type Outcome =
  /** `tool`: it is the result of a tool, which is more than its data. */
  | { ok: true; json: Json; tool?: true }
  /** Maps, dates, bytes and the like: base64 of the engine's own format. */
  | { ok: true; bytes: string; tool?: true }
  /** What has an identity or behaviour of its own cannot be stored: only what it is. */
  | { ok: true; opaque: string }
  | { ok: false; error: ErrorData }

export function encodeOutcome(value: unknown): Outcome {
  const isTool = isToolResult(value)
  const plain: unknown = isTool ? Object.fromEntries(Object.entries(value)) : value
  const kind = storageKind(plain, new Set())
  if (kind.opaque !== undefined) return { ok: true, opaque: kind.opaque }
  const tool = isTool && { tool: true as const }
  // Where nothing in it is more than JSON, people can read it.
  const bytes = kind.json ? undefined : serialize(plain).toString("base64")
  const size = bytes?.length ?? JSON.stringify(plain).length
  if (size > maxOutcomeBytes) return { ok: true, opaque: `a value of ${size} bytes` }
  return bytes === undefined ? { ok: true, json: plain as Json, ...tool } : { ok: true, bytes, ...tool }
}

export function encodeFailure(error: unknown): Outcome {
  return { ok: false, error: encodeError(error) }
}

/** An error as data, with its whole message and its code, so that a replayed call throws the same error. */
export function encodeError(error: unknown): ErrorData {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return { ...errorData(error), ...errorParts(error), ...(typeof code === "string" && { code }) }
}

/** Gives the value again, or throws the error again. */
export function decodeOutcome(outcome: Exclude<Outcome, { opaque: string }>): unknown {
  if (!outcome.ok) throw decodeError(outcome.error)
  // What `outcomeOf` wrote: data that was checked, never code.
  const value: unknown = "json" in outcome ? outcome.json : deserialize(Buffer.from(outcome.bytes, "base64"))
  return outcome.tool ? toolResult(value as ToolResult) : value
}

/** The error again, of a kind that is treated as it was. */
export function decodeError({ name, message, code, retryable }: ErrorData): Error {
  if (name === "ApprovalDenied") return new ApprovalDenied(message)
  if (name === "TimeoutError") return new CallTimeout(message)
  // Only errors of ours say whether to try again.
  if (retryable !== undefined) return Object.assign(new AgentError(message, { code, retryable }), { name })
  const Kind = kinds.find((kind) => kind.name === name) ?? Error
  return Object.assign(new Kind(message), { name, ...(code !== undefined && { code }) })
}

const kinds = [TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError]

interface Kind {
  json: boolean
  opaque?: string
}

const asJson: Kind = { json: true }
const asBytes: Kind = { json: false }
const maxOutcomeBytes = 1_000_000

function storageKind(value: unknown, within: Set<object>): Kind {
  if (value === null || typeof value === "string" || typeof value === "boolean") return asJson
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? asJson : asBytes
  if (value === undefined || typeof value === "bigint") return asBytes
  if (typeof value !== "object") return { json: false, opaque: `a ${typeof value}` }
  // A cycle, or the same object twice, is kept as such by the engine's format.
  if (within.has(value)) return asBytes
  within.add(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype) return commonKind(value as unknown[], within)
  if (prototype === Object.prototype || prototype === null) return commonKind(Object.values(value), within)
  if (prototype === Map.prototype) return commonKind([undefined, ...(value as Map<unknown, unknown>)].flat(), within)
  if (prototype === Set.prototype) return commonKind([undefined, ...(value as Set<unknown>)], within)
  if (prototype === Date.prototype || isBytes(prototype)) return asBytes
  return { json: false, opaque: `a ${value.constructor?.name || "object"}` }
}

function commonKind(values: readonly unknown[], within: Set<object>): Kind {
  let kind = asJson
  for (const value of values) {
    const one = storageKind(value, within)
    if (one.opaque !== undefined) return one
    if (!one.json) kind = asBytes
  }
  return kind
}

function isBytes(prototype: unknown): boolean {
  return (
    prototype === Uint8Array.prototype || prototype === Float64Array.prototype || prototype === ArrayBuffer.prototype
  )
}
