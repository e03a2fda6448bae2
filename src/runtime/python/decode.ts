import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { recordsFrom } from "./table.ts"

export interface Decoder {
  /** A host object by its number; throws for a number that was never given out. */
  hostObject(id: number): unknown
  hostMethod(id: number, name: string): unknown
  pythonObject(id: number, type: string): object
}

/** A value that came from Python, which may have been made up by the code in it. Nothing that Python sends is run, and
 *  nothing in it is called unasked. */
export function decode(json: Json, buffers: readonly Uint8Array[], special: boolean, decoder: Decoder): unknown {
  if (!special) {
    checkDepth(json, deepest)
    return json
  }
  let depth = 0
  const buffer = (index: Json | undefined): Uint8Array => {
    const found = buffers[Number(index)]
    if (!found) throw malformed("a buffer that was not sent")
    return found
  }

  const visit = (found: Json | undefined): unknown => {
    if (found === undefined) throw malformed("a value without its parts")
    if (typeof found !== "object" || found === null) return found
    if (depth > deepest) throw malformed("a value that is nested too deeply")
    depth++
    const value = visitObject(found)
    depth--
    return value
  }

  const visitObject = (found: Json[] | { [key: string]: Json }): unknown => {
    if (Array.isArray(found)) return found.map(visit)
    if (Object.hasOwn(found, "$")) return revive(found)
    return fromEntries(Object.entries(found))
  }

  const fromEntries = (entries: Iterable<readonly [string, Json]>): object => {
    const result: Record<string, unknown> = {}
    for (const [name, member] of entries) {
      const value = visit(member)
      if (typeof value === "function" && calledUnasked.has(name)) {
        throw new AgentError(`A dict from Python has a function under "${name}", which would be called unasked.`, {
          code: "invalid-value",
        })
      }
      if (name === "__proto__") own(result, name, value)
      else result[name] = value
    }
    return result
  }

  const revive = (found: { [key: string]: Json }): unknown => {
    switch (found.$) {
      case "n":
        return bigint(found.v)
      case "f":
        return floats.get(found.v) ?? Number.NaN
      case "d":
        return date(found.v)
      case "b":
        return new Uint8Array(buffer(found.i))
      case "a":
        return typedArray(found.t, buffer(found.i))
      case "t":
        return frame(found)
      case "m":
        return new Map(pairs(found.e).map(([key, value]) => [visit(key), visit(value)]))
      case "o":
        return fromEntries(pairs(found.e).map(([key, value]) => [text(key), value ?? null]))
      case "s":
        return new Set(list(found.e).map(visit))
      case "h":
        return decoder.hostObject(Number(found.id))
      case "hm":
        return decoder.hostMethod(Number(found.of), text(found.name))
      case "p":
        return decoder.pythonObject(Number(found.id), text(found.type))
      default:
        throw malformed("a value of an unknown form")
    }
  }

  const frame = ({ n, c }: { [key: string]: Json }): object[] => {
    const length = Number(n)
    const given = list(c).map(record)
    const texts = given.reduce((sum, { kind, i }) => sum + (kind === "text" ? buffer(i).length : 0), 0)
    if (length * Math.max(1, given.length) > mostCells || texts > mostText) throw malformed("a table that is too large")
    const columns = given.map(({ name, kind, i, v }) => {
      const values = kind === "values" ? list(v).map(visit) : wholeColumn(kind, buffer(i), length)
      return { name: text(name), values }
    })
    if (columns.some(({ values }) => values.length !== length)) throw malformed("columns of different lengths")
    return recordsFrom(
      columns.map(({ name }) => name),
      columns.map(({ values }) => values),
      length,
    )
  }

  return visit(json)
}

/** A key that assigning would take for the prototype. */
function own(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

// Somewhat more than Python's own side sends.
const deepest = 250
// A byte of a column becomes many in a record: what the kernel sends must not grow beyond what the host has.
const mostCells = 2 ** 25
const mostText = 2 ** 26

/** What the language calls by itself: to await a value, to write it as JSON, to make it text. */
const calledUnasked = new Set(["then", "toJSON", "toString", "valueOf"])

// Not by an object's keys, among which are those that every object has.
const floats = new Map<unknown, number>([
  ["nan", Number.NaN],
  ["inf", Infinity],
  ["-inf", -Infinity],
])

function checkDepth(found: Json, left: number): void {
  if (typeof found !== "object" || found === null) return
  if (left === 0) throw malformed("a value that is nested too deeply")
  if (Array.isArray(found)) for (const item of found) checkDepth(item, left - 1)
  else for (const name in found) checkDepth(found[name] ?? null, left - 1)
}

/** Written in sixteens, which takes no more time for many digits than for few. */
function bigint(written: Json | undefined): bigint {
  const [, sign, digits] = /^(-?)([0-9a-f]+)$/.exec(text(written)) ?? []
  if (digits === undefined) throw malformed("a number that is none")
  const size = BigInt(`0x${digits}`)
  return sign ? -size : size
}

function date(time: Json | undefined): Date {
  const made = new Date(typeof time === "number" ? time : Number.NaN)
  if (Number.isNaN(made.getTime())) throw malformed("a date that is none")
  return made
}

function wholeColumn(kind: Json | undefined, bytes: Uint8Array, length: number): ArrayLike<unknown> {
  switch (kind) {
    case "text":
      return textColumn(bytes)
    case "bool":
      if (bytes.length !== length) throw malformed("columns of different lengths")
      return Array.from(bytes, (value) => value === 1)
    case "date":
      if (bytes.length !== 8 * length) throw malformed("columns of different lengths")
      return Array.from(new Float64Array(aligned(bytes)), (time) => (Number.isNaN(time) ? null : new Date(time)))
    default:
      return typedArray(kind, bytes)
  }
}

function textColumn(bytes: Uint8Array): Json[] {
  const items = list(JSON.parse(Buffer.from(bytes).toString()))
  if (items.some((item) => typeof item !== "string" && item !== null)) throw malformed("text that is none")
  return items
}

function typedArray(kind: Json | undefined, bytes: Uint8Array): ArrayLike<number | bigint> {
  const make = arrays.get(kind)
  if (!make) throw malformed("an array of an unknown kind")
  return new make(aligned(bytes))
}

const arrays = new Map<unknown, new (buffer: ArrayBuffer) => ArrayLike<number | bigint>>([
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

// A typed array must begin at a multiple of its element's size, and must not hold on to the whole frame.
function aligned(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

function pairs(found: Json | undefined): Json[][] {
  return list(found).map((pair) => list(pair))
}

function list(found: Json | undefined): Json[] {
  if (!Array.isArray(found)) throw malformed("a list that is none")
  return found
}

function text(found: Json | undefined): string {
  if (typeof found !== "string") throw malformed("text that is none")
  return found
}

function record(found: Json): { [key: string]: Json } {
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw malformed("a column that is none")
  return found
}

function malformed(what: string): AgentError {
  return new AgentError(`The Python kernel sent ${what}.`, { code: "invalid-value" })
}
