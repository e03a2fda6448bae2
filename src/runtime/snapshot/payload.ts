// The data structure inside a snapshot's bytes, and the checks it passes when it is read.
import { isObject, isRecord } from "../../core/object.ts"
import { invalidSnapshot } from "./snapshot-bytes.ts"

/** Objects in the lists are the same objects as in the values: V8's format preserves identity. */
export interface Payload {
  /** Names that cells declared or assigned, in order. */
  names: [name: string, value: unknown][]
  /** Injected names whose value is plain data, with their current contents. */
  contents: [name: string, value: unknown][]
  /** Injected names in `names` and `contents`, with the digest of the value that was injected, and that of the stored
   *  value in `contents`; null for a name in `names`. */
  injected: [name: string, injected: string, stored: string | null][]
  /** Names that cells may not assign to. */
  constants: string[]
  /** Functions and classes in order of declaration. */
  declarations: CodeDeclaration[]
  /** Everything that cannot be written as data and is created or found again. */
  references: Reference[]
  /** The places in the values where references belong. */
  places: [container: object, key: string | number, reference: number][]
  /** Maps and sets that hold references: alternating keys and values, or members. */
  fillings: [container: object, entries: unknown[]][]
  /** Objects whose prototype belongs to a class or is null. */
  prototypes: [reference: number | null, objects: object[]][]
  /** Properties whose flags differ from those of an assigned property. */
  properties: [target: object, key: string, value: unknown, flags: number][]
  /** Properties added to functions and classes. */
  statics: [reference: number, properties: object][]
  /** Objects that are non-extensible (0), sealed (1) or frozen (2). */
  closed: [target: object, level: number][]
}

export interface CodeDeclaration {
  name: string
  source: string
  known: string[]
  /** The name of the base class, and its reference. */
  superclass?: [name: string, reference: number]
}

export type Reference =
  /** A value the host injects under a name. */
  | { type: "binding"; name: string }
  | { type: "global"; name: string }
  | { type: "code"; declaration: number }
  | { type: "codec"; codec: string; data: unknown }
  /** An object written separately, because it was nested too deeply. */
  | { type: "part"; value: object }
  | { type: "error"; name: string; class: number | null; properties: object }

export const propertyFlags = { writable: 1, enumerable: 2, configurable: 4 }

/** Checks the structure of untrusted snapshot contents. */
export function checkPayload(value: unknown): Payload {
  // Earlier versions of Karst stored no digests.
  if (isRecord(value)) value.injected ??= []
  if (!isRecord(value) || !Object.entries(payloadShape).every(([key, isItem]) => isListOf(value[key], isItem))) {
    throw invalidSnapshot("what it holds is not in the form it should have")
  }
  // Every list was checked above.
  return value as unknown as Payload
}

/** Reads the names of the full snapshot that the changes replace or remove. */
export function droppedNames(value: unknown): ReadonlySet<string> {
  if (!isRecord(value) || !Array.isArray(value.dropped) || !value.dropped.every(isString)) {
    throw invalidSnapshot("it does not say which names have changed since the whole one")
  }
  return new Set(value.dropped)
}

/** Returns a full snapshot's payload without the changed names. The rest is plain data, because names with functions,
 *  instances or references always count as changed. */
export function withoutNames(
  { names, contents, injected, constants, prototypes }: Payload,
  without: ReadonlySet<string>,
): Payload {
  return {
    names: names.filter(([name]) => !without.has(name)),
    contents: contents.filter(([name]) => !without.has(name)),
    injected: injected.filter(([name]) => !without.has(name)),
    constants: constants.filter((name) => !without.has(name)),
    prototypes: prototypes.filter(([reference]) => reference === null),
    declarations: [],
    references: [],
    places: [],
    fillings: [],
    properties: [],
    statics: [],
    closed: [],
  }
}

type Check = (item: unknown) => boolean

const isString: Check = (item) => typeof item === "string"
const isIndex: Check = (item) => Number.isInteger(item) && (item as number) >= 0
const isTuple =
  (...parts: Check[]): Check =>
  (item) =>
    Array.isArray(item) && item.length === parts.length && parts.every((isPart, at) => isPart(item[at]))
const anything: Check = () => true
const isNullOr =
  (check: Check): Check =>
  (item) =>
    item === null || check(item)

const payloadShape: { [key in keyof Payload]: Check } = {
  names: isTuple(isString, anything),
  contents: isTuple(isString, anything),
  injected: isTuple(isString, isString, (item) => isNullOr(isString)(item)),
  constants: isString,
  declarations: (item) =>
    isRecord(item) &&
    isString(item.name) &&
    isString(item.source) &&
    isListOf(item.known, isString) &&
    (item.superclass === undefined || isTuple(isString, isIndex)(item.superclass)),
  references: isReference,
  places: isTuple(isObject, (key) => isString(key) || isIndex(key), isIndex),
  fillings: isTuple((item) => item instanceof Map || item instanceof Set, Array.isArray),
  prototypes: isTuple(isNullOr(isIndex), (list) => isListOf(list, isObject)),
  properties: isTuple(isObject, isString, anything, isIndex),
  statics: isTuple(isIndex, isObject),
  closed: isTuple(isObject, isIndex),
}

function isReference(item: unknown): boolean {
  if (!isRecord(item)) return false
  switch (item.type) {
    case "binding":
    case "global":
      return isString(item.name)
    case "code":
      return isIndex(item.declaration)
    case "codec":
      return isString(item.codec)
    case "part":
      return isObject(item.value)
    case "error":
      return isString(item.name) && isNullOr(isIndex)(item.class) && isObject(item.properties)
    default:
      return false
  }
}

function isListOf(list: unknown, isItem: Check): boolean {
  return Array.isArray(list) && list.every(isItem)
}
