// Decodes values that another JavaScript process encoded.
import type { Json } from "../../../core/json.ts"
import { maxMessageHeapBytes } from "../socket-frames.ts"
import {
  type DecodeReferences,
  expectId,
  expectList,
  expectRecord,
  expectText,
  ForgedMessage,
  type Frame,
  type FrameContents,
  refuseImplicitCall,
  tooManyHoles,
  type WireObject,
} from "../wire.ts"
import { errorFrom } from "./error-values.ts"
import { maxHoles, maxJavaScriptDepth } from "./javascript-encode.ts"
import { estimateJsonCost, estimateTableBytes, maxHeapPerByte } from "./json-cost.ts"
import { bigintFrom, regExpFrom, specialNumbers, viewOf } from "./leaf-values.ts"
import { decodeRecordColumn, recordsFromColumns } from "./record-columns.ts"

/** Generated code may have written the message: decoding runs no code of it, and throws `ForgedMessage` for a value
 *  that our encoder never writes. */
export function decodeJavaScript(json: Json, frame: FrameContents, references: DecodeReferences): unknown {
  return frame.special ? new Decoding(frame, references).value(json) : json
}

export function decodeBody(message: WireObject, frame: Frame, references: DecodeReferences): Record<string, unknown> {
  if (!frame.special) return message
  const decoding = new Decoding(frame, references)
  return Object.fromEntries(Object.entries(message).map(([key, json]) => [key, decoding.value(json)]))
}

class Decoding {
  readonly #buffers: readonly Uint8Array[]
  readonly #maxHeapBytes: number
  readonly #references: DecodeReferences
  readonly #built: unknown[] = []
  readonly #used = new Set<number>()
  #depth = 0
  #heapBytes = 0
  #holes = 0

  constructor({ buffers, maxHeapBytes = maxMessageHeapBytes() }: FrameContents, references: DecodeReferences) {
    this.#buffers = buffers
    this.#maxHeapBytes = maxHeapBytes
    this.#references = references
  }

  value(json: Json | undefined): unknown {
    if (json === undefined) throw new ForgedMessage("a value without its parts")
    if (typeof json !== "object" || json === null) return json
    if (++this.#depth > maxJavaScriptDepth + 2) throw new ForgedMessage("a value that is nested too deeply")
    const value = Array.isArray(json)
      ? this.#array(json)
      : Object.hasOwn(json, "$")
        ? this.#tagged(json)
        : this.#object(json)
    this.#depth--
    return value
  }

  #array(json: readonly Json[]): unknown[] {
    const made = this.#register(new Array<unknown>(json.length))
    for (let index = 0; index < json.length; index++) made[index] = this.value(json[index])
    return made
  }

  #object(json: WireObject): object {
    const made: Record<string, unknown> = this.#register({})
    for (const key of Object.keys(json)) {
      const value = this.value(json[key])
      refuseImplicitCall(key, value)
      if (key === "__proto__") defineOwn(made, key, value)
      else made[key] = value
    }
    return made
  }

  #tagged(json: WireObject): unknown {
    switch (json.$) {
      case "u":
        return undefined
      case "f":
        return specialNumbers.get(json.v) ?? Number.NaN
      case "n":
        return bigintFrom(expectText(json.v))
      case "r":
        return this.#earlier(json)
      case "h":
        return this.#references.decodeHostObject(json)
      case "hm":
        return this.#references.decodeHostMethod(json)
      case "p":
        return this.#references.decodePeerObject(json)
      default:
        return this.#built[this.#build(json)]
    }
  }

  /** Builds an object and returns its number. Like the encoder, it numbers the object before its parts. */
  #build(json: WireObject): number {
    const number = this.#built.length
    switch (json.$) {
      case "d":
        this.#register(new Date(typeof json.v === "number" ? json.v : Number.NaN))
        break
      case "x": {
        const pattern = this.#register(regExpFrom(expectText(json.s), expectText(json.f)))
        pattern.lastIndex = expectId(json.l)
        break
      }
      case "w":
        this.#built.push(undefined)
        this.#built[number] = Object(this.value(json.v))
        break
      case "ab":
        this.#register(new Uint8Array(this.#bytes(json.i)).buffer)
        break
      case "v":
        this.#built.push(undefined)
        this.#built[number] = this.#view(json)
        break
      case "m": {
        const map = this.#register(new Map())
        for (const pair of expectList(json.e)) {
          const [key, value] = expectList(pair)
          map.set(this.value(key), this.value(value))
        }
        break
      }
      case "s": {
        const set = this.#register(new Set())
        for (const element of expectList(json.e)) set.add(this.value(element))
        break
      }
      case "o":
        this.#fill(this.#register({}), expectList(json.e))
        break
      case "l":
        this.#sparse(json)
        break
      case "t":
        this.#register(this.#table(json))
        break
      case "e":
        this.#error(json, number)
        break
      default:
        throw new ForgedMessage("a value with an unknown tag")
    }
    return number
  }

  #register<T>(made: T): T {
    this.#built.push(made)
    return made
  }

  #earlier({ n, i }: WireObject): unknown {
    const found = this.#built[Number(n)]
    const earlier = i === undefined || !Array.isArray(found) ? found : found[Number(i)]
    if (earlier === undefined) throw new ForgedMessage("a reference to a value that was not sent")
    return earlier
  }

  /** Each buffer belongs to one value, so that decoded values cannot take more memory than was sent. */
  #bytes(given: Json | undefined): Uint8Array {
    const index = expectId(given)
    const found = this.#buffers[index]
    if (!found || this.#used.has(index)) throw new ForgedMessage("a value whose bytes were not sent")
    this.#used.add(index)
    return found
  }

  #view({ t, i, b, o, l }: WireObject): unknown {
    if (t === "Buffer") return Buffer.from(this.#bytes(i))
    const buffer = this.value(b)
    if (!(buffer instanceof ArrayBuffer)) throw new ForgedMessage("a view of no buffer")
    return viewOf(t, buffer, Number(o), Number(l))
  }

  #fill(made: object, entries: readonly Json[]): void {
    for (const entry of entries) {
      const [key, json] = expectList(entry)
      const name = expectText(key)
      const value = this.value(json)
      refuseImplicitCall(name, value)
      defineOwn(made, name, value)
    }
  }

  #sparse({ n, e }: WireObject): void {
    const length = Number(n)
    const entries = expectList(e)
    if (!Number.isInteger(length) || length < 0 || length > 2 ** 32 - 1)
      throw new ForgedMessage("an array of an impossible length")
    this.#holes += Math.max(0, length - entries.length)
    if (this.#holes > maxHoles) throw tooManyHoles("A value", maxHoles)
    const made: unknown[] = this.#register([])
    made.length = length
    this.#fill(made, entries)
  }

  #table({ n, c }: WireObject): object[] {
    const length = expectId(n)
    const given = expectList(c).map(expectRecord)
    // One byte of a column may become many bytes in the records.
    this.#charge(estimateTableBytes(length, given.length))
    if (given.length === 0) throw new ForgedMessage("a table without columns")
    const columns = given.map(({ name, kind, i }) => {
      const bytes = this.#bytes(i)
      if (kind === "text") this.#chargeTexts(bytes, length)
      const values = decodeRecordColumn(kind, bytes, length)
      if (!values || name === "__proto__") throw new ForgedMessage("an invalid column")
      return { name: expectText(name), values }
    })
    return recordsFromColumns(columns, length)
  }

  /** A short column is parsed without a scan, and refused afterwards if it is not a list of texts. */
  #chargeTexts(bytes: Uint8Array, length: number): void {
    if (this.#heapBytes + bytes.length * maxHeapPerByte > this.#maxHeapBytes / 4) {
      const { depth, heapBytes } = estimateJsonCost(bytes)
      if (depth !== 1) throw new ForgedMessage("an invalid column")
      return this.#charge(heapBytes)
    }
    this.#charge(estimateTableBytes(length, 1) + 2 * bytes.length)
  }

  #charge(bytes: number): void {
    this.#heapBytes += bytes
    if (this.#heapBytes > this.#maxHeapBytes) throw new ForgedMessage("a table that is too large")
  }

  #error({ name, message, stack, e }: WireObject, number: number): void {
    this.#built.push(undefined)
    const fields: [string, unknown][] = []
    // Register the error before its fields: an error may contain itself as its cause.
    const error = errorFrom({ name: expectText(name), message: expectText(message), stack: stackIn(stack), fields: [] })
    this.#built[number] = error
    for (const entry of expectList(e)) {
      const [key, json] = expectList(entry)
      const value = this.value(json)
      refuseImplicitCall(expectText(key), value)
      fields.push([expectText(key), value])
    }
    const whole = errorFrom({ name: expectText(name), message: expectText(message), stack: stackIn(stack), fields })
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(whole))) {
      Object.defineProperty(error, key, property)
    }
  }
}

function defineOwn(made: object, key: string, value: unknown): void {
  Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true })
}

function stackIn(stack: Json | undefined): string | undefined {
  return stack === undefined ? undefined : expectText(stack)
}
