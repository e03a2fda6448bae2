import { createHash } from "node:crypto"
import { types } from "node:util"

/** A fingerprint of a value. */
export interface Digest {
  /** The same for equal values. */
  text: string
  /** False when the value is larger than the limits: then only its beginning and its sizes are in the text. */
  isWhole: boolean
  /** Whether something in it is opaque and has no identity by `identify`. */
  hasUnnamed: boolean
}

/** What identifies an opaque value (an instance of a class, a function, a Proxy, a symbol); undefined: nothing does. */
export type Identify = (value: object | symbol) => string | undefined

export interface DigestLimits {
  /** How many values are looked at. Default 1,000,000. */
  values?: number | undefined
  /** How many bytes of texts and buffers are read. Default 64 MiB. */
  bytes?: number | undefined
  /** Whether instances of classes count by their own fields, like plain objects. Default false: by their identity. */
  instances?: boolean | undefined
}

/** Makes the fingerprint of a value. Plain data counts by its contents, also nested and circular: primitives, arrays,
 *  plain objects, Maps, Sets, dates, regular expressions, errors, buffers. Anything else counts by its identity.
 *  Nothing of the value is run: no getter, no `toJSON`, no trap of a Proxy. */
export function digest(value: unknown, identify: Identify, limits: DigestLimits = {}): Digest {
  const { values = 1_000_000, bytes = 64 * 2 ** 20, instances = false } = limits
  const writer = createHashWriter(bytes)
  const numbers = new Map<object, number>()
  // Objects are written one after the other, each by the numbers of those in it: how deep they are does not matter.
  const open: object[] = []
  let left = values
  let hasUnnamed = false

  const opaque = (found: object | symbol) => {
    const identity = identify(found)
    if (identity === undefined) hasUnnamed = true
    writer.text(identity === undefined ? `unnamed ${typeof found};` : `opaque ${identity.length}:${identity};`)
  }

  const write = (found: unknown) => {
    left--
    if (typeof found === "number") writer.text(Object.is(found, -0) ? "number -0;" : `number ${found};`)
    else if (typeof found === "string") writer.text(`text ${found.length}:${found};`)
    else if (typeof found === "symbol") writeSymbol(found)
    else if (typeof found === "function") opaque(found)
    else if (typeof found !== "object" || found === null) writer.text(`${typeof found} ${String(found)};`)
    else {
      const known = numbers.get(found)
      if (known === undefined) open.push(found)
      writer.text(`object ${known ?? numbers.size};`)
      if (known === undefined) numbers.set(found, numbers.size)
    }
  }

  const writeSymbol = (found: symbol) => {
    const text = symbolText(found)
    if (text === undefined) opaque(found)
    else writer.text(text)
  }

  const writeProperty = (property: PropertyDescriptor) => {
    if (!property.get && !property.set) return write(property.value)
    writer.text("accessor;")
    opaque(property.get ?? property.set ?? property)
  }

  /** Writes what is in a container; false where it has more than may be looked at. */
  const writeMembers = (found: object, kind: Kind): boolean => {
    if (types.isMap(found)) {
      if (found.size * 2 > left) return false
      for (const [key, member] of mapEntries.call(found)) {
        write(key)
        write(member)
      }
    } else if (types.isSet(found)) {
      if (found.size > left) return false
      for (const member of setValues.call(found)) write(member)
    } else if (types.isDate(found)) write(dateTime.call(found))
    else if (types.isRegExp(found)) write(patternText(found))
    if (Array.isArray(found) && found.length > left) return false
    const keys = Reflect.ownKeys(found)
    if (keys.length > left) return false
    for (const key of keys) {
      if (kind === "error" && key === "stack") continue
      const property = Object.getOwnPropertyDescriptor(found, key)
      if (!property) continue
      if (typeof key === "symbol") writeSymbol(key)
      else writer.text(`${key.length}:${key}=`)
      writeProperty(property)
    }
    return true
  }

  write(value)
  for (let at = 0; at < open.length && left > 0; at++) {
    const found = open[at]
    if (!found) break
    const kind = instances ? kindWithInstances(found) : kindOf(found)
    writer.text(`${kind} {`)
    if (kind === "bytes") writer.bytes(...bytesOf(found))
    else if (kind === "opaque") opaque(found)
    else if (!writeMembers(found, kind)) left = 0
    writer.text("}")
  }
  const isWhole = left > 0 && writer.isWhole()
  return { text: writer.end(`${isWhole}`), isWhole, hasUnnamed }
}

const identities = new WeakMap<object | symbol, string>()
let identityCount = 0

/** Tells opaque values apart while this process lives. */
export function identityOf(value: object | symbol): string {
  const known = identities.get(value)
  if (known !== undefined) return known
  const identity = String(++identityCount)
  identities.set(value, identity)
  return identity
}

type Kind = "array" | "object" | "map" | "set" | "date" | "pattern" | "error" | "bytes" | "opaque"

function kindOf(value: object): Kind {
  if (types.isProxy(value)) return "opaque"
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return "bytes"
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return "object"
  if (prototype === Array.prototype && Array.isArray(value)) return "array"
  if (prototype === Map.prototype && types.isMap(value)) return "map"
  if (prototype === Set.prototype && types.isSet(value)) return "set"
  if (prototype === Date.prototype && types.isDate(value)) return "date"
  if (prototype === RegExp.prototype && types.isRegExp(value)) return "pattern"
  return types.isNativeError(value) ? "error" : "opaque"
}

// The fields of an instance are looked at like those of a plain object.
function kindWithInstances(value: object): Kind {
  const kind = kindOf(value)
  return kind === "opaque" && !types.isProxy(value) && typeof value !== "function" ? "object" : kind
}

function symbolText(value: symbol): string | undefined {
  const key = Symbol.keyFor(value)
  if (key !== undefined) return `symbol ${key.length}:${key};`
  return wellKnown.has(value) ? `symbol ${String(value)};` : undefined
}

const wellKnown = new Set(
  Object.values(Object.getOwnPropertyDescriptors(Symbol)).flatMap(({ value }) =>
    typeof value === "symbol" ? [value] : [],
  ),
)

/** The bytes of a buffer or of a view of one, not copied, and the name of its class. */
export function bytesOf(value: object): [bytes: Uint8Array, type: string] {
  try {
    if (!ArrayBuffer.isView(value)) return [new Uint8Array(value as ArrayBuffer), "ArrayBuffer"]
    // Not by the members of the value, which may be its own.
    const prototype = types.isTypedArray(value) ? typedArray : DataView.prototype
    const read = (name: PropertyKey) => Reflect.apply(getterOf(prototype, name), value, [])
    const at = [read("byteOffset"), read("byteLength")].map(Number)
    return [new Uint8Array(read("buffer") as ArrayBuffer, ...at), String(read(Symbol.toStringTag))]
  } catch {
    return [new Uint8Array(), "detached"]
  }
}

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype)

function patternText(value: RegExp): string {
  const flags = ["hasIndices", "global", "ignoreCase", "multiline", "dotAll", "unicode", "unicodeSets", "sticky"]
  const set = flags.filter((flag) => Reflect.apply(getterOf(RegExp.prototype, flag), value, []))
  return `${set.join(",")} ${String(Reflect.apply(getterOf(RegExp.prototype, "source"), value, []))}`
}

function getterOf(prototype: object, name: PropertyKey): () => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get ?? (() => undefined)
}

const mapEntries = Map.prototype.entries
const setValues = Set.prototype.values
const dateTime = Date.prototype.getTime

/** Collects texts and bytes into a hash, up to a number of bytes. */
function createHashWriter(most: number) {
  const hash = createHash("sha256")
  let waiting = ""
  let left = most
  const flush = () => {
    // As UTF-16: half a surrogate pair must not be the same as another.
    if (waiting !== "") hash.update(waiting, "utf16le")
    waiting = ""
  }
  return {
    text(text: string) {
      const part = text.length * 2 > left ? text.slice(0, Math.max(left, 0)) : text
      left -= text.length * 2
      waiting += part
      if (waiting.length > 65_536) flush()
    },
    bytes(bytes: Uint8Array, type: string) {
      waiting += `bytes ${type} ${bytes.length}:`
      flush()
      hash.update(bytes.length > left ? bytes.subarray(0, Math.max(left, 0)) : bytes)
      left -= bytes.length
    },
    isWhole: () => left >= 0,
    end(last: string): string {
      waiting += last
      flush()
      return hash.digest("base64url").slice(0, 22)
    },
  }
}
