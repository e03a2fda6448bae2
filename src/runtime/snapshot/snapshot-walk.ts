import { types } from "node:util"
import { createLossReport, type LossReport } from "./heap/loss-report.ts"
import { createKindCache, isObject, type KindCache, kindOf, type ObjectKind } from "./heap/object-kinds.ts"
import { addToTrail, createObjectTrail, keyText, type ObjectTrail, pathOf } from "./heap/object-trail.ts"
import { type Payload, propertyFlags } from "./payload.ts"
import { viewHasNamedProperties } from "./undo/buffer-contents.ts"
import { entriesOf, isPlainArray, membersOf } from "./undo/container-contents.ts"
import { elementKey, isIndex, isOrdinaryProperty } from "./undo/own-properties.ts"

/** What was found out about everything that a snapshot is to hold. The values themselves are not touched. */
export interface SnapshotWalk {
  /** What to write for an object: itself, a reference in its place, or nothing. */
  classify: Classify
  /** Objects that are written as something else, however plain they look. */
  preclassified: ReadonlyMap<object, unknown>
  names: Map<string, unknown>
  trail: ObjectTrail
  kinds: KindCache
  seen: Set<object>
  pending: object[]
  pendingParents: number[]
  /** What a judge leaves for later, as it would lead deeper and deeper. */
  deferred: (() => void)[]
  /** Every object that was looked into, but for rows of plain values. */
  containers: object[]
  /** Objects that hold something which the engine cannot write: by key, or by position in a map or set, the number of
   *  the reference in its place, or `lost`. */
  replaced: Map<object, Map<string | number, number>>
  /** Places in objects of our own that hold values of the namespace. */
  slots: Slot[]
  prototypes: Map<number | null, object[]>
  /** The last of the prototypes that some rows have. */
  rowPrototype: object | undefined
  properties: Payload["properties"]
  closed: Payload["closed"]
  losses: LossReport
  /** Names with something inside that is lost. */
  namesWithLosses: Set<string>
  /** Called with each object that is written as data. */
  onObject: ((object: object) => void) | undefined
}

export interface Slot {
  container: object
  key: string | number
  value: unknown
  encoding: number
}

/** Gives the number of a reference, or `kept` or `lost`. `above` is the place on the trail of what holds the value. */
export type Classify = (survey: SnapshotWalk, value: object, kind: ObjectKind, above: number) => number

export const asData = -1
export const omitted = -2

export function createSnapshotWalk(
  judge: Classify,
  known: SnapshotWalk["preclassified"],
  onObject?: SnapshotWalk["onObject"],
): SnapshotWalk {
  return {
    classify: judge,
    preclassified: known,
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

/** Goes through a value, and everything that can be reached from it, which is to stand in an object of our own. */
export function walkValue(
  walk: SnapshotWalk,
  container: object,
  key: string | number,
  value: unknown,
  above = -1,
): number {
  const verdict = classifyValue(walk, value, above, key)
  walk.slots.push({ container, key, value, encoding: verdict })
  if (verdict === asData && isObject(value)) visitOrQueue(walk, value, above, true)
  return verdict
}

/** The same for a value that was judged already. */
export function walkClassifiedValue(
  walk: SnapshotWalk,
  container: object,
  key: string | number,
  value: object,
  verdict: number,
) {
  walk.slots.push({ container, key, value, encoding: verdict })
  if (verdict === asData) visitOrQueue(walk, value, -1, true)
}

/** Looks into everything that was reached so far. */
export function walkPending(walk: SnapshotWalk): void {
  const { pending, pendingParents: pendingFrom, deferred } = walk
  while (pending.length > 0 || deferred.length > 0) {
    for (const job of deferred.splice(0)) job()
    for (let next = 0; next < pending.length; next++) {
      visit(walk, pending[next] as object, pendingFrom[next] as number, false)
    }
    pending.length = pendingFrom.length = 0
  }
}

/** Takes note of something that cannot be kept: a value, or what is under a key of the object at `above`. */
export function reportLoss(
  walk: SnapshotWalk,
  above: number,
  reason: string,
  what: { value: object } | { key: PropertyKey },
) {
  const { trail, names, losses, namesWithLosses: incomplete } = walk
  const outer = trail.containers[above]
  let root = "value" in what ? what.value : undefined
  for (let at = above; at !== -1; at = trail.parents[at] ?? -1) root = trail.containers[at]
  for (const [name, held] of names) if (held === root) incomplete.add(name)
  losses.add(reason, () => {
    if ("value" in what) return pathOf(trail, what.value, above, names)
    if (!outer) return { name: String(what.key), path: "" }
    const { name, path } = pathOf(trail, outer, trail.parents[above] ?? -1, names)
    return { name, path: path + keyText(what.key) }
  })
  return omitted
}

function classifyValue(walk: SnapshotWalk, value: unknown, above: number, key: string | number): number {
  if (isObject(value)) return walk.classify(walk, value, kindOf(walk.kinds, value), above)
  return typeof value === "symbol" ? reportLoss(walk, above, "a symbol", { key }) : asData
}

function visitOrQueue(walk: SnapshotWalk, value: object, above: number, later: boolean): void {
  if (!later) return visit(walk, value, above, true)
  walk.pending.push(value)
  walk.pendingParents.push(above)
}

function visit(walk: SnapshotWalk, value: object, above: number, later: boolean): void {
  walk.onObject?.(value)
  if (Object.getPrototypeOf(value) === walk.rowPrototype && hasPlainValues(value)) return
  const { size } = walk.seen
  if (walk.seen.add(value).size === size) return
  walk.containers.push(value)
  const at = addToTrail(walk.trail, value, above)
  if (types.isMap(value)) visitElements(walk, value, entriesOf(value), at, later)
  if (types.isSet(value)) visitElements(walk, value, membersOf(value), at, later)
  if (ArrayBuffer.isView(value)) return visitNamedProperties(walk, value, at)
  if (Array.isArray(value) && isPlainArray(value)) {
    if (!Object.isExtensible(value)) walk.closed.push([value, integrityLevel(value)])
    visitElements(walk, value, value, at, later)
  } else visitProperties(walk, value, at, later)
}

/** Goes quickly over the rows of a table: objects about which there is nothing to say but their plain values. They may be
 *  met twice, as to know that they were met costs more. Gives the position of what is no such row. */
function skipPlainRows(
  { preclassified: known, onObject }: SnapshotWalk,
  elements: readonly unknown[],
  start: number,
): number {
  for (let at = start; at < elements.length; at++) {
    const row = elements[at]
    if (typeof row !== "object" || row === null || types.isProxy(row)) return at
    if (Object.getPrototypeOf(row) !== Object.prototype || !hasPlainValues(row) || known.has(row)) return at
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
    const verdict = classifyValue(walk, element, at, index)
    if (verdict !== asData) replaceEntry(walk, container, index, verdict)
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
        const verdict = classifyValue(walk, property.value, at, key)
        if (verdict !== asData) replaceEntry(walk, value, Array.isArray(value) ? elementKey(key) : key, verdict)
        else if (isObject(property.value)) visitOrQueue(walk, property.value, at, later)
      }
    }
  }
}

/** Of a view the engine writes its bytes and nothing else. */
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

/** Has something else written in the place of what is under a key. */
export function replaceEntry(
  { replaced }: SnapshotWalk,
  container: object,
  key: string | number,
  verdict: number,
): void {
  const keys = replaced.get(container) ?? new Map<string | number, number>()
  replaced.set(container, keys.set(key, verdict))
}

// By level: what may get no new properties has usual ones, sealed and frozen ones lose a flag each.
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

/** Whether the engine writes only what the object is, and not its properties. */
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

/** Whether a property is a part of what the object is, and not one that somebody gave it. */
function isIntrinsicProperty(value: object, key: PropertyKey): boolean {
  if (Array.isArray(value)) return key === "length"
  if (types.isRegExp(value)) return key === "lastIndex" && value.lastIndex === 0
  return types.isStringObject(value) && (key === "length" || /^\d+$/.test(String(key)))
}
