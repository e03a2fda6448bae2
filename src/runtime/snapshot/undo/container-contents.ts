// Captures and restores what objects hold besides properties: elements, entries, members, times, patterns. Uses the
// platform's methods, because a subclass may override them.
import { inspect, types } from "node:util"
import type { ObjectKind } from "../heap/object-kinds.ts"
import { captureBuffer, captureView } from "./buffer-contents.ts"
import { isIndex, isOrdinaryProperty, type Restore } from "./own-properties.ts"

const { slice } = Array.prototype
// The cheapest way to detect accessors in an array.
const lookupGetter: (this: object, key: PropertyKey) => unknown = Reflect.get(Object.prototype, "__lookupGetter__")

/** Returns the elements of an array including holes; undefined if it has other properties or unusual elements. */
export function copyElements(array: unknown[]): unknown[] | undefined {
  if (!isPlainArray(array)) return undefined
  const { length } = array
  // `slice` would create the copy through a subclass's constructor.
  if (Object.getPrototypeOf(array) === Array.prototype) return slice.call(array)
  const copy: unknown[] = new Array(length)
  for (let at = 0; at < length; at++) if (Object.hasOwn(array, at)) copy[at] = array[at]
  return copy
}

/** Returns true if an array has only elements, each an ordinary property. For long arrays, where that check is
 *  expensive, only getters are looked for. */
export function isPlainArray(array: unknown[]): boolean {
  const { length } = array
  if (isSparse(array) || hasNamedProperties(array)) return false
  if (length <= maxCheckedElements) return hasOrdinaryElements(array)
  for (let at = 0; at < length; at++) if (lookupGetter.call(array, at) !== undefined) return false
  return true
}

export function restoreElements(array: unknown[], elements: readonly unknown[]): boolean {
  if (hasElements(array, elements)) return true
  const now = Object.isExtensible(array) ? elements.length : Math.min(elements.length, array.length)
  let isComplete = now === elements.length && Reflect.set(array, "length", elements.length)
  for (let at = 0; at < now; at++) {
    const done = Object.hasOwn(elements, at)
      ? Reflect.defineProperty(array, at, { value: elements[at], writable: true, enumerable: true, configurable: true })
      : Reflect.deleteProperty(array, at)
    if (!done) isComplete = false
  }
  return deleteNamedProperties(array) && isComplete
}

/** Captures the contents of an object; returns undefined for kinds that have only properties. */
export function captureContents(value: object, kind: ObjectKind): CapturedContents | undefined {
  switch (kind) {
    case "map":
      return captureMapEntries(value as Map<unknown, unknown>)
    case "set":
      return captureSetMembers(value as Set<unknown>)
    case "date":
      return captureTime(value as Date)
    case "regexp":
      return capturePattern(value as RegExp)
    case "bytes":
      return captureBuffer(value as ArrayBuffer)
    case "view":
      return captureView(value as ArrayBufferView)
    case "reference": {
      const target = WeakRef.prototype.deref.call(value)
      return { entries: [target], restore: () => true }
    }
    default:
      return undefined
  }
}

export interface CapturedContents {
  /** Keys, values and members, to be visited next. */
  entries: readonly unknown[]
  restore: Restore
}

function captureMapEntries(map: Map<unknown, unknown>): CapturedContents {
  const entries = entriesOf(map)
  const restore = () => {
    if (isSameSequence(entriesOf(map), entries)) return true
    Map.prototype.clear.call(map)
    for (let at = 0; at < entries.length; at += 2) Map.prototype.set.call(map, entries[at], entries[at + 1])
    return true
  }
  return { entries, restore }
}

function captureSetMembers(set: Set<unknown>): CapturedContents {
  const entries = membersOf(set)
  const restore = () => {
    if (isSameSequence(membersOf(set), entries)) return true
    Set.prototype.clear.call(set)
    for (const member of entries) Set.prototype.add.call(set, member)
    return true
  }
  return { entries, restore }
}

function captureTime(date: Date): CapturedContents {
  const time = Date.prototype.getTime.call(date)
  return { entries: [], restore: () => Object.is(Date.prototype.setTime.call(date, time), time) }
}

function capturePattern(pattern: RegExp): CapturedContents {
  const [source, flags] = readPattern(pattern)
  const restore = () => {
    const now = readPattern(pattern)
    if (now[0] === source && now[1] === flags) return true
    try {
      RegExp.prototype.compile.call(pattern, source, flags)
      return true
    } catch {
      // Instances of a subclass cannot be recompiled.
      return false
    }
  }
  return { entries: [], restore }
}

/** Reads each flag separately: the `flags` accessor reads properties that a program may have overridden. */
function readPattern(pattern: RegExp): [source: string, flags: string] {
  const read = (key: string): unknown => Reflect.get(RegExp.prototype, key, pattern)
  return [String(read("source")), flagNames.map(([name, letter]) => (read(name) ? letter : "")).join("")]
}

export function entriesOf(map: Map<unknown, unknown>): unknown[] {
  const entries: unknown[] = []
  Map.prototype.forEach.call(map, (value, key) => entries.push(key, value))
  return entries
}

export function membersOf(set: Set<unknown>): unknown[] {
  const members: unknown[] = []
  Set.prototype.forEach.call(set, (member) => members.push(member))
  return members
}

/** Returns the values in a container that has no accessors. */
export function valuesIn(container: object): unknown[] {
  if (types.isMap(container)) return entriesOf(container)
  if (types.isSet(container)) return membersOf(container)
  if (ArrayBuffer.isView(container)) return []
  return Array.isArray(container) ? container : Object.values(container)
}

/** Returns true if an array has properties other than elements. */
function hasNamedProperties(array: unknown[]): boolean {
  const { length } = array
  // `length` is the first key after the elements.
  if (length <= maxListedKeys) return Reflect.ownKeys(array).at(-1) !== "length"
  if (Object.getPrototypeOf(array) !== Array.prototype || Object.getOwnPropertySymbols(array).length > 0) return true
  return inspect(array, namedKeysOnly) !== `[ ... ${length} more items, [length]: ${length} ]`
}

/** Returns true if a sample of a long array is nearly empty: then listing its keys is cheaper. */
function isSparse(array: unknown[]): boolean {
  const { length } = array
  if (length <= minSparseLength) return false
  if (length > maxDenseLength) return true
  let present = 0
  for (let sample = 0; sample < sampleCount; sample++) {
    if (Object.hasOwn(array, Math.floor((sample * length) / sampleCount))) present++
  }
  return present < sampleCount / 16
}

function hasOrdinaryElements(array: unknown[]): boolean {
  const { length } = array
  for (let at = 0; at < length; at++) {
    const element = Object.getOwnPropertyDescriptor(array, at)
    if (element && !isOrdinaryProperty(element)) return false
  }
  return true
}

function deleteNamedProperties(array: unknown[]): boolean {
  if (!hasNamedProperties(array)) return true
  const named = Reflect.ownKeys(array).filter((key) => key !== "length" && !isIndex(key))
  return named.filter((key) => !Reflect.deleteProperty(array, key)).length === 0
}

export function hasElements(array: unknown[], elements: readonly unknown[]): boolean {
  if (array.length !== elements.length || !isPlainArray(array)) return false
  for (let at = 0; at < elements.length; at++) {
    if (!Object.is(array[at], elements[at])) return false
    if (elements[at] === undefined && Object.hasOwn(array, at) !== Object.hasOwn(elements, at)) return false
  }
  return true
}

function isSameSequence(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, at) => Object.is(value, other[at]))
}

const flagNames = [
  ["hasIndices", "d"],
  ["global", "g"],
  ["ignoreCase", "i"],
  ["multiline", "m"],
  ["dotAll", "s"],
  ["unicode", "u"],
  ["unicodeSets", "v"],
  ["sticky", "y"],
] as const

// Listing the keys of a long array creates a string per index; `inspect` only counts them.
const maxListedKeys = 256
const maxCheckedElements = 32
const namedKeysOnly = { maxArrayLength: 0, depth: 0, customInspect: false, showHidden: true }
// Longer arrays are treated as sparse.
const maxDenseLength = 2 ** 25
const minSparseLength = 4096
const sampleCount = 64
