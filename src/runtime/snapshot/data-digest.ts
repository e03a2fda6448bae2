// The digest of plain data. `core/values/digest.ts` also identifies functions and instances and has limits; this one is
// several times as fast for tables with many rows, because JSON.stringify writes most of the text.
import { createHash } from "node:crypto"
import { types } from "node:util"
import { bytesOf } from "../../core/values/digest.ts"
import { entriesOf, isPlainArray, membersOf } from "./undo/container-contents.ts"

/** Returns a digest that is equal for equal data, in every process: values, types, order, and which objects are the
 *  same. Returns undefined if the value contains anything else: a function, a class instance, an accessor, a symbol.
 *  Runs none of the value's code. */
export function digestOf(value: unknown): string | undefined {
  const hash = createHash("sha256")
  const numbers = new Map<object, number>()
  const pending: object[] = []
  let tokens: Token[] = []
  let shape: PropertyKey[] = []
  let isData = true

  const write = (part: unknown) => {
    if (typeof part === "string" || typeof part === "boolean" || part === null) tokens.push(part)
    else if (typeof part === "number")
      tokens.push(isJsonNumber(part) ? part : ["number", Object.is(part, -0) ? "-0" : String(part)])
    else if (typeof part === "object") {
      const number = numbers.get(part)
      tokens.push([number ?? numbers.size])
      if (number !== undefined) return
      numbers.set(part, numbers.size)
      pending.push(part)
    } else if (part === undefined || typeof part === "bigint") tokens.push([typeof part, String(part)])
    else isData = false
  }

  const writeProperties = (object: object) => {
    const keys = Reflect.ownKeys(object)
    // The rows of a table have the same keys, which are written once.
    if (!isSameList(keys, shape)) {
      shape = keys
      tokens.push(["keys", keys.map(String)])
      if (keys.some((key) => typeof key === "symbol")) isData = false
    }
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(object, key)
      if (property && "value" in property) write(property.value)
      else isData = false
    }
  }

  const writeObject = (object: object) => {
    const kind = types.isProxy(object) ? undefined : dataClasses.get(Object.getPrototypeOf(object))
    if (kind === undefined) isData = false
    else if (kind === "object") {
      tokens.push(0)
      writeProperties(object)
    } else if (kind === "array" && Array.isArray(object) && isPlainArray(object)) {
      tokens.push([kind, object.length])
      for (let at = 0; at < object.length; at++) {
        const element: unknown = object[at]
        if (element === undefined && !Object.hasOwn(object, at)) tokens.push(["hole"])
        else write(element)
      }
    } else if (kind === "bytes") {
      const [bytes, type] = bytesOf(object)
      tokens.push([type, bytes.length])
      flush()
      hash.update(bytes)
    } else {
      tokens.push([kind])
      if (types.isMap(object)) for (const part of entriesOf(object)) write(part)
      else if (types.isSet(object)) for (const part of membersOf(object)) write(part)
      else if (types.isDate(object)) write(Date.prototype.getTime.call(object))
      writeProperties(object)
    }
  }

  const flush = () => {
    hash.update(JSON.stringify(tokens))
    tokens = []
  }

  write(value)
  // The list grows while it is read.
  for (const object of pending) {
    writeObject(object)
    if (!isData) return undefined
    if (tokens.length > 4096) flush()
  }
  flush()
  return isData ? hash.digest("base64url") : undefined
}

/** Lists distinguish everything that JSON cannot represent, and the structure, from the data. */
type Token = string | number | boolean | null | readonly unknown[]

const isJsonNumber = (value: number) => Number.isFinite(value) && !Object.is(value, -0)

const smallViews = [DataView, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Buffer, ArrayBuffer]
const largeViews = [Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]
const dataClasses = new Map<unknown, string>([
  [Object.prototype, "object"],
  [null, "object without prototype"],
  [Array.prototype, "array"],
  [Map.prototype, "map"],
  [Set.prototype, "set"],
  [Date.prototype, "date"],
  ...[...smallViews, ...largeViews].map(({ prototype }): [object, string] => [prototype, "bytes"]),
])

function isSameList(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}
