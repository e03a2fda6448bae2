// Encodes JavaScript values for another JavaScript process.
import { types } from "node:util"
import type { Json } from "../../../core/json.ts"
import { inspectShort } from "../../preview.ts"
import * as wire from "../wire.ts"
import { type CrossingForm, crossingFormOf, isPlainData } from "./crossing-form.ts"
import { errorParts } from "./error-values.ts"
import { encodeRecordColumns } from "./record-columns.ts"

// The tags: u undefined · f number that JSON lacks · n bigint · d Date · x RegExp · w boxed primitive · ab ArrayBuffer
// v view of an ArrayBuffer · m Map · s Set · o object with a key that JSON cannot carry · l array with holes or named
// members · t array of records by columns · e error · h, hm and p handles, see `wire.ts` · r an object that came
// earlier in the value, by its number. Objects are numbered in the order in which the encoder meets them.

/** Data is copied. Values that a copy would change silently (instances, accessors, functions, Proxies) become
 *  references. No code of the value runs. `withStacks`: encoded errors include their stacks. */
export function encodeJavaScript(
  value: unknown,
  name: string,
  references: wire.EncodeReferences,
  withStacks = false,
): wire.EncodedValue {
  const encoding = new Encoding(references, withStacks)
  try {
    const json = name === "" ? encoding.body(value) : encoding.value(value, name)
    return { json, buffers: encoding.buffers, special: encoding.special }
  } catch (error) {
    if (error instanceof RangeError) throw new wire.CannotCross(`${name} is nested too deeply to cross: ${flatten}.`)
    throw error
  }
}

/** The maximum nesting depth of a value. */
export const maxJavaScriptDepth = 1_000
/** How many holes the arrays of a message may have. A length alone allocates nothing, but code that walks the array
 *  walks all of it. */
export const maxHoles = 1_000_000
const flatten = `send it in parts of at most ${maxJavaScriptDepth} levels`

class Encoding {
  readonly buffers: Uint8Array[] = []
  special = false
  readonly #references: wire.EncodeReferences
  readonly #withStacks: boolean
  readonly #seen = new Map<object, number | [table: number, row: number]>()
  #count = 0
  #depth = 0
  #holes = 0

  constructor(references: wire.EncodeReferences, withStacks: boolean) {
    this.#references = references
    this.#withStacks = withStacks
  }

  /** The body of a message is our own object; only its members are values. */
  body(value: unknown): Json {
    return this.#members(Object.entries(Object(value)), "")
  }

  value(value: unknown, where: string, owner?: object): Json {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value
      case "number":
        if (Number.isFinite(value) && !Object.is(value, -0)) return value
        return this.#tagged("f", { v: Object.is(value, -0) ? "-0" : String(value) })
      case "undefined":
        return this.#tagged("u", {})
      case "bigint":
        return this.#tagged("n", { v: value.toString(16) })
      case "symbol":
        throw new wire.CannotCross(`${where} is ${String(value)}: a symbol cannot cross.`)
      case "function":
        return this.#reference(value, where, owner)
      case "object":
        return value === null ? null : this.#object(value, where)
    }
  }

  #object(value: object, where: string): Json {
    if (this.#references.isHandle(value)) return this.#reference(value, where)
    const seen = this.#seen.get(value)
    if (seen !== undefined)
      return this.#tagged("r", typeof seen === "number" ? { n: seen } : { n: seen[0], i: seen[1] })
    const form = this.#formOf(value)
    if (form === "live") return this.#reference(value, where)
    const number = this.#count++
    this.#seen.set(value, number)
    if (form === "leaf") return this.#leaf(value, where)
    if (++this.#depth > maxJavaScriptDepth) this.#refuseDepth(where)
    const json = this.#container(value, form, where, number)
    this.#depth--
    return json
  }

  #refuseDepth(where: string): never {
    throw new wire.CannotCross(`${shortPath(where)} is nested too deeply: ${flatten}.`)
  }

  #container(value: object, form: "array" | "object" | "map" | "set" | "error", where: string, number: number): Json {
    switch (form) {
      case "array":
        return this.#array(value as unknown[], where, number)
      case "object":
        return this.#members(Object.entries(value), where, value)
      case "map": {
        const entries = [...(value as Map<unknown, unknown>)].map(([key, held]) => [
          this.value(key, `a key of ${where}`),
          this.value(held, `${where}.get(${shortKeyText(key)})`),
        ])
        return this.#tagged("m", { e: entries })
      }
      case "set":
        return this.#tagged("s", {
          e: [...(value as Set<unknown>)].map((element) => this.value(element, `an element of ${where}`)),
        })
      case "error":
        return this.#error(value as Error, where)
    }
  }

  #formOf(value: object): CrossingForm {
    const form = crossingFormOf(value)
    if (form !== "live" || !this.#references.copiesMethods || types.isProxy(value)) return form
    const isPlain = Object.getPrototypeOf(value) === Object.prototype && isPlainData(value, true)
    return isPlain ? "object" : form
  }

  #members(entries: [string, unknown][], where: string, owner?: object): Json {
    if (entries.some(([key]) => key === "$" || key === "__proto__")) {
      return this.#tagged("o", {
        e: entries.map(([key, held]) => [key, this.value(held, wire.appendMember(where, key), owner)]),
      })
    }
    const made: wire.WireObject = {}
    for (const [key, held] of entries) made[key] = this.value(held, wire.appendMember(where, key), owner)
    return made
  }

  #array(value: unknown[], where: string, number: number): Json {
    const table = this.#table(value, number)
    if (table) return table
    const keys = Object.keys(value)
    if (Object.getOwnPropertySymbols(value).length > 0) {
      throw new wire.CannotCross(`${where} is an array with a member named by a symbol, which cannot cross. Remove it.`)
    }
    if (keys.length === value.length && (keys.length === 0 || keys.at(-1) === String(value.length - 1))) {
      return value.map((element, index) => this.value(element, `${where}[${index}]`))
    }
    this.#holes += Math.max(0, value.length - keys.length)
    if (this.#holes > maxHoles) throw wire.tooManyHoles(where, maxHoles)
    const entries = Object.entries(value).map(([key, held]) => {
      wire.refuseImplicitCall(key, held)
      return [key, this.value(held, wire.appendMember(where, key))]
    })
    return this.#tagged("l", { n: value.length, e: entries })
  }

  #table(value: unknown[], number: number): Json | undefined {
    const isAlone = this.#count === 1
    const records = {
      has: (record: object) => this.#seen.has(record),
      add: (record: object, row: number) => void this.#seen.set(record, [number, row]),
    }
    if (Object.keys(value).length !== value.length) return undefined
    const before = this.buffers.length
    const columns = encodeRecordColumns(value, records, isAlone, (buffer) => this.buffers.push(buffer) - 1)
    if (!columns) {
      this.buffers.length = before
      // The array is no table: forget the records noted so far, because they are encoded again one by one.
      for (const element of value) {
        const noted = typeof element === "object" && element !== null ? this.#seen.get(element) : undefined
        if (Array.isArray(noted) && noted[0] === number) this.#seen.delete(element as object)
      }
      return undefined
    }
    return this.#tagged("t", { n: value.length, c: columns })
  }

  #error(error: Error, where: string): Json {
    const { name, message, stack, fields } = errorParts(error)
    const entries: Json[] = []
    for (const [key, held] of fields) {
      const [count, depth, holes] = [this.#count, this.#depth, this.#holes]
      const [buffers, seen] = [this.buffers.length, this.#seen.size]
      try {
        wire.refuseImplicitCall(key, held)
        entries.push([key, this.value(held, wire.appendMember(where, key))])
      } catch (problem) {
        // Send the error without the field that cannot be encoded, and forget all parts of that field.
        if (!(problem instanceof wire.CannotCross)) throw problem
        this.#count = count
        this.#depth = depth
        this.#holes = holes
        this.buffers.length = buffers
        for (const object of [...this.#seen.keys()].slice(seen)) this.#seen.delete(object)
      }
    }
    return this.#tagged("e", { name, message, e: entries, ...(this.#withStacks && stack !== undefined && { stack }) })
  }

  #leaf(value: object, where: string): Json {
    if (isTransferred(value)) {
      throw new wire.CannotCross(`${where} has no bytes any more: its buffer was transferred. Copy them before that.`)
    }
    if (types.isDate(value)) {
      const time = Date.prototype.getTime.call(value)
      return this.#tagged("d", { v: Number.isNaN(time) ? null : time })
    }
    if (types.isRegExp(value)) return this.#tagged("x", { s: value.source, f: value.flags, l: searchStart(value) })
    if (types.isArrayBuffer(value)) return this.#tagged("ab", { i: this.#add(new Uint8Array(value)) })
    if (ArrayBuffer.isView(value)) return this.#view(value)
    return this.#tagged("w", { v: this.value(value.valueOf(), "the value") })
  }

  #view(view: ArrayBufferView): Json {
    const kind = Object.getPrototypeOf(view) === Buffer.prototype ? "Buffer" : viewName(view)
    // A Buffer shares its memory with unrelated Buffers, so only its own range is sent.
    if (kind === "Buffer") {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
      return this.#tagged("v", { t: kind, i: this.#add(bytes) })
    }
    // Send the ArrayBuffer once, so that its views share memory on the other side too.
    const length = types.isDataView(view) ? view.byteLength : view.byteLength / bytesPerElement(view)
    return this.#tagged("v", { t: kind, b: this.#object(view.buffer, "the buffer"), o: view.byteOffset, l: length })
  }

  #add(buffer: Uint8Array): number {
    return this.buffers.push(buffer) - 1
  }

  #reference(value: object, where: string, owner?: object): Json {
    this.special = true
    return this.#references.encodeReference(value, where, owner)
  }

  #tagged(tag: string, rest: wire.WireObject): Json {
    this.special = true
    return { $: tag, ...rest }
  }
}

/** Returns a key for an error message. Bigints are left out: converting a large one to text is slow. */
function shortKeyText(key: unknown): string {
  return typeof key === "string" || typeof key === "number" ? inspectShort(key) : "…"
}

/** Returns where a pattern continues to search, as the engine reads it: a program may assign anything to `lastIndex`. */
function searchStart({ lastIndex }: RegExp): number {
  const start: unknown = lastIndex
  return typeof start === "number" && start > 0 ? Math.min(Math.trunc(start), Number.MAX_SAFE_INTEGER) : 0
}

function isTransferred(value: object): boolean {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value
  return types.isArrayBuffer(buffer) && buffer.detached
}

/** The first part of a long path. */
function shortPath(where: string): string {
  return where.length > 100 ? `${where.slice(0, 100)}…` : where
}

function viewName(view: ArrayBufferView): string {
  return types.isDataView(view) ? "DataView" : Object.prototype.toString.call(view).slice(8, -1)
}

function bytesPerElement(view: ArrayBufferView): number {
  return Number(Reflect.get(view, "BYTES_PER_ELEMENT"))
}
