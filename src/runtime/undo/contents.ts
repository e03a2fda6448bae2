import { inspect, types } from "node:util"
import type { Kind } from "../heap/kinds.ts"
import type { Restore } from "./properties.ts"

// What objects hold besides their properties. Everything is read and written by the platform's own methods: a subclass
// may have others under the same names.

const { slice } = Array.prototype
// The one way to ask an array for accessors that costs next to nothing.
const lookupGetter: (this: object, key: PropertyKey) => unknown = Reflect.get(Object.prototype, "__lookupGetter__")

/** The elements of an array, holes kept; undefined for one that is more than its elements. */
export function elementsOf(array: unknown[]): unknown[] | undefined {
  if (!isPlainArray(array)) return undefined
  const { length } = array
  // `slice` asks a subclass to make the copy.
  if (Object.getPrototypeOf(array) === Array.prototype) return slice.call(array)
  const copy: unknown[] = new Array(length)
  for (let at = 0; at < length; at++) if (Object.hasOwn(array, at)) copy[at] = array[at]
  return copy
}

/** Whether an array is nothing but its elements, and none of them an accessor. */
export function isPlainArray(array: unknown[]): boolean {
  const { length } = array
  if (length > longest || hasNamedKeys(array)) return false
  for (let at = 0; at < length; at++) if (lookupGetter.call(array, at) !== undefined) return false
  return true
}

export function restoreElements(array: unknown[], elements: readonly unknown[]): boolean {
  if (hasElements(array, elements)) return true
  const now = Object.isExtensible(array) ? elements.length : Math.min(elements.length, array.length)
  let whole = now === elements.length && Reflect.set(array, "length", elements.length)
  for (let at = 0; at < now; at++) {
    const had = at in elements
    const done = had
      ? Reflect.defineProperty(array, at, { value: elements[at], writable: true, enumerable: true, configurable: true })
      : Reflect.deleteProperty(array, at)
    if (!done) whole = false
  }
  return dropNamedKeys(array) && whole
}

/** What an object of some kind holds; undefined for a kind that has nothing but properties. */
export function rememberContents(value: object, kind: Kind): Contents | undefined {
  switch (kind) {
    case "map":
      return rememberEntries(value as Map<unknown, unknown>)
    case "set":
      return rememberMembers(value as Set<unknown>)
    case "date":
      return rememberTime(value as Date)
    case "bytes":
    case "view":
      return rememberBytes(value as ArrayBuffer | ArrayBufferView)
    default:
      return undefined
  }
}

interface Contents {
  /** Keys, values and members, to go on with. */
  entries: readonly unknown[]
  restore: Restore
}

function rememberEntries(map: Map<unknown, unknown>): Contents {
  const entries = entriesOf(map)
  const restore = () => {
    if (isSequence(entriesOf(map), entries)) return true
    Map.prototype.clear.call(map)
    for (let at = 0; at < entries.length; at += 2) Map.prototype.set.call(map, entries[at], entries[at + 1])
    return true
  }
  return { entries, restore }
}

function rememberMembers(set: Set<unknown>): Contents {
  const entries = membersOf(set)
  const restore = () => {
    if (isSequence(membersOf(set), entries)) return true
    Set.prototype.clear.call(set)
    for (const member of entries) Set.prototype.add.call(set, member)
    return true
  }
  return { entries, restore }
}

function rememberTime(date: Date): Contents {
  const time = Date.prototype.getTime.call(date)
  return { entries: [], restore: () => Object.is(Date.prototype.setTime.call(date, time), time) }
}

/** The bytes a view shows, and no others: Node keeps many small buffers in one. */
function rememberBytes(holder: ArrayBuffer | ArrayBufferView): Contents {
  const view = bytesOf(holder)
  const { buffer, byteOffset, byteLength } = view
  const copy = view.slice()
  const restore = () => {
    // A buffer that a cell gave away, or made smaller for good, has no room for what it held.
    if (buffer instanceof ArrayBuffer && buffer.resizable && buffer.byteLength < byteOffset + byteLength) {
      buffer.resize(byteOffset + byteLength)
    }
    if (buffer.byteLength < byteOffset + byteLength) return false
    new Uint8Array(buffer, byteOffset, byteLength).set(copy)
    return true
  }
  return { entries: [], restore }
}

export function bytesOf(holder: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(holder)) return new Uint8Array(holder)
  const home = holder instanceof DataView ? DataView.prototype : Object.getPrototypeOf(Uint8Array.prototype)
  const read = (key: string) => Reflect.get(home, key, holder)
  return new Uint8Array(read("buffer"), read("byteOffset"), read("byteLength"))
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
export function heldBy(container: object): unknown[] {
  if (types.isMap(container)) return entriesOf(container)
  if (types.isSet(container)) return membersOf(container)
  if (ArrayBuffer.isView(container)) return []
  return Array.isArray(container) ? container : Object.values(container)
}

/** Whether an array has properties besides its elements. */
function hasNamedKeys(array: unknown[]): boolean {
  const { length } = array
  if (length > manyKeys) return inspect(array, onlyNamed) !== `[ ... ${length} more items ]`
  // Named keys come last.
  const last = Object.keys(array).at(-1)
  return last !== undefined && !/^\d+$/.test(last)
}

function dropNamedKeys(array: unknown[]): boolean {
  if (!hasNamedKeys(array)) return true
  const named = Object.keys(array).filter((key) => !/^\d+$/.test(key))
  return named.every((key) => Reflect.deleteProperty(array, key))
}

function hasElements(array: unknown[], elements: readonly unknown[]): boolean {
  if (array.length !== elements.length || hasNamedKeys(array)) return false
  for (let at = 0; at < elements.length; at++) {
    if (lookupGetter.call(array, at) !== undefined) return false
    if (!Object.is(array[at], elements[at])) return false
    if (elements[at] === undefined && at in array !== at in elements) return false
  }
  return true
}

function isSequence(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, at) => Object.is(value, other[at]))
}

// Listing the keys of a long array makes a string of each index; `inspect` counts them only.
const manyKeys = 256
const onlyNamed = { maxArrayLength: 0, depth: 0, customInspect: false }
// Beyond this an array is sparse: it is remembered by the keys it has.
const longest = 2 ** 25
