// Walks all objects reachable from a namespace and records how each is written to a snapshot. Changes none of them.
import { types } from "node:util"
import { isObject } from "../../core/object.ts"
import { createLossReport, type LossReport } from "./heap/loss-report.ts"
import { createKindCache, type KindCache, kindOf, type ObjectKind } from "./heap/object-kinds.ts"
import { addToTrail, createObjectTrail, keyText, type ObjectTrail, pathOf } from "./heap/object-trail.ts"
import { type Payload, propertyFlags } from "./payload.ts"
import { viewHasNamedProperties } from "./undo/buffer-contents.ts"
import { entriesOf, isPlainArray, membersOf } from "./undo/container-contents.ts"
import { elementKey, isIndex, isOrdinaryProperty } from "./undo/own-properties.ts"

export interface SnapshotWalk {
  /** Decides whether an object is written as data, as a reference, or not at all. */
  classify: Classify
  /** Objects that are never written as data, even if they look plain. */
  preclassified: ReadonlyMap<object, unknown>
  names: Map<string, unknown>
  trail: ObjectTrail
  kinds: KindCache
  seen: Set<object>
  pending: object[]
  pendingParents: number[]
  /** Work that would recurse too deeply, done after the current object. */
  deferred: (() => void)[]
  /** All visited objects, except table rows with only plain values. */
  containers: object[]
  /** Containers with entries that V8 cannot write. For each key, or position in a map or set: the number of the
   *  reference to write instead, or `omitted`. */
  replaced: Map<object, Map<EntryKey, number>>
  /** Places in payload objects that receive values of the namespace. */
  slots: Slot[]
  prototypes: Map<number | null, object[]>
  /** The prototype of the last row of class instances. */
  rowPrototype: object | undefined
  properties: Payload["properties"]
  closed: Payload["closed"]
  losses: LossReport
  /** Names whose value contains something that is lost. */
  namesWithLosses: Set<string>
  /** Called with each object that is written as data. */
  onObject: ((object: object) => void) | undefined
}

/** A property key, or the position of an entry in a map or set. */
type EntryKey = string | number

export interface Slot {
  container: object
  key: EntryKey
  value: unknown
  encoding: number
}

/** Returns the number of a reference, `asData` or `omitted`. `parent` is the trail position of the container. */
export type Classify = (walk: SnapshotWalk, value: object, kind: ObjectKind, parent: number) => number

export const asData = -1
export const omitted = -2

export function createSnapshotWalk(
  judge: Classify,
  preclassified: SnapshotWalk["preclassified"],
  onObject?: SnapshotWalk["onObject"],
): SnapshotWalk {
  return {
    classify: judge,
    preclassified,
    names: new Map(),
    trail: createObjectTrail(),
    kinds: createKindCache(),
    seen: new Set(),
    pending: [],
    pendingParents: [],
    deferred: [],
    containers: [],
    replaced: new Map(),
    slots: [],
    prototypes: new Map(),
    rowPrototype: undefined,
    properties: [],
    closed: [],
    losses: createLossReport(),
    namesWithLosses: new Set(),
    onObject,
  }
}

/** Walks a value and everything reachable from it. The value is later written to `container[key]` of the payload. */
export function walkValue(walk: SnapshotWalk, container: object, key: EntryKey, value: unknown, parent = -1): number {
  const encoding = classifyValue(walk, value, parent, key)
  walk.slots.push({ container, key, value, encoding })
  if (encoding === asData && isObject(value)) visitOrQueue(walk, value, parent, true)
  return encoding
}

/** Does the same for a value that is already classified. */
export function walkClassifiedValue(
  walk: SnapshotWalk,
  container: object,
  key: EntryKey,
  value: object,
  encoding: number,
) {
  walk.slots.push({ container, key, value, encoding })
  if (encoding === asData) visitOrQueue(walk, value, -1, true)
}

/** Visits everything that is queued. */
export function walkPending(walk: SnapshotWalk): void {
  const { pending, pendingParents, deferred } = walk
  while (pending.length > 0 || deferred.length > 0) {
    for (const job of deferred.splice(0)) job()
    for (let next = 0; next < pending.length; next++) {
      visit(walk, pending[next] as object, pendingParents[next] as number, false)
    }
    pending.length = pendingParents.length = 0
  }
}

/** Reports a value, or a property of the object at `parent`, that cannot be stored. Returns `omitted`. */
export function reportLoss(
  walk: SnapshotWalk,
  parent: number,
  reason: string,
  lost: { value: object } | { key: PropertyKey },
) {
  const { trail, names, losses, namesWithLosses } = walk
  const outer = trail.containers[parent]
  let root = "value" in lost ? lost.value : undefined
  for (let at = parent; at !== -1; at = trail.parents[at] ?? -1) root = trail.containers[at]
  for (const [name, held] of names) if (held === root) namesWithLosses.add(name)
  losses.add(reason, () => {
    if ("value" in lost) return pathOf(trail, lost.value, parent, names)
    if (!outer) return { name: String(lost.key), path: "" }
    const { name, path } = pathOf(trail, outer, trail.parents[parent] ?? -1, names)
    return { name, path: path + keyText(lost.key) }
  })
  return omitted
}

function classifyValue(walk: SnapshotWalk, value: unknown, parent: number, key: EntryKey): number {
  if (isObject(value)) return walk.classify(walk, value, kindOf(walk.kinds, value), parent)
  return typeof value === "symbol" ? reportLoss(walk, parent, "a symbol", { key }) : asData
}

function visitOrQueue(walk: SnapshotWalk, value: object, parent: number, later: boolean): void {
  if (!later) return visit(walk, value, parent, true)
  walk.pending.push(value)
  walk.pendingParents.push(parent)
}

function visit(walk: SnapshotWalk, value: object, parent: number, later: boolean): void {
  walk.onObject?.(value)
  if (Object.getPrototypeOf(value) === walk.rowPrototype && hasPlainValues(value)) return
  const { size } = walk.seen
  if (walk.seen.add(value).size === size) return
  walk.containers.push(value)
  const at = addToTrail(walk.trail, value, parent)
  if (types.isMap(value)) visitElements(walk, value, entriesOf(value), at, later)
  if (types.isSet(value)) visitElements(walk, value, membersOf(value), at, later)
  if (ArrayBuffer.isView(value)) return visitNamedProperties(walk, value, at)
  if (Array.isArray(value) && isPlainArray(value)) {
    if (!Object.isExtensible(value)) walk.closed.push([value, integrityLevel(value)])
    visitElements(walk, value, value, at, later)
  } else visitProperties(walk, value, at, later)
}

/** Skips table rows that contain only plain values. Does not remember them, because visiting a row twice is cheaper.
 *  Returns the position of the first element that is no such row. */
function skipPlainRows({ preclassified, onObject }: SnapshotWalk, elements: readonly unknown[], start: number): number {
  for (let at = start; at < elements.length; at++) {
    const row = elements[at]
    if (typeof row !== "object" || row === null || types.isProxy(row)) return at
    if (Object.getPrototypeOf(row) !== Object.prototype || !hasPlainValues(row) || preclassified.has(row)) return at
    onObject?.(row)
  }
  return elements.length
}

function hasPlainValues(value: object): boolean {
  if (!Object.isExtensible(value)) return false
  let count = 0
  for (const key in value) {
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!isOrdinaryProperty(property) || isObject(property.value) || typeof property.value === "symbol") return false
    count++
  }
  return Object.getOwnPropertyNames(value).length === count && Object.getOwnPropertySymbols(value).length === 0
}

function visitElements(
  walk: SnapshotWalk,
  container: object,
  elements: readonly unknown[],
  at: number,
  later: boolean,
) {
  for (
    let index = skipPlainRows(walk, elements, 0);
    index < elements.length;
    index = skipPlainRows(walk, elements, index + 1)
  ) {
    const element = elements[index]
    const encoding = classifyValue(walk, element, at, index)
    if (encoding !== asData) replaceEntry(walk, container, index, encoding)
    else if (isObject(element)) visitOrQueue(walk, element, at, later)
  }
}

function visitProperties(walk: SnapshotWalk, value: object, at: number, later: boolean): void {
  const level = Object.isExtensible(value) ? undefined : integrityLevel(value)
  if (level !== undefined) walk.closed.push([value, level])
  const usual = usualFlags[level ?? 0] ?? 0
  const isWritten = !isWrittenWithoutProperties(value)
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property || isIntrinsicProperty(value, key)) continue
    if (typeof key === "symbol") reportLoss(walk, at, "a symbol is its key", { key })
    else if (property.get || property.set) {
      reportLoss(walk, at, "an accessor", { key })
      if (property.enumerable) replaceEntry(walk, value, Array.isArray(value) ? elementKey(key) : key, omitted)
    } else {
      const flags = flagsOf(property)
      if (!isWritten || flags !== usual) addProperty(walk, value, key, property.value, flags, at)
      if (isWritten && property.enumerable) {
        const encoding = classifyValue(walk, property.value, at, key)
        if (encoding !== asData) replaceEntry(walk, value, Array.isArray(value) ? elementKey(key) : key, encoding)
        else if (isObject(property.value)) visitOrQueue(walk, property.value, at, later)
      }
    }
  }
}

/** Records the properties of a view, because V8 writes only its bytes. */
function visitNamedProperties(walk: SnapshotWalk, view: ArrayBufferView, at: number): void {
  if (!viewHasNamedProperties(view)) return
  for (const key of Reflect.ownKeys(view)) {
    const property = Object.getOwnPropertyDescriptor(view, key)
    if (!property || (isIndex(key) && !types.isDataView(view))) continue
    if (typeof key === "symbol") reportLoss(walk, at, "a symbol is its key", { key })
    else if (property.get || property.set) reportLoss(walk, at, "an accessor", { key })
    else addProperty(walk, view, key, property.value, flagsOf(property), at)
  }
}

function addProperty(walk: SnapshotWalk, target: object, key: string, value: unknown, flags: number, at: number): void {
  const entry: Payload["properties"][number] = [target, key, undefined, flags]
  walk.properties.push(entry)
  walkValue(walk, entry, 2, value, at)
}

/** Marks an entry of a container to be written as something else. */
export function replaceEntry({ replaced }: SnapshotWalk, container: object, key: EntryKey, encoding: number): void {
  const keys = replaced.get(container) ?? new Map<EntryKey, number>()
  replaced.set(container, keys.set(key, encoding))
}

// Usual property flags by integrity level: non-extensible, sealed, frozen.
const allFlags = propertyFlags.writable | propertyFlags.enumerable | propertyFlags.configurable
const usualFlags = [allFlags, propertyFlags.writable | propertyFlags.enumerable, propertyFlags.enumerable]

function integrityLevel(value: object): number {
  return Object.isFrozen(value) ? 2 : Object.isSealed(value) ? 1 : 0
}

function flagsOf({ writable, enumerable, configurable }: PropertyDescriptor): number {
  return (
    (writable ? propertyFlags.writable : 0) |
    (enumerable ? propertyFlags.enumerable : 0) |
    (configurable ? propertyFlags.configurable : 0)
  )
}

/** Returns true if V8 writes the contents of the object but not its properties. */
function isWrittenWithoutProperties(value: object): boolean {
  return (
    types.isMap(value) ||
    types.isSet(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isBoxedPrimitive(value)
  )
}

/** Returns true for properties that every object of this kind has. */
function isIntrinsicProperty(value: object, key: PropertyKey): boolean {
  if (Array.isArray(value)) return key === "length"
  if (types.isRegExp(value)) return key === "lastIndex" && value.lastIndex === 0
  return types.isStringObject(value) && (key === "length" || /^\d+$/.test(String(key)))
}
