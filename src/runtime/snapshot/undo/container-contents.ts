import { inspect, types } from "node:util"
import type { ObjectKind } from "../heap/object-kinds.ts"
import { captureBuffer, captureView } from "./buffer-contents.ts"
import { isIndex, isOrdinaryProperty, type Restore } from "./own-properties.ts"

// What objects hold besides their properties. Everything is read and written by the platform's own methods: a subclass
// may have others under the same names.

const { slice } = Array.prototype
// The one way to ask an array for accessors that costs next to nothing.
const lookupGetter: (this: object, key: PropertyKey) => unknown = Reflect.get(Object.prototype, "__lookupGetter__")

/** The elements of an array, holes kept; undefined for one that is more than its elements. */
export function copyElements(array: unknown[]): unknown[] | undefined {
  if (!isPlainArray(array)) return undefined
  const { length } = array
  // `slice` asks a subclass to make the copy.
  if (Object.getPrototypeOf(array) === Array.prototype) return slice.call(array)
  const copy: unknown[] = new Array(length)
  for (let at = 0; at < length; at++) if (Object.hasOwn(array, at)) copy[at] = array[at]
  return copy
}

/** Whether an array is nothing but its elements, each as assignment makes it. Of a long array, where to ask costs more than
 *  all the rest, it is only asked whether none has a getter. */
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
  let whole = now === elements.length && Reflect.set(array, "length", elements.length)
  for (let at = 0; at < now; at++) {
    const done = Object.hasOwn(elements, at)
      ? Reflect.defineProperty(array, at, { value: elements[at], writable: true, enumerable: true, configurable: true })
      : Reflect.deleteProperty(array, at)
    if (!done) whole = false
  }
  return deleteNamedProperties(array) && whole
}

/** What an object of some kind holds; undefined for a kind that has nothing but properties. */
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
  /** Keys, values and members, to go on with. */
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
      // A subclass cannot be compiled again.
      return false
    }
  }
  return { entries: [], restore }
}

/** Read flag by flag: the platform's own `flags` asks properties that a program may have put in their place. */
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

/** Everything a container holds that has no accessors. */
export function valuesIn(container: object): unknown[] {
  if (types.isMap(container)) return entriesOf(container)
  if (types.isSet(container)) return membersOf(container)
  if (ArrayBuffer.isView(container)) return []
  return Array.isArray(container) ? container : Object.values(container)
}

/** Whether an array has properties besides its elements. */
function hasNamedProperties(array: unknown[]): boolean {
  const { length } = array
  // The length is the first of the keys that come after the elements.
  if (length <= maxListedKeys) return Reflect.ownKeys(array).at(-1) !== "length"
  if (Object.getPrototypeOf(array) !== Array.prototype || Object.getOwnPropertySymbols(array).length > 0) return true
  return inspect(array, namedKeysOnly) !== `[ ... ${length} more items, [length]: ${length} ]`
}

/** Whether a long array is nearly empty, as far as some of its places tell: then it is cheaper to ask for its keys. */
function isSparse(array: unknown[]): boolean {
  const { length } = array
  if (length <= minSparseLength) return false
  if (length > maxDenseLength) return true
  let there = 0
  for (let sample = 0; sample < sampleCount; sample++) {
    if (Object.hasOwn(array, Math.floor((sample * length) / sampleCount))) there++
  }
  return there < sampleCount / 16
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

function hasElements(array: unknown[], elements: readonly unknown[]): boolean {
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

// Listing the keys of a long array makes a string of each index; `inspect` counts them only.
const maxListedKeys = 256
const maxCheckedElements = 32
const namedKeysOnly = { maxArrayLength: 0, depth: 0, customInspect: false, showHidden: true }
// Beyond this an array is sparse, whatever is in it.
const maxDenseLength = 2 ** 25
const minSparseLength = 4096
const sampleCount = 64
