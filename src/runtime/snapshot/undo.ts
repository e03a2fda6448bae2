import { inspect } from "node:util"
import type { RuntimeLoss } from "../runtime.ts"
import { createLossReport, type LossReport } from "./heap/loss-report.ts"
import {
  classNameOf,
  createKindCache,
  isObject,
  isPlatformPrototype,
  type KindCache,
  kindOf,
  type ObjectKind,
  platformObjects,
} from "./heap/object-kinds.ts"
import { addToTrail, createObjectTrail, type ObjectTrail, pathOf } from "./heap/object-trail.ts"
import { hasPrivateState, hasPrivateStatics } from "./heap/private-fields.ts"
import { captureContents, copyElements, restoreElements } from "./undo/container-contents.ts"
import {
  captureProperties,
  type IsSkippedKey,
  type Restore,
  restoreProperties,
  sameKeys,
} from "./undo/own-properties.ts"
import {
  addRow,
  addRows,
  createRowPage,
  type FoundObject,
  finishRow,
  isPageFull,
  otherShape,
  type RowPage,
  type RowShape,
  restoreRowPage,
  truncateValues,
} from "./undo/row-pages.ts"

/** A namespace and everything that can be reached from it, as it was at one moment. */
export interface UndoImage {
  /** Lets what the host gives a name from now on survive `restore`. */
  updateName(name: string, value: unknown): void
  /** What is not in the image although it can be reached, and so is not put back: `#private` fields, proxies, built-ins
   *  that hide their state. */
  readonly uncaptured: RuntimeLoss[]
  /** Writes everything back in place, so that the same objects have their old contents. Gives what could not be. */
  restore(): RuntimeLoss[]
}

export interface UndoOptions {
  /** Objects that are not looked into. */
  skippedObjects?: Iterable<object> | undefined
  /** What a proxy stands for, or null for one that keeps nothing. Any other is named as not undone. */
  proxyTarget?: ((proxy: object) => object | null | undefined) | undefined
  /** Is told of every function on the way. */
  onFunction?: ((value: object) => void) | undefined
}

/** Makes a shallow copy of every container that can be reached: objects, class instances and their prototypes, functions
 *  and their properties, arrays, maps, sets, dates, bytes. No accessor is called and no proxy entered. What only the
 *  engine sees (`#private` fields, variables that closures captured) and built-ins that hide their state cannot be
 *  copied; all but captured variables are named in `beyond`. */
export function createUndoImage(scope: Record<string, unknown>, options: UndoOptions = {}): UndoImage {
  const names = new Map<string, unknown>()
  // Not `Object.entries`: of an object with many names it takes several times as long.
  for (const name of Object.keys(scope)) names.set(name, scope[name])
  const walk = createUndoWalk(names, options)
  for (const value of names.values()) visitOrQueue(walk, value, -1, true)
  for (let next = 0; next < walk.pending.length; next++) {
    capture(walk, walk.pending[next] as object, walk.pendingParents[next] as number, false)
  }
  const beyond = walk.uncaptured.list()
  return {
    uncaptured: beyond,
    updateName(name, value) {
      names.set(name, value)
    },
    restore() {
      walk.uncaptured = createLossReport()
      restoreNames(scope, names)
      const failed: FoundObject[] = [...walk.pages, walk.page].flatMap(restoreRowPage)
      failed.push(...walk.captured.filter(({ restore }) => !restore()))
      for (const { target, above } of failed) reportUncaptured(walk, target, above, notRestoredReason)
      return walk.uncaptured.list()
    },
  }
}

// The walk is made of functions over one record, not of closures: the engine optimises them once, for all images.

interface UndoWalk {
  names: ReadonlyMap<string, unknown>
  trail: ObjectTrail
  seen: Set<object>
  kinds: KindCache
  options: UndoOptions
  /** What was reached and is still to be looked at, and from where. */
  pending: object[]
  pendingParents: number[]
  pages: RowPage[]
  page: RowPage
  shape: RowShape
  captured: CapturedObject[]
  /** What will not be put back, or not wholly. */
  uncaptured: LossReport
}

/** What is remembered of one object that is no row of a page. */
interface CapturedObject extends FoundObject {
  restore: Restore
}

function createUndoWalk(names: UndoWalk["names"], options: UndoOptions): UndoWalk {
  return {
    names,
    trail: createObjectTrail(),
    seen: new Set(options.skippedObjects),
    kinds: createKindCache(),
    options,
    pending: [],
    pendingParents: [],
    pages: [],
    page: createRowPage(),
    shape: { prototype: null, keys: [], extensible: true, uncapturedReason: undefined },
    captured: [],
    uncaptured: createLossReport(),
  }
}

/** Goes on to what a container holds: at once, or later when that would lead deeper and deeper. */
function visitOrQueue(walk: UndoWalk, value: unknown, above: number, later: boolean): void {
  if (!isObject(value)) return
  if (!later) return capture(walk, value, above, true)
  walk.pending.push(value)
  walk.pendingParents.push(above)
}

function visitPrototype(walk: UndoWalk, prototype: object | null, above: number): void {
  if (prototype && !isPlatformPrototype(walk.kinds, prototype)) visitOrQueue(walk, prototype, above, true)
}

function capture(walk: UndoWalk, value: object, above: number, later: boolean): void {
  const kind = kindOf(walk.kinds, value)
  if (kind === "object") return captureObject(walk, value, above, later)
  if (kind === "platform" || kind === "module" || markSeen(walk, value)) return
  if (kind === "array") return captureArray(walk, value as unknown[], above, later)
  captureSpecial(walk, value, kind, above, later)
}

function captureObject(walk: UndoWalk, value: object, above: number, later: boolean): void {
  if (isPageFull(walk.page)) startPage(walk)
  const { page } = walk
  const start = page.values.length
  let inner = addRow(page, value, walk.shape)
  if (inner === otherShape) {
    walk.shape = shapeOf(value)
    inner = addRow(page, value, walk.shape)
  }
  const { shape } = walk
  // What holds nothing but a few plain values can be met twice: to know that it was met costs more.
  if ((inner !== 0 || shape.keys.length > maxRowKeys) && markSeen(walk, value)) return truncateValues(page, start)
  if (inner === otherShape)
    return platformObjects.has(value) ? undefined : captureOwnProperties(walk, value, above, later)
  finishRow(page, value, shape, above)
  if (shape.uncapturedReason !== undefined) reportUncaptured(walk, value, above, shape.uncapturedReason)
  if (inner === 0 && shape.prototype === Object.prototype) return
  const at = addToTrail(walk.trail, value, above)
  visitPrototype(walk, shape.prototype, at)
  // A page that is full is turned meanwhile.
  const { values } = page
  for (let index = start, end = values.length; index < end; index++) visitOrQueue(walk, values[index], at, later)
}

/** Goes quickly over the rows of a table. Gives the position of what is no row like the last one. */
function captureRows(walk: UndoWalk, elements: readonly unknown[], start: number, above: number): number {
  const { shape } = walk
  if (shape.uncapturedReason !== undefined || shape.keys.length > maxRowKeys) return start
  for (let at = start; ; ) {
    const end = addRows(walk.page, elements, at, shape, above)
    if (!isPageFull(walk.page)) return end
    startPage(walk)
    at = end
  }
}

function startPage(walk: UndoWalk): void {
  walk.pages.push(walk.page)
  walk.page = createRowPage()
}

function shapeOf(value: object): RowShape {
  const prototype: object | null = Object.getPrototypeOf(value)
  return {
    prototype,
    keys: Object.keys(value),
    extensible: Object.isExtensible(value),
    uncapturedReason: privateStateReason(prototype),
  }
}

function captureArray(walk: UndoWalk, array: unknown[], above: number, later: boolean): void {
  const elements = Object.isExtensible(array) ? copyElements(array) : undefined
  if (!elements) return captureOwnProperties(walk, array, above, later)
  const at = addToTrail(walk.trail, array, above)
  const prototype: object = Object.getPrototypeOf(array)
  visitPrototype(walk, prototype, at)
  if (prototype !== Array.prototype) reportPrivateState(walk, array, prototype, above)
  for (let index = 0; index < elements.length; index++) {
    index = captureRows(walk, elements, index, at)
    visitOrQueue(walk, elements[index], at, later)
  }
  const restore = () => {
    const whole = Object.getPrototypeOf(array) === prototype || Reflect.setPrototypeOf(array, prototype)
    return restoreElements(array, elements) && whole && Object.isExtensible(array)
  }
  walk.captured.push({ target: array, above, restore })
}

function captureSpecial(walk: UndoWalk, value: object, kind: ObjectKind, above: number, later: boolean): void {
  if (kind === "proxy") {
    const behind = walk.options.proxyTarget?.(value)
    if (behind === undefined) return reportUncaptured(walk, value, above, proxyReason)
    return behind === null ? undefined : visitOrQueue(walk, behind, addToTrail(walk.trail, value, above), later)
  }
  if (kind === "closed" || kind === "generator") {
    return reportUncaptured(walk, value, above, `a ${classNameOf(value)} keeps state that nobody can copy`)
  }
  if (kind === "promise") return capturePromise(walk, value, above)
  if (kind === "function") walk.options.onFunction?.(value)
  const contents = captureContents(value, kind)
  if (contents) {
    walk.captured.push({ target: value, above, restore: contents.restore })
    const at = addToTrail(walk.trail, value, above)
    for (const entry of contents.entries) visitOrQueue(walk, entry, at, later)
  }
  // Those of a view are in its contents: its elements are keys as well.
  if (kind === "view") reportPrivateState(walk, value, Object.getPrototypeOf(value), above)
  else captureOwnProperties(walk, value, above, later, skippedKeys[kind])
}

function captureOwnProperties(walk: UndoWalk, value: object, above: number, later: boolean, skip?: IsSkippedKey) {
  const own = captureProperties(value, skip)
  const at = addToTrail(walk.trail, value, above)
  visitPrototype(walk, own.prototype, at)
  for (const property of own.properties) {
    visitOrQueue(walk, property.value, at, later)
    visitOrQueue(walk, property.get, at, later)
    visitOrQueue(walk, property.set, at, later)
  }
  if (typeof value !== "function") reportPrivateState(walk, value, own.prototype, above)
  else if (hasPrivateStatics(value)) reportUncaptured(walk, value, above, privateStaticsReason)
  walk.captured.push({ target: value, above, restore: () => restoreProperties(value, own) })
}

function capturePromise(walk: UndoWalk, promise: object, above: number): void {
  if (!isPending(promise)) return
  const restore = () => {
    if (!isPending(promise)) reportUncaptured(walk, promise, above, "a promise that was settled stays so")
    return true
  }
  walk.captured.push({ target: promise, above, restore })
}

function restoreNames(scope: Record<string, unknown>, names: ReadonlyMap<string, unknown>): void {
  if (!sameKeys(Object.keys(scope), [...names.keys()])) for (const name of Object.keys(scope)) delete scope[name]
  for (const [name, value] of names) scope[name] = value
}

function markSeen({ seen }: UndoWalk, value: object): boolean {
  const { size } = seen
  return seen.add(value).size === size
}

function reportUncaptured(
  { uncaptured: doubts, trail, names }: UndoWalk,
  value: object,
  above: number,
  reason: string,
): void {
  doubts.add(reason, () => pathOf(trail, value, above, names))
}

function privateStateReason(prototype: object | null): string | undefined {
  if (prototype === null || prototype === Object.prototype || !hasPrivateState(prototype)) return undefined
  return `the #private fields of ${classNameOf(Object.create(prototype))} can be seen by nobody else`
}

function reportPrivateState(walk: UndoWalk, value: object, prototype: object | null, above: number): void {
  const why = privateStateReason(prototype)
  if (why !== undefined) reportUncaptured(walk, value, above, why)
}

function isPending(promise: object): boolean {
  return inspect(promise, { depth: 0, customInspect: false }).includes("<pending>")
}

const maxRowKeys = 16
const proxyReason = "a Proxy, such as an object of the host: what the cell changed behind it is not undone"
const privateStaticsReason = "the static #private fields of a class can be seen by nobody else"
const notRestoredReason = "the cell froze, sealed or gave it away, or removed what cannot be added again"

// The stack of an error is text made on demand; the others are what a function is called with at the moment.
const skippedKeys: { [kind in ObjectKind]?: IsSkippedKey } = {
  error: (key) => key === "stack",
  function: (key) => key === "arguments" || key === "caller",
}
