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
}

/** Makes the fingerprint of a value. Plain data counts by its contents, also nested and circular: primitives, arrays,
 *  plain objects, Maps, Sets, dates, regular expressions, errors, buffers. Anything else counts by its identity.
 *  Nothing of the value is run: no getter, no `toJSON`, no trap of a Proxy. */
export function digest(value: unknown, identify: Identify, limits: DigestLimits = {}): Digest {
  const { values = 1_000_000, bytes = 64 * 2 ** 20 } = limits
  const writer = createWriter(bytes)
  const numbers = new Map<object, number>()
  // A text in here is written as it is; a value is in a box.
  const open: (string | { value: unknown })[] = [{ value }]
  let left = values
  let hasUnnamed = false

  const opaque = (found: object | symbol) => {
    const identity = identify(found)
    if (identity === undefined) hasUnnamed = true
    return identity === undefined ? `unnamed ${typeof found};` : `opaque ${identity.length}:${identity};`
  }

  while (open.length > 0 && left > 0) {
    const next = open.pop()
    if (next === undefined) break
    if (typeof next === "string") {
      writer.text(next)
      continue
    }
    left--
    const found = next.value
    if (typeof found === "symbol") writer.text(symbolText(found) ?? opaque(found))
    else if (typeof found === "function") writer.text(opaque(found))
    else if (typeof found !== "object" || found === null) writer.text(primitiveText(found))
    else if (numbers.has(found)) writer.text(`seen ${numbers.get(found)};`)
    else {
      numbers.set(found, numbers.size)
      const kind = kindOf(found)
      if (kind === "bytes") writer.bytes(...bytesOf(found))
      else if (kind === "opaque") writer.text(opaque(found))
      else {
        const members = membersOf(found, kind, left, opaque)
        if (members) for (let at = members.length - 1; at >= 0; at--) open.push(members[at] ?? "")
        else left = 0
      }
    }
  }
  const isWhole = left > 0 && writer.isWhole()
  return { text: writer.end(`${isWhole}`), isWhole, hasUnnamed }
}

const identities = new WeakMap<object | symbol, string>()
let made = 0

/** Tells opaque values apart while this process lives. */
export function identityOf(value: object | symbol): string {
  const known = identities.get(value)
  if (known !== undefined) return known
  const identity = String(++made)
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

/** What is in a container, in order, after a text that says what it is; undefined when it has more than `most`. */
function membersOf(
  value: object,
  kind: Exclude<Kind, "bytes" | "opaque">,
  most: number,
  opaque: (found: object) => string,
): (string | { value: unknown })[] | undefined {
  const members: (string | { value: unknown })[] = []
  if (types.isMap(value)) {
    if (value.size * 2 > most) return undefined
    for (const [key, member] of mapEntries.call(value)) members.push({ value: key }, { value: member })
  } else if (types.isSet(value)) {
    if (value.size > most) return undefined
    for (const member of setValues.call(value)) members.push({ value: member })
  } else if (types.isDate(value)) members.push({ value: dateTime.call(value) })
  else if (types.isRegExp(value)) members.push({ value: patternText(value) })
  if (Array.isArray(value) && value.length > most) return undefined
  const keys = Reflect.ownKeys(value)
  if (keys.length > most) return undefined
  for (const key of keys) {
    if (kind === "error" && key === "stack") continue
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property) continue
    members.push({ value: key })
    if (!property.get && !property.set) members.push({ value: property.value })
    else members.push("accessor;", opaque(property.get ?? property.set ?? value))
  }
  return [`${kind} ${members.length};`, ...members]
}

function primitiveText(value: unknown): string {
  if (typeof value === "string") return `text ${value.length}:${value};`
  if (Object.is(value, -0)) return "number -0;"
  return `${typeof value} ${String(value)};`
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
function createWriter(most: number) {
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
