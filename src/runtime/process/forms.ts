import { types } from "node:util"

/** How a value crosses: by a copy of its parts, whole, by what it says, or not at all. */
export type Form = "array" | "object" | "map" | "set" | "leaf" | "error" | "live"

/** What kind of thing an object is, found without running anything of it. */
export function formOf(value: object): Form {
  if (types.isProxy(value)) return "live"
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return isPlainData(value) ? "object" : "live"
  if (prototype === Array.prototype) return "array"
  if (leaves.has(prototype)) return isLeaf(value) ? "leaf" : "live"
  if (prototype === Map.prototype) return types.isMap(value) && isBare(value) ? "map" : "live"
  if (prototype === Set.prototype) return types.isSet(value) && isBare(value) ? "set" : "live"
  return types.isNativeError(value) || value instanceof Error ? "error" : "live"
}

/** Whether an object is all in its fields: an accessor, a method, a symbol or a hidden field would be lost in a copy. */
function isPlainData(value: object): boolean {
  if (types.isModuleNamespaceObject(value) || types.isArgumentsObject(value)) return false
  // Faster than one list of both, and this looks at every row of a table.
  if (Object.getOwnPropertySymbols(value).length > 0) return false
  for (const key of Object.getOwnPropertyNames(value)) {
    if (key === "__proto__") return false
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property?.enumerable || property.get || property.set || typeof property.value === "function") return false
  }
  return true
}

function isBare(value: object): boolean {
  return Reflect.ownKeys(value).length === 0
}

function isLeaf(value: object): boolean {
  if (ArrayBuffer.isView(value)) return !types.isSharedArrayBuffer(value.buffer)
  return types.isDate(value) || types.isRegExp(value) || types.isArrayBuffer(value) || types.isBoxedPrimitive(value)
}

const leaves = new Set<unknown>(
  [
    ...[Date, RegExp, ArrayBuffer, DataView, Buffer, Boolean, Number, String, Object(0n).constructor],
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ].map((type) => type.prototype),
)
