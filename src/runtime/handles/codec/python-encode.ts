// Encodes JavaScript values for the Python kernel.
import { types } from "node:util"
import type { Json } from "../../../core/json.ts"
import { isAgent, isBinding } from "../../bindings.ts"
import { isPlain } from "../../declare/inspect-value.ts"
import { isKeywordArguments, isPyReference } from "../../python/py-reference.ts"
import { encodeColumns, isTable, numberKinds } from "../../python/tables/table.ts"
import { appendMember, CannotCross, type EncodedValue, type EncodeReferences, type WireObject } from "../wire.ts"

// The tags: f number that JSON lacks · n bigint · d Date · b bytes · a numbers of one type · t table by columns · m Map
// s Set · o object with a key that JSON cannot carry · r an object that is elsewhere in the message, by its path
// i a Python import · k keyword arguments · h, hm and p handles, see `wire.ts`.

/** Data is copied: plain JSON, dates, bytes, typed arrays, Maps, Sets, bigints, tables. Objects with behaviour become
 *  references. An object that occurs twice is one object in Python. */
export function encodePython(value: unknown, name: string, references: EncodeReferences): EncodedValue {
  const encoding = new Encoding(name, references)
  try {
    const json = encoding.value(value, undefined)
    return { json, buffers: encoding.buffers, special: encoding.special }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CannotCross(`${name || "The value"} cannot cross to Python: it is nested too deeply, or contains itself.`)
  }
}

/** Number arrays that came from 64-bit numpy integers, and become such again when they are sent back. */
export const integerArrays = new WeakSet<object>()

class Encoding {
  readonly buffers: Uint8Array[] = []
  special = false
  readonly #name: string
  readonly #references: EncodeReferences
  readonly #seen = new Map<object, Path>()
  // Values inside a Map, Set or table cannot be referred to by a path.
  #hidden = 0

  constructor(name: string, references: EncodeReferences) {
    this.#name = name
    this.#references = references
  }

  value(value: unknown, path: Path): Json {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value
      case "undefined":
        return null
      case "number":
        return this.#number(value)
      case "bigint":
        return this.#tagged("n", { v: value.toString(16) })
      case "symbol":
        throw this.#cannotCross(path, "a symbol means nothing outside its process")
      case "function":
        return this.#reference(value, path)
      case "object":
        return value === null ? null : this.#object(value, path)
    }
  }

  #number(value: number): Json {
    if (Object.is(value, -0)) return this.#tagged("f", { v: "-0.0" })
    // Without a tag, Python would read a large number as an integer, and send it back as a bigint.
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value
    return this.#tagged("f", { v: String(value).toLowerCase() })
  }

  #object(value: object, path: Path): Json {
    if (isPyReference(value)) return this.#tagged("i", { m: value.module, a: value.attribute })
    if (isKeywordArguments(value)) return this.#tagged("k", { v: this.#plain(value.values, path) })
    if (isBinding(value)) throw this.#cannotCross(path, "only a name can be bound so")
    if (types.isProxy(value)) return this.#reference(value, path)
    if (value instanceof Date) return this.#date(value, path)
    if (ArrayBuffer.isView(value)) return this.#view(value)
    if (types.isAnyArrayBuffer(value)) return this.#bytes("b", new Uint8Array(value))
    if (isThenable(value)) throw this.#cannotCross(path, "it is a promise: await it first")
    if (this.#seen.has(value)) return this.#tagged("r", { p: this.#steps(this.#seen.get(value)) })
    if (Array.isArray(value)) return this.#array(value, path)
    if (types.isMap(value)) return this.#map(value, path)
    if (types.isSet(value)) {
      return this.#tagged("s", { e: this.#hide(() => Array.from(value, (item) => this.#key(item, path))) })
    }
    if (!isPlain(value) || (!this.#isMessagePart(path) && hasBehaviour(value))) return this.#reference(value, path)
    this.#remember(value, path)
    return this.#plain(value, path)
  }

  #array(value: unknown[], path: Path): Json {
    this.#remember(value, path)
    if (isTable(value)) return this.#table(value, path)
    if (integerArrays.has(value) && value.every(Number.isSafeInteger)) {
      return this.#bytes("a", new Uint8Array(new Float64Array(value.map(Number)).buffer), "int")
    }
    return Array.from(value, (item: unknown, index) => this.value(item, [path, index]))
  }

  #table(records: object[], path: Path): Json {
    const each = (values: unknown[], column: string) =>
      values.map((item, row) => this.value(item, [[path, row], column]))
    const columns = this.#hide(() => encodeColumns(records, (buffer) => this.buffers.push(buffer) - 1, each))
    return this.#tagged("t", { n: records.length, c: columns })
  }

  #plain(value: object, path: Path): Json {
    const keys = Object.keys(value)
    const member = (key: string) => this.value(Reflect.get(value, key), [path, key])
    if (keys.some((key) => key === "$" || key === "__proto__")) {
      return this.#tagged("o", { e: keys.map((key) => [key, member(key)]) })
    }
    const made: WireObject = {}
    for (const key of keys) made[key] = member(key)
    return made
  }

  #map(value: ReadonlyMap<unknown, unknown>, path: Path): Json {
    const entry = ([key, held]: [unknown, unknown]) => [this.#key(key, path), this.value(held, [path, String(key)])]
    return this.#tagged("m", { e: this.#hide(() => Array.from(value, entry)) })
  }

  #key(value: unknown, path: Path): Json {
    if (typeof value === "object" && value !== null && !(value instanceof Date) && isData(value)) {
      const allowed = "a key of a map or member of a set must be text, a number, a date or an object with behaviour"
      throw this.#cannotCross(path, allowed)
    }
    return this.value(value, path)
  }

  #view(value: ArrayBufferView): Json {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    const kind = numberKinds.get(Object.prototype.toString.call(value).slice(8, -1))
    return kind === undefined || types.isUint8Array(value) ? this.#bytes("b", bytes) : this.#bytes("a", bytes, kind)
  }

  #bytes(tag: "a" | "b", bytes: Uint8Array, type?: string): Json {
    const i = this.buffers.push(bytes) - 1
    return this.#tagged(tag, type === undefined ? { i } : { t: type, i })
  }

  #date(value: Date, path: Path): Json {
    const time = value.getTime()
    if (Number.isNaN(time)) throw this.#cannotCross(path, "it is an invalid date")
    return this.#tagged("d", { v: time })
  }

  #reference(value: object, path: Path): Json {
    this.special = true
    return this.#references.encodeReference(value, this.#where(path))
  }

  #tagged(tag: string, rest: WireObject): Json {
    this.special = true
    return { $: tag, ...rest }
  }

  /** Returns true for objects that belong to the message itself: its body, and the `values` object in it. */
  #isMessagePart(path: Path): boolean {
    return this.#name === "" && (path === undefined || (path[0] === undefined && path[1] === "values"))
  }

  #remember(value: object, path: Path): void {
    if (this.#hidden === 0) this.#seen.set(value, path)
  }

  #hide<T>(work: () => T): T {
    this.#hidden++
    try {
      return work()
    } finally {
      this.#hidden--
    }
  }

  /** Returns the path to a position, starting at the message that contains the value. */
  #steps(path: Path): (string | number)[] {
    return [...(this.#name === "" ? [] : ["v"]), ...stepsOf(path)]
  }

  #where(path: Path): string {
    return stepsOf(path).reduce((where: string, step) => appendMember(where, String(step)), this.#name)
  }

  #cannotCross(path: Path, reason: string): CannotCross {
    const where = this.#where(path).replace(/^\.(values\.)?/, "")
    return new CannotCross(`${where} cannot cross to Python: ${reason}.`)
  }
}

type Path = readonly [Path, string | number] | undefined

function stepsOf(path: Path): (string | number)[] {
  const found: (string | number)[] = []
  for (let step = path; step; step = step[0]) found.push(step[1])
  return found.reverse()
}

/** Returns true if a plain object has methods or accessors, which a copy would lose. */
function hasBehaviour(value: object): boolean {
  if (isAgent(value)) return true
  for (const name of Object.keys(value)) {
    const { value: held, get } = Object.getOwnPropertyDescriptor(value, name) ?? {}
    if (typeof held === "function" || get) return true
  }
  return false
}

function isData(value: object): boolean {
  return Array.isArray(value) || types.isMap(value) || types.isSet(value) || isPlain(value)
}

function isThenable(value: object): boolean {
  return typeof Reflect.get(value, "then") === "function"
}
