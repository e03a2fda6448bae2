// Decides how a JavaScript object is sent to another process: copied or by reference.
import { types } from "node:util"
import { isCalledImplicitly } from "../wire.ts"

/** Containers (array, object, map, set) are copied part by part, leaves as a whole, errors as errors; live objects are
 *  sent by reference. */
export type CrossingForm = "array" | "object" | "map" | "set" | "leaf" | "error" | "live"

/** Runs no code of the object. */
export function crossingFormOf(value: object): CrossingForm {
  if (types.isProxy(value)) return "live"
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return isPlainData(value) ? "object" : "live"
  if (prototype === Array.prototype) return "array"
  if (leafPrototypes.has(prototype)) return isLeaf(value) ? "leaf" : "live"
  if (prototype === Map.prototype) return types.isMap(value) && hasNoProperties(value) ? "map" : "live"
  if (prototype === Set.prototype) return types.isSet(value) && hasNoProperties(value) ? "set" : "live"
  return types.isNativeError(value) || value instanceof Error ? "error" : "live"
}

/** Returns true if a copy of the fields is the whole object. A copy would lose accessors, symbols, hidden fields and,
 *  unless `allowsMethods` is set, methods. */
export function isPlainData(value: object, allowsMethods = false): boolean {
  if (types.isModuleNamespaceObject(value) || types.isArgumentsObject(value)) return false
  // Two calls are faster than one `Reflect.ownKeys`, and this function runs for every row of a table.
  if (Object.getOwnPropertySymbols(value).length > 0) return false
  for (const key of Object.getOwnPropertyNames(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property?.enumerable || property.get || property.set) return false
    if (typeof property.value === "function" && (!allowsMethods || isCalledImplicitly(key))) return false
  }
  return true
}

function hasNoProperties(value: object): boolean {
  return Reflect.ownKeys(value).length === 0
}

function isLeaf(value: object): boolean {
  if (!hasOnlyIndices(value)) return false
  if (ArrayBuffer.isView(value)) return !types.isSharedArrayBuffer(value.buffer)
  return types.isDate(value) || types.isRegExp(value) || types.isArrayBuffer(value) || types.isBoxedPrimitive(value)
}

/** Returns true if a leaf has only the properties of its kind. A copy would lose others. */
function hasOnlyIndices(value: object): boolean {
  if (ArrayBuffer.isView(value)) {
    // A typed array may have millions of index keys, so the keys are listed only for an empty one.
    return (types.isTypedArray(value) && value.length > 0) || hasNoProperties(value)
  }
  if (types.isRegExp(value)) return Reflect.ownKeys(value).length === 1
  if (types.isStringObject(value)) return Reflect.ownKeys(value).length === String(value).length + 1
  return hasNoProperties(value)
}

const leafPrototypes = new Set<unknown>(
  [
    ...[Date, RegExp, ArrayBuffer, DataView, Buffer, Boolean, Number, String, Object(0n).constructor],
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ].map((type) => type.prototype),
)
