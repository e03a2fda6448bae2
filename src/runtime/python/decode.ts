import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { recordsFrom } from "./table.ts"

export interface Decoder {
  /** A host object by its number; throws for a number that was never given out. */
  hostObject(id: number): unknown
  hostMethod(id: number, name: string): unknown
  pythonObject(id: number, type: string): object
}

/** A value that came from Python. Nothing that Python sends is run, and nothing can pass for a promise. */
export function decode(json: Json, buffers: readonly Uint8Array[], special: boolean, decoder: Decoder): unknown {
  if (!special) return json
  const buffer = (index: Json | undefined): Uint8Array => {
    const found = buffers[Number(index)]
    if (!found) throw malformed("a buffer that was not sent")
    return found
  }

  const visit = (found: Json | undefined): unknown => {
    if (found === undefined) throw malformed("a value without its parts")
    if (typeof found !== "object" || found === null) return found
    if (Array.isArray(found)) return found.map(visit)
    if (Object.hasOwn(found, "$")) return revive(found)
    return fromEntries(Object.entries(found))
  }

  const fromEntries = (entries: Iterable<readonly [string, Json]>): object => {
    const result: Record<string, unknown> = {}
    for (const [name, member] of entries) {
      const value = visit(member)
      if (name === "then" && typeof value === "function") {
        throw new AgentError('A dict from Python has a function under "then": it would pass for a promise.', {
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
        return BigInt(String(found.v))
      case "f":
        return floats[String(found.v)] ?? Number.NaN
      case "d":
        return new Date(Number(found.v))
      case "b":
        return new Uint8Array(buffer(found.i))
      case "a":
        return typedArray(String(found.t), buffer(found.i))
      case "t":
        return frame(found)
      case "m":
        return new Map(pairs(found.e).map(([key, value]) => [visit(key), visit(value)]))
      case "o":
        return fromEntries(pairs(found.e).map(([key, value]) => [String(key), value ?? null]))
      case "s":
        return new Set(list(found.e).map(visit))
      case "h":
        return decoder.hostObject(Number(found.id))
      case "hm":
        return decoder.hostMethod(Number(found.of), String(found.name))
      case "p":
        return decoder.pythonObject(Number(found.id), String(found.type))
      default:
        throw malformed("a value of an unknown form")
    }
  }

  const frame = ({ n, c }: { [key: string]: Json }): object[] => {
    const columns = list(c).map((column) => {
      const { name, kind, i, v } = record(column)
      return {
        name: String(name),
        values: kind === "values" ? list(v).map(visit) : wholeColumn(String(kind), buffer(i)),
      }
    })
    const length = Number(n)
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

const floats: Record<string, number> = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }

function wholeColumn(kind: string, bytes: Uint8Array): ArrayLike<unknown> {
  switch (kind) {
    case "text":
      return list(JSON.parse(Buffer.from(bytes).toString()))
    case "bool":
      return Array.from(bytes, (value) => value === 1)
    case "date":
      return Array.from(new Float64Array(aligned(bytes)), (time) => (Number.isNaN(time) ? null : new Date(time)))
    default:
      return typedArray(kind, bytes)
  }
}

function typedArray(kind: string, bytes: Uint8Array): ArrayLike<number | bigint> {
  const make = arrays[kind]
  if (!make) throw malformed(`an array of ${kind}`)
  return new make(aligned(bytes))
}

const arrays: Record<string, new (buffer: ArrayBuffer) => ArrayLike<number | bigint>> = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
}

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

function record(found: Json): { [key: string]: Json } {
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw malformed("a column that is none")
  return found
}

function malformed(what: string): AgentError {
  return new AgentError(`The Python kernel sent ${what}.`, { code: "invalid-value" })
}
