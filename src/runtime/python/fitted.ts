import { types } from "node:util"
import { isPlain } from "../declare/inspect.ts"

/** A value from Python that replaces another. Python has one type where JavaScript has several; the value becomes one of the
 *  old value's type, also inside of arrays, objects and Maps: a dict a Map, an int a bigint, bytes a Buffer. */
export function fitted(value: unknown, old: unknown): unknown {
  if (typeof old === "bigint") return Number.isSafeInteger(value) ? BigInt(Number(value)) : value
  if (typeof value !== "object" || value === null || typeof old !== "object" || old === null) return value
  if (types.isProxy(value) || types.isProxy(old)) return value
  const binary = fittedBytes(value, old)
  if (binary) return binary
  if (Array.isArray(value)) {
    if (Array.isArray(old)) for (const [index, item] of value.entries()) value[index] = fittedPart(item, old, index)
    return value
  }
  if (types.isMap(value)) {
    if (types.isMap(old)) for (const [key, item] of value) value.set(key, fitted(item, old.get(key)))
    return value
  }
  if (!isPlain(value)) return value
  if (types.isMap(old)) return new Map(Object.entries(value).map(([key, item]) => [key, fitted(item, old.get(key))]))
  if (!isPlain(old)) return value
  for (const [key, item] of Object.entries(value)) {
    const held = Object.getOwnPropertyDescriptor(old, key)?.value
    Object.defineProperty(value, key, {
      value: item === null && held === undefined && Object.hasOwn(old, key) ? undefined : fitted(item, held),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return value
}

/** Undefined was read as None, so None stands for it where it was. */
function fittedPart(item: unknown, old: readonly unknown[], index: number): unknown {
  return item === null && index in old && old[index] === undefined ? undefined : fitted(item, old[index])
}

function fittedBytes(value: object, old: object): object | undefined {
  if (types.isBigInt64Array(old) || types.isBigUint64Array(old)) {
    if (!Array.isArray(value) || !value.every(Number.isSafeInteger)) return undefined
    const elements = value.map((element: number) => BigInt(element))
    return types.isBigInt64Array(old) ? BigInt64Array.from(elements) : BigUint64Array.from(elements)
  }
  if (!types.isUint8Array(value)) return undefined
  if (types.isUint8ClampedArray(old)) return new Uint8ClampedArray(value)
  if (Buffer.isBuffer(old)) return Buffer.from(value)
  if (types.isArrayBuffer(old)) return new Uint8Array(value).buffer
  return types.isDataView(old) ? new DataView(new Uint8Array(value).buffer) : undefined
}
