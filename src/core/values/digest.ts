// Fingerprints of values, computed without running any code of the value.
import { createHash } from "node:crypto"
import { types } from "node:util"

export interface Digest {
  /** Equal for equal values. */
  text: string
  /** False if the value exceeds the limits. The text then covers only its beginning and its sizes. */
  isWhole: boolean
  /** True if it contains something opaque that `identify` has no identity for. */
  hasUnnamed: boolean
}

/** Returns what identifies an opaque value (a class instance, function, Proxy or symbol); undefined if nothing does. */
export type Identify = (value: object | symbol) => string | undefined

export interface DigestLimits {
  /** How many values are visited. Default 1,000,000. */
  values?: number | undefined
  /** How many bytes of texts and buffers are read. Default 64 MiB. */
  bytes?: number | undefined
  /** True: class instances count by their own fields, like plain objects. Default false: by identity. */
  instances?: boolean | undefined
}

/** Computes the fingerprint of a value. Plain data counts by its contents, also nested and circular: primitives,
 *  arrays, plain objects, Maps, Sets, dates, regular expressions, errors, buffers. Everything else counts by
 *  identity. Runs no getter, `toJSON` or Proxy trap of the value. */
export function digest(value: unknown, identify: Identify, limits: DigestLimits = {}): Digest {
  const { values = 1_000_000, bytes = 64 * 2 ** 20, instances = false } = limits
  const writer = createHashWriter(bytes)
  const numbers = new Map<object, number>()
  // Objects are written one after another, each with the numbers of the objects inside it. Nesting depth does not
  // matter.
  const unwritten: object[] = []
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
      if (known === undefined) unwritten.push(found)
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

  /** Writes the contents of a container. Returns false if it has more members than are left to visit. */
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
  for (let at = 0; at < unwritten.length && left > 0; at++) {
    const found = unwritten[at]
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

/** Distinguishes opaque values for as long as this process lives. */
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

// Treats class instances like plain objects.
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

/** Returns the bytes of a buffer or view, not copied, and the name of its class. */
export function bytesOf(value: object): [bytes: Uint8Array, type: string] {
  try {
    if (!ArrayBuffer.isView(value)) return [new Uint8Array(value as ArrayBuffer), "ArrayBuffer"]
    // The value's own properties could shadow these getters.
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

/** Hashes texts and bytes, up to a number of bytes. */
function createHashWriter(maxBytes: number) {
  const hash = createHash("sha256")
  let buffered = ""
  let left = maxBytes
  const flush = () => {
    // As UTF-16, so that different lone surrogates stay different.
    if (buffered !== "") hash.update(buffered, "utf16le")
    buffered = ""
  }
  return {
    text(text: string) {
      const part = text.length * 2 > left ? text.slice(0, Math.max(left, 0)) : text
      left -= text.length * 2
      buffered += part
      if (buffered.length > 65_536) flush()
    },
    bytes(bytes: Uint8Array, type: string) {
      buffered += `bytes ${type} ${bytes.length}:`
      flush()
      hash.update(bytes.length > left ? bytes.subarray(0, Math.max(left, 0)) : bytes)
      left -= bytes.length
    },
    isWhole: () => left >= 0,
    end(last: string): string {
      buffered += last
      flush()
      return hash.digest("base64url").slice(0, 22)
    },
  }
}
