// Decodes values that the Python kernel encoded.
import type { Json } from "../../../core/json.ts"
import { recordsFrom } from "../../python/tables/table.ts"
import { maxMessageHeapBytes } from "../socket-frames.ts"
import * as wire from "../wire.ts"
import { estimateJsonCost, estimateTableBytes } from "./json-cost.ts"
import { integerArrays } from "./python-encode.ts"

/** Generated code may have written the message: decoding runs no code of it, and throws `ForgedMessage` for a value
 *  that our kernel never sends. */
export function decodePython(
  json: Json,
  { buffers, special }: Pick<wire.Frame, "buffers" | "special">,
  references: wire.DecodeReferences,
): unknown {
  return special ? new Decoding(json, buffers, references).value(json) : json
}

class Decoding {
  readonly #root: Json
  readonly #buffers: readonly Uint8Array[]
  readonly #references: wire.DecodeReferences
  readonly #sentBytes: number
  #readBytes = 0
  #heapBytes = 0
  #depth = 0
  /** Values that occur several times, by number. A value is undefined while it is being decoded. */
  readonly #shared = new Map<number, unknown>()
  #numbered: Map<number, Json> | undefined
  /** The nesting depth of values that are decoded because a reference came before them. */
  #forwardDepth = 0

  constructor(root: Json, buffers: readonly Uint8Array[], references: wire.DecodeReferences) {
    this.#root = root
    this.#buffers = buffers
    this.#sentBytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
    this.#references = references
  }

  value(json: Json | undefined): unknown {
    if (json === undefined) throw new wire.ForgedMessage("a value without its parts")
    if (typeof json !== "object" || json === null) return json
    if (++this.#depth > maxPythonDepth) throw new wire.ForgedMessage("a value that is nested too deeply")
    const value = Array.isArray(json)
      ? this.#array(json)
      : Object.hasOwn(json, "$")
        ? this.#tagged(json)
        : this.#object(Object.entries(json))
    this.#depth--
    return value
  }

  #array(json: Json[]): unknown[] {
    const number = sharedNumberOf(json)
    const items = () => json.slice(number === undefined ? 0 : 1).map((item) => this.value(item))
    return number === undefined ? items() : (this.#decodeOnce(number, items) as unknown[])
  }

  /** Decodes a value that occurs several times once. The first reference may come before the value, because the order
   *  of keys may differ from Python's. */
  #decodeOnce(number: number, decode: () => unknown): unknown {
    if (!this.#shared.has(number)) {
      this.#shared.set(number, undefined)
      this.#shared.set(number, decode())
    }
    const value = this.#shared.get(number)
    if (value === undefined) throw new wire.ForgedMessage("a value that contains itself")
    return value
  }

  #sharedValue(number: number): unknown {
    if (this.#shared.has(number)) return this.#decodeOnce(number, () => undefined)
    this.#numbered ??= findSharedValues(this.#root)
    if (++this.#forwardDepth > maxForwardReferences) throw new wire.ForgedMessage("references that lead to references")
    const depth = this.#depth
    this.#depth = 0
    const value = this.value(this.#numbered.get(number))
    this.#depth = depth
    this.#forwardDepth--
    return value
  }

  #object(entries: Iterable<readonly [string, Json | undefined]>): object {
    const made: Record<string, unknown> = {}
    for (const [key, json] of entries) {
      const value = this.value(json)
      wire.refuseImplicitCall(key, value)
      // Assigning this key would set the prototype.
      if (key === "__proto__")
        Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true })
      else made[key] = value
    }
    return made
  }

  #tagged(tagged: wire.WireObject): unknown {
    switch (tagged.$) {
      case "n":
        return bigintFrom(wire.expectText(tagged.v))
      case "f":
        return floats.get(tagged.v) ?? Number.NaN
      case "d":
        return dateFrom(tagged.v)
      case "b":
        return new Uint8Array(this.#bytes(tagged.i))
      case "a":
        return numbersFrom(tagged.t, this.#bytes(tagged.i))
      case "t":
        return this.#table(tagged)
      case "m":
        return new Map(pairsIn(tagged.e).map(([key, json]) => [this.value(key), this.value(json)]))
      case "o":
        return this.#object(pairsIn(tagged.e).map(([key, json]) => [wire.expectText(key), json]))
      case "s":
        return new Set(wire.expectList(tagged.e).map((item) => this.value(item)))
      case "q":
        return this.#decodeOnce(wire.expectId(tagged.n), () => this.value(tagged.v))
      case "r":
        return this.#sharedValue(wire.expectId(tagged.n))
      case "h":
        return this.#references.decodeHostObject(tagged)
      case "hm":
        return this.#references.decodeHostMethod(tagged)
      case "p":
        return this.#references.decodePeerObject(tagged)
      default:
        throw new wire.ForgedMessage("a value of an unknown form")
    }
  }

  #bytes(index: Json | undefined): Uint8Array {
    const found = typeof index === "number" ? this.#buffers[index] : undefined
    if (!found) throw new wire.ForgedMessage("a buffer that was not sent")
    // A text column is read twice. A buffer that many values share would take far more memory than was sent.
    this.#readBytes += found.length
    if (this.#readBytes > 2 * this.#sentBytes) throw new wire.ForgedMessage("a buffer that several values use")
    return found
  }

  #table({ n, c }: wire.WireObject): object[] {
    const length = wire.expectId(n)
    const given = wire.expectList(c).map(wire.expectRecord)
    this.#heapBytes += estimateTableBytes(length, given.length)
    const text = given.reduce((sum, { kind, i }) => sum + (kind === "text" ? this.#bytes(i).length : 0), 0)
    if (this.#heapBytes > maxMessageHeapBytes() || text > maxTextBytes)
      throw new wire.ForgedMessage("a table that is too large")
    const columns = given.map(({ name, kind, i, v }) => {
      const key = wire.expectText(name)
      const values =
        kind === "values"
          ? wire.expectList(v).map((item) => this.value(item))
          : columnFrom(kind, this.#bytes(i), length)
      if (values.length !== length) throw new wire.ForgedMessage("columns of different lengths")
      if (kind === "values") for (const value of Array.from(values)) wire.refuseImplicitCall(key, value)
      return { key, values }
    })
    return recordsFrom(
      columns.map(({ key }) => key),
      columns.map(({ values }) => values),
      length,
    )
  }
}

/** Returns the number of a value that occurs several times. Its JSON is `{ $: "q", n, v }`, or an array that begins
 *  with `{ $: "q", n }`. */
function sharedNumberOf(json: Json): number | undefined {
  const mark = Array.isArray(json) ? json[0] : json
  if (typeof mark !== "object" || mark === null || Array.isArray(mark) || mark.$ !== "q") return undefined
  return Array.isArray(json) === (mark.v === undefined) ? wire.expectId(mark.n) : undefined
}

function findSharedValues(root: Json): Map<number, Json> {
  const found = new Map<number, Json>()
  const waiting: Json[] = [root]
  for (let json = waiting.pop(); json !== undefined; json = waiting.pop()) {
    if (typeof json !== "object" || json === null) continue
    const number = sharedNumberOf(json)
    if (number !== undefined) found.set(number, json)
    for (const part of Object.values(json)) waiting.push(part)
  }
  return found
}

// Slightly more than our kernel sends.
export const maxPythonDepth = 250
const maxTextBytes = 2 ** 26
const maxForwardReferences = 20

// A Map, because an object would also have inherited keys.
const floats = new Map<unknown, number>([
  ["nan", Number.NaN],
  ["inf", Infinity],
  ["-inf", -Infinity],
])

/** The text is hexadecimal, because parsing decimal digits takes quadratic time. */
function bigintFrom(written: string): bigint {
  const [, sign, digits] = /^(-?)([0-9a-f]+)$/.exec(written) ?? []
  if (digits === undefined) throw new wire.ForgedMessage("an invalid number")
  const size = BigInt(`0x${digits}`)
  return sign ? -size : size
}

function dateFrom(time: Json | undefined): Date {
  const made = new Date(typeof time === "number" ? time : Number.NaN)
  if (Number.isNaN(made.getTime())) throw new wire.ForgedMessage("an invalid date")
  return made
}

function columnFrom(kind: Json | undefined, bytes: Uint8Array, length: number): ArrayLike<unknown> {
  switch (kind) {
    case "text":
      return textColumn(bytes)
    case "bool":
      if (bytes.length !== length) throw new wire.ForgedMessage("columns of different lengths")
      return Array.from(bytes, (value) => value === 1)
    case "date":
      if (bytes.length !== 8 * length) throw new wire.ForgedMessage("columns of different lengths")
      return Array.from(new Float64Array(copyAligned(bytes)), (time) => (Number.isNaN(time) ? null : new Date(time)))
    default:
      return typedArray(kind, bytes)
  }
}

function textColumn(bytes: Uint8Array): Json[] {
  const { depth, heapBytes } = estimateJsonCost(bytes)
  if (depth !== 1 || heapBytes > maxMessageHeapBytes()) throw new wire.ForgedMessage("invalid text")
  const items = wire.expectList(parseJson(bytes))
  if (items.some((item) => typeof item !== "string" && item !== null)) throw new wire.ForgedMessage("invalid text")
  return items
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    throw new wire.ForgedMessage("invalid text")
  }
}

/** Decodes a numpy array. 64-bit integers that fit a JavaScript number come as an ordinary array. */
function numbersFrom(kind: Json | undefined, bytes: Uint8Array): ArrayLike<number | bigint> {
  if (kind !== "int") return typedArray(kind, bytes)
  const numbers = Array.from(typedArray("float64", bytes), Number)
  integerArrays.add(numbers)
  return numbers
}

function typedArray(kind: Json | undefined, bytes: Uint8Array): ArrayLike<number | bigint> {
  const make = arrays.get(kind)
  if (!make || bytes.length % make.BYTES_PER_ELEMENT !== 0) throw new wire.ForgedMessage("an array of an unknown kind")
  return new make(copyAligned(bytes))
}

interface ArrayMaker {
  new (buffer: ArrayBuffer): ArrayLike<number | bigint>
  readonly BYTES_PER_ELEMENT: number
}

const arrays = new Map<unknown, ArrayMaker>([
  ["int8", Int8Array],
  ["uint8", Uint8Array],
  ["int16", Int16Array],
  ["uint16", Uint16Array],
  ["int32", Int32Array],
  ["uint32", Uint32Array],
  ["int64", BigInt64Array],
  ["uint64", BigUint64Array],
  ["float32", Float32Array],
  ["float64", Float64Array],
])

// A typed array must be aligned to its element size, and must not hold the whole frame in memory.
function copyAligned(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

function pairsIn(value: Json | undefined): Json[][] {
  return wire.expectList(value).map(wire.expectList)
}
