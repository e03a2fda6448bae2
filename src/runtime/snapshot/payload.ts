import { invalidSnapshot } from "./snapshot-bytes.ts"

/** What the bytes of a snapshot hold. Objects are listed by identity: those in the lists are the very ones in the values,
 *  which the engine's format keeps. */
export interface Payload {
  /** Names that cells made or gave a new value, in their order. */
  names: [name: string, value: unknown][]
  /** Injected names whose value is plain data, as cells left it. */
  contents: [name: string, value: unknown][]
  /** Names that cells may not assign to. */
  constants: string[]
  /** Functions and classes, in the order in which they were declared. */
  declarations: CodeDeclaration[]
  /** What cannot be written as data: each is made or found again. */
  references: Reference[]
  /** Where in the values references belong. */
  places: [container: object, key: string | number, reference: number][]
  /** Maps and sets that hold references: their keys and values, or their members, in turn. */
  fillings: [container: object, entries: unknown[]][]
  /** Objects whose prototype is that of a class, or null. */
  prototypes: [reference: number | null, objects: object[]][]
  /** Properties that are not as assignment makes them. */
  properties: [target: object, key: string, value: unknown, flags: number][]
  /** Properties that functions and classes have got. */
  statics: [reference: number, properties: object][]
  /** What takes no new properties (0), is sealed (1) or frozen (2). */
  closed: [target: object, level: number][]
}

export interface CodeDeclaration {
  name: string
  source: string
  known: string[]
  /** The name and the reference of what a class extends. */
  superclass?: [name: string, reference: number]
}

export type Reference =
  /** Something the host injects under a name. */
  | { type: "binding"; name: string }
  | { type: "global"; name: string }
  | { type: "code"; declaration: number }
  | { type: "codec"; codec: string; data: unknown }
  /** An object that is written by itself, because it is deep inside others. */
  | { type: "part"; value: object }
  | { type: "error"; name: string; class: number | null; properties: object }

export const propertyFlags = { writable: 1, enumerable: 2, configurable: 4 }

/** Checks what came out of a snapshot: nothing about it is taken for granted. */
export function checkPayload(value: unknown): Payload {
  if (!isRecord(value) || !Object.entries(payloadShape).every(([key, isItem]) => isListOf(value[key], isItem))) {
    throw invalidSnapshot("what it holds is not in the form it should have")
  }
  // Every list was just checked, item by item.
  return value as unknown as Payload
}

/** The names of a whole snapshot that no longer hold, in the bytes of the changes since. */
export function droppedNames(value: unknown): ReadonlySet<string> {
  if (!isRecord(value) || !Array.isArray(value.dropped) || !value.dropped.every(isString)) {
    throw invalidSnapshot("it does not say which names have changed since the whole one")
  }
  return new Set(value.dropped)
}

/** The rest of a whole snapshot, of which names have changed since. What is left is plain data: names with functions,
 *  instances or references always count as changed. */
export function withoutNames(
  { names, contents, constants, prototypes }: Payload,
  without: ReadonlySet<string>,
): Payload {
  return {
    names: names.filter(([name]) => !without.has(name)),
    contents: contents.filter(([name]) => !without.has(name)),
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
const isObject: Check = (item) => typeof item === "object" && item !== null
const isNullOr =
  (check: Check): Check =>
  (item) =>
    item === null || check(item)

const payloadShape: { [key in keyof Payload]: Check } = {
  names: isTuple(isString, anything),
  contents: isTuple(isString, anything),
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
