// Short texts of values for messages, and their sizes.
import { types } from "node:util"
import { attempt } from "../core/attempt.ts"
import { inspectSafely } from "./show/inspect-safely.ts"

/** A short text of a value, for messages. */
export function inspectShort(value: unknown): string {
  const text = inspectSafely(value, { depth: 1, maxArrayLength: 10, maxStringLength: 1000, breakLength: Infinity })
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

/** Length, size or byte length of a value; undefined if it has none. Runs no code of the value: a class may override
 *  these members. */
export function sizeOf(value: unknown): number | undefined {
  if (types.isProxy(value)) return undefined
  if (typeof value === "string" || Array.isArray(value)) return value.length
  if (types.isMap(value)) return readSize(Map.prototype, "size", value)
  if (types.isSet(value)) return readSize(Set.prototype, "size", value)
  if (types.isArrayBuffer(value)) return readSize(ArrayBuffer.prototype, "byteLength", value)
  if (types.isTypedArray(value)) return readSize(Object.getPrototypeOf(Uint8Array.prototype), "byteLength", value)
  // The length of a DataView cannot be read once its buffer was transferred.
  if (types.isDataView(value)) return attempt(() => readSize(DataView.prototype, "byteLength", value))
  return undefined
}

/** Reads a member by the accessor of the platform. */
function readSize(platform: object, key: string, value: object): number {
  return Number(Reflect.get(platform, key, value))
}
