import { types } from "node:util"
import { ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { type FunctionBinding, isAgent, isBinding } from "../bindings.ts"
import { isPlain } from "../declare/inspect.ts"
import { pythonObjectOf } from "./handles.ts"
import { isPyReference } from "./py.ts"
import { columnsOf, isTable, numberKinds } from "./table.ts"

/** A value on its way to Python. */
export interface Encoded {
  json: Json
  buffers: Uint8Array[]
  /** Whether the JSON is more than plain data. */
  special: boolean
}

export interface Encoder {
  /** What stands for an object or function that stays on the host; `binding` is the name it is reached by. */
  standFor(value: object, binding?: string): { [key: string]: Json }
  /** What stands for a function binding. */
  bindFunction(name: string, binding: FunctionBinding): { [key: string]: Json }
  /** The number of a Python object that this handle stands for; throws when it lives elsewhere. */
  pythonObject(handle: object): number
}

/** Data becomes data: plain JSON, dates, bytes, typed arrays, maps, sets, big integers, tables. Anything with behaviour
 *  stays on the host and is stood for. What is one object in two places is one object in Python. What cannot cross is a
 *  `ConfigError` that names its path. `at` is where in the message the value will be. */
export function encode(value: unknown, name: string, at: readonly (string | number)[], encoder: Encoder): Encoded {
  const seen = new Map<object, Path>()
  const buffers: Uint8Array[] = []
  let special = false
  // Within what is no dict or list in Python, nothing can be found again by its path.
  let hidden = 0

  const tagged = (tag: string, rest: { [key: string]: Json }): Json => {
    special = true
    return { $: tag, ...rest }
  }
  const add = (buffer: Uint8Array) => buffers.push(buffer) - 1
  const stand = (found: object, path: Path): Json => {
    special = true
    return encoder.standFor(found, boundName(path))
  }

  const remember = (found: object, path: Path) => {
    if (hidden === 0) seen.set(found, path)
  }
  const hiding = <T>(work: () => T): T => {
    hidden++
    try {
      return work()
    } finally {
      hidden--
    }
  }

  const visit = (found: unknown, path: Path): Json => {
    switch (typeof found) {
      case "string":
      case "boolean":
        return found
      case "undefined":
        return null
      case "number":
        if (Object.is(found, -0)) return tagged("f", { v: "-0.0" })
        // Written without an exponent, a large number would be an integer of Python's, and come back as a bigint.
        if (Number.isFinite(found) && (!Number.isInteger(found) || Number.isSafeInteger(found))) return found
        return tagged("f", { v: String(found).toLowerCase() })
      case "bigint":
        return tagged("n", { v: found.toString(16) })
      case "symbol":
        throw cannotCross(name, path, "a symbol means nothing outside its process")
      case "function":
        return pythonObjectOf(found) ? tagged("p", { id: encoder.pythonObject(found) }) : stand(found, path)
    }
    return typeof found === "object" && found !== null ? visitObject(found, path) : null
  }

  const visitObject = (found: object, path: Path): Json => {
    if (isPyReference(found)) return tagged("i", { m: found.module, a: found.attribute })
    if (isBinding(found)) {
      if (found.kind !== "function" || path?.[0]?.[0]) throw cannotCross(name, path, "only a name can be bound so")
      special = true
      return encoder.bindFunction(String(path?.[1]), found)
    }
    if (types.isProxy(found)) return stand(found, path)
    if (found instanceof Date) return date(found, path)
    if (ArrayBuffer.isView(found)) return view(found)
    if (types.isAnyArrayBuffer(found)) return tagged("b", { i: add(new Uint8Array(found)) })
    if (isThenable(found)) throw cannotCross(name, path, "it is a promise: await it first")
    if (seen.has(found)) return tagged("r", { p: steps(at, seen.get(found)) })
    if (Array.isArray(found)) {
      remember(found, path)
      return isTable(found)
        ? frame(found, path)
        : Array.from(found, (item: unknown, index) => visit(item, [path, index]))
    }
    if (types.isMap(found)) return map(found, path)
    if (types.isSet(found)) return tagged("s", { e: hiding(() => Array.from(found, (item) => key(item, path))) })
    if (!isPlain(found) || (!isEnvelope(path) && hasBehaviour(found))) return stand(found, path)
    remember(found, path)
    return plain(found, path)
  }

  // A question is made of objects of ours, whatever is in them.
  const isEnvelope = (path: Path) => name === "" && path?.[0] === undefined

  const plain = (found: object, path: Path): Json => {
    const names = Object.keys(found)
    if (names.some((name) => name === "$" || name === "__proto__")) {
      return tagged("o", { e: Object.entries(found).map(([name, member]) => [name, visit(member, [path, name])]) })
    }
    const result: { [key: string]: Json } = {}
    for (const name of names) result[name] = visit((found as Record<string, unknown>)[name], [path, name])
    return result
  }

  const map = (found: ReadonlyMap<unknown, unknown>, path: Path): Json => {
    const entry = ([name, member]: [unknown, unknown]) => [key(name, path), visit(member, [path, String(name)])]
    return tagged("m", { e: hiding(() => Array.from(found, entry)) })
  }

  const key = (found: unknown, path: Path): Json => {
    if (typeof found === "object" && found !== null && !(found instanceof Date) && isData(found)) {
      throw cannotCross(
        name,
        path,
        "a key of a map or member of a set must be text, a number, a date or an object with behaviour",
      )
    }
    return visit(found, path)
  }

  const view = (found: ArrayBufferView): Json => {
    const bytes = new Uint8Array(found.buffer, found.byteOffset, found.byteLength)
    const kind = numberKinds.get(Object.prototype.toString.call(found).slice(8, -1))
    if (kind === undefined || types.isUint8Array(found)) return tagged("b", { i: add(bytes) })
    return tagged("a", { t: kind, i: add(bytes) })
  }

  const date = (found: Date, path: Path): Json => {
    const time = found.getTime()
    if (Number.isNaN(time)) throw cannotCross(name, path, "it is an invalid date")
    return tagged("d", { v: time })
  }

  const frame = (records: object[], path: Path): Json => {
    const each = (values: unknown[], column: string) => values.map((item, row) => visit(item, [[path, row], column]))
    return tagged("t", { n: records.length, c: hiding(() => columnsOf(records, add, each)) })
  }

  try {
    return { json: visit(value, undefined), buffers, special }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ConfigError(`${name || "The value"} cannot cross to Python: it is nested too deeply, or contains itself.`)
  }
}

type Path = readonly [Path, string | number] | undefined

function cannotCross(name: string, path: Path, reason: string): ConfigError {
  const text = steps([], path).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
  const where = (name + text.join("")).replace(/^\.(values\.)?/, "")
  return new ConfigError(`${where} cannot cross to Python: ${reason}.`, { details: { path: where } })
}

function steps(start: readonly (string | number)[], path: Path): (string | number)[] {
  const found: (string | number)[] = []
  for (let step = path; step; step = step[0]) found.push(step[1])
  return [...start, ...found.reverse()]
}

// Names are bound by a message of the form `{ values: { name: value } }`.
function boundName(path: Path): string | undefined {
  const [first, name] = steps([], path)
  return first === "values" && name !== undefined ? String(name) : undefined
}

/** Whether a plain object is a service: methods or accessors would be lost on the way. */
function hasBehaviour(found: object): boolean {
  if (isAgent(found)) return true
  for (const name of Object.keys(found)) {
    const { value, get } = Object.getOwnPropertyDescriptor(found, name) ?? {}
    if (typeof value === "function" || get) return true
  }
  return false
}

function isData(found: object): boolean {
  return Array.isArray(found) || types.isMap(found) || types.isSet(found) || isPlain(found)
}

function isThenable(found: object): boolean {
  return typeof Reflect.get(found, "then") === "function"
}
