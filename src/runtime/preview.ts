// Short texts of values for messages, and their sizes.
import { types } from "node:util"
import { inspectSafely } from "./show/inspect-safely.ts"

/** A short text of a value, for messages. */
export function inspectShort(value: unknown): string {
  const text = inspectSafely(value, { depth: 1, maxArrayLength: 10, maxStringLength: 1000, breakLength: Infinity })
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

/** Length, size or byte length of a value; undefined if it has none, or if reading it would run a Proxy's traps. */
export function sizeOf(value: unknown): number | undefined {
  if (types.isProxy(value)) return undefined
  if (typeof value === "string" || Array.isArray(value)) return value.length
  if (value instanceof Map || value instanceof Set) return value.size
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength
  return undefined
}
