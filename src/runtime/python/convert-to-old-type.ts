// Converts a value from Python to the JavaScript type of the value it replaces.
import { types } from "node:util"
import { isPlain } from "../declare/inspect-value.ts"

/** Python has one type where JavaScript has several. If the old value was a Map, a bigint or a Buffer, the new value
 *  becomes one too, also inside arrays, objects and Maps. */
export function convertToOldType(value: unknown, old: unknown): unknown {
  return new TypeConversion().value(value, old)
}

class TypeConversion {
  /** The result for each part, so that a part that occurs several times is converted once. */
  readonly #done = new Map<object, object>()

  value(value: unknown, old: unknown): unknown {
    if (typeof old === "bigint") return Number.isSafeInteger(value) ? BigInt(Number(value)) : value
    if (typeof value !== "object" || value === null || typeof old !== "object" || old === null) return value
    if (types.isProxy(value) || types.isProxy(old)) return value
    const earlier = this.#done.get(value)
    if (earlier) return earlier
    const converted =
      convertBytes(value, old) ?? (isPlain(value) && types.isMap(old) ? new Map(Object.entries(value)) : value)
    this.#done.set(value, converted)
    if (Array.isArray(converted)) {
      if (Array.isArray(old))
        for (const [index, item] of converted.entries()) converted[index] = this.#element(item, old, index)
    } else if (types.isMap(converted)) {
      if (types.isMap(old)) for (const [key, item] of converted) converted.set(key, this.value(item, old.get(key)))
    } else if (isPlain(converted) && isPlain(old)) this.#members(converted, old)
    return converted
  }

  /** Python reads undefined as None. If the old element was undefined, None becomes undefined again. */
  #element(item: unknown, old: readonly unknown[], index: number): unknown {
    return item === null && index in old && old[index] === undefined ? undefined : this.value(item, old[index])
  }

  #members(value: object, old: object): void {
    for (const [key, item] of Object.entries(value)) {
      const oldItem = Object.getOwnPropertyDescriptor(old, key)?.value
      const isUndefined = item === null && oldItem === undefined && Object.hasOwn(old, key)
      const converted = isUndefined ? undefined : this.value(item, oldItem)
      Object.defineProperty(value, key, { value: converted, enumerable: true, writable: true, configurable: true })
    }
  }
}

function convertBytes(value: object, old: object): object | undefined {
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
