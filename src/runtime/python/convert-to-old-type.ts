import { types } from "node:util"
import { isPlain } from "../declare/inspect-value.ts"

/** A value from Python that replaces another. Python has one type where JavaScript has several; the value becomes one of the
 *  old value's type, also inside of arrays, objects and Maps: a dict a Map, an int a bigint, bytes a Buffer. */
export function convertToOldType(value: unknown, old: unknown): unknown {
  return new TypeConversion().value(value, old)
}

class TypeConversion {
  /** What became of each part: a part that is in several places is fitted once. */
  readonly #done = new Map<object, object>()

  value(value: unknown, old: unknown): unknown {
    if (typeof old === "bigint") return Number.isSafeInteger(value) ? BigInt(Number(value)) : value
    if (typeof value !== "object" || value === null || typeof old !== "object" || old === null) return value
    if (types.isProxy(value) || types.isProxy(old)) return value
    const done = this.#done.get(value)
    if (done) return done
    const made =
      convertBytes(value, old) ?? (isPlain(value) && types.isMap(old) ? new Map(Object.entries(value)) : value)
    this.#done.set(value, made)
    if (Array.isArray(made)) {
      if (Array.isArray(old)) for (const [index, item] of made.entries()) made[index] = this.#element(item, old, index)
    } else if (types.isMap(made)) {
      if (types.isMap(old)) for (const [key, item] of made) made.set(key, this.value(item, old.get(key)))
    } else if (isPlain(made) && isPlain(old)) this.#members(made, old)
    return made
  }

  /** Undefined was read as None, so None stands for it where it was. */
  #element(item: unknown, old: readonly unknown[], index: number): unknown {
    return item === null && index in old && old[index] === undefined ? undefined : this.value(item, old[index])
  }

  #members(value: object, old: object): void {
    for (const [key, item] of Object.entries(value)) {
      const held = Object.getOwnPropertyDescriptor(old, key)?.value
      const isUndefined = item === null && held === undefined && Object.hasOwn(old, key)
      const made = isUndefined ? undefined : this.value(item, held)
      Object.defineProperty(value, key, { value: made, enumerable: true, writable: true, configurable: true })
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
