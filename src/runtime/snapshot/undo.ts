// Captures a namespace and all objects reachable from it, and restores them in place when a cell must be rolled back.
import { inspect } from "node:util"
import { isObject } from "../../core/object.ts"
import type { RuntimeLoss } from "../runtime.ts"
import { createLossReport, type LossReport } from "./heap/loss-report.ts"
import type { KindCache, ObjectKind } from "./heap/object-kinds.ts"
import { classNameOf, createKindCache, isPlatformPrototype, kindOf, platformObjects } from "./heap/object-kinds.ts"
import { addToTrail, createObjectTrail, type ObjectTrail, pathOf } from "./heap/object-trail.ts"
import { mayHavePrivate, privateStateOfClass } from "./heap/private-fields.ts"
import { captureContents, copyElements, restoreElements } from "./undo/container-contents.ts"
import { captureProperties, type IsSkippedKey, restoreProperties, sameKeys } from "./undo/own-properties.ts"
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

export interface UndoImage {
  /** Makes `restore` keep a value that the host gives a name after the capture. */
  updateName(name: string, value: unknown): void
  /** Reachable state that cannot be restored: `#private` fields, proxies, built-ins with hidden state. */
  readonly uncaptured: RuntimeLoss[]
  /** Restores the old contents of the same objects. Returns what could not be restored. */
  restore(): RuntimeLoss[]
}

export interface UndoOptions {
  /** Objects that are not entered. */
  skippedObjects?: Iterable<object> | undefined
  /** Returns the object behind a proxy, or null if it has no state. Other proxies are reported as not undone. */
  proxyTarget?: ((proxy: object) => object | null | undefined) | undefined
  /** Called with each function the walk finds. */
  onFunction?: ((value: object) => void) | undefined
}

/** Makes a shallow copy of every reachable container: objects, class instances and their prototypes, functions and
 *  their properties, arrays, maps, sets, dates, bytes. Calls no accessor and enters no proxy. `#private` fields,
 *  variables captured by closures, and built-ins with hidden state cannot be copied; all but captured variables are
 *  listed in `uncaptured`. */
export function createUndoImage(scope: Record<string, unknown>, options: UndoOptions = {}): UndoImage {
  // Arrays, because filling a map takes several times as long; so does `Object.entries`.
  const names = Object.keys(scope)
  const values = names.map((name) => scope[name])
  const walk = createUndoWalk({ names, values }, options)
  for (const value of values) visitOrQueue(walk, value, -1, true)
  for (let next = 0; next < walk.pending.length; next++) {
    capture(walk, walk.pending[next] as object, walk.pendingParents[next] as number, false)
  }
  const beyond = walk.uncaptured.list()
  return {
    uncaptured: beyond,
    updateName(name, value) {
      const at = names.indexOf(name)
      values[at === -1 ? names.push(name) - 1 : at] = value
    },
    restore() {
      walk.uncaptured = createLossReport()
      restoreNames(scope, walk.scope)
      const failed: FoundObject[] = [...walk.pages, walk.page].flatMap(restoreRowPage)
      failed.push(...walk.captured.filter(({ restore }) => !restore()))
      for (const { target, parent } of failed) reportUncaptured(walk, target, parent, notRestoredReason)
      return walk.uncaptured.list()
    },
  }
}

// The walk uses functions over one record instead of closures, so that V8 optimises them once for all images.

interface UndoWalk {
  scope: CapturedScope
  trail: ObjectTrail
  seen: Set<object>
  kinds: KindCache
  options: UndoOptions
  /** Objects that are still to be visited. */
  pending: object[]
  pendingParents: number[]
  pages: RowPage[]
  page: RowPage
  shape: RowShape
  captured: CapturedObject[]
  /** Objects that cannot be restored, or only partly. */
  uncaptured: LossReport
}

/** The names of the namespace and their values. */
interface CapturedScope {
  names: string[]
  values: unknown[]
}

/** How to restore one object that is not a row of a page. */
interface CapturedObject extends FoundObject {
  restore(): boolean
}

function createUndoWalk(scope: CapturedScope, options: UndoOptions): UndoWalk {
  return {
    scope,
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

/** Visits a value now, or queues it with `later` to limit the recursion depth. */
function visitOrQueue(walk: UndoWalk, value: unknown, parent: number, later: boolean): void {
  if (!isObject(value)) return
  if (!later) return capture(walk, value, parent, true)
  walk.pending.push(value)
  walk.pendingParents.push(parent)
}

function visitPrototype(walk: UndoWalk, prototype: object | null, parent: number): void {
  if (prototype && !isPlatformPrototype(walk.kinds, prototype)) visitOrQueue(walk, prototype, parent, true)
}

function capture(walk: UndoWalk, value: object, parent: number, later: boolean): void {
  const kind = kindOf(walk.kinds, value)
  if (kind === "object") return captureObject(walk, value, parent, later)
  if (kind === "platform" || kind === "module" || markSeen(walk, value)) return
  if (kind === "array") return captureArray(walk, value as unknown[], parent, later)
  captureSpecial(walk, value, kind, parent, later)
}

function captureObject(walk: UndoWalk, value: object, parent: number, later: boolean): void {
  if (isPageFull(walk.page)) startPage(walk)
  const { page } = walk
  const start = page.values.length
  let inner = addRow(page, value, walk.shape)
  if (inner === otherShape) {
    walk.shape = shapeOf(value)
    inner = addRow(page, value, walk.shape)
  }
  const { shape } = walk
  // Small objects without inner objects are not tracked as seen: capturing them twice is cheaper.
  if ((inner !== 0 || shape.keys.length > maxRowKeys) && markSeen(walk, value)) return truncateValues(page, start)
  if (inner === otherShape)
    return platformObjects.has(value) ? undefined : captureOwnProperties(walk, value, parent, later)
  finishRow(page, value, shape, parent)
  if (shape.uncapturedReason !== undefined) reportUncaptured(walk, value, parent, shape.uncapturedReason)
  if (inner === 0 && shape.prototype === Object.prototype) return
  const at = addToTrail(walk.trail, value, parent)
  visitPrototype(walk, shape.prototype, at)
  // Visiting may replace a full `walk.page`, so read the values of this page.
  const { values } = page
  for (let index = start, end = values.length; index < end; index++) visitOrQueue(walk, values[index], at, later)
}

/** Captures consecutive rows of a table quickly. Returns the position of the first element with another shape. */
function captureRows(walk: UndoWalk, elements: readonly unknown[], start: number, parent: number): number {
  const { shape } = walk
  if (shape.uncapturedReason !== undefined || shape.keys.length > maxRowKeys) return start
  for (let at = start; ; ) {
    const end = addRows(walk.page, elements, at, shape, parent)
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

function captureArray(walk: UndoWalk, array: unknown[], parent: number, later: boolean): void {
  const elements = Object.isExtensible(array) ? copyElements(array) : undefined
  if (!elements) return captureOwnProperties(walk, array, parent, later)
  const at = addToTrail(walk.trail, array, parent)
  const prototype: object = Object.getPrototypeOf(array)
  visitPrototype(walk, prototype, at)
  if (prototype !== Array.prototype) reportPrivateState(walk, array, prototype, parent)
  for (let index = 0; index < elements.length; index++) {
    index = captureRows(walk, elements, index, at)
    visitOrQueue(walk, elements[index], at, later)
  }
  const restore = () => {
    const isComplete = Object.getPrototypeOf(array) === prototype || Reflect.setPrototypeOf(array, prototype)
    return restoreElements(array, elements) && isComplete && Object.isExtensible(array)
  }
  walk.captured.push({ target: array, parent, restore })
}

function captureSpecial(walk: UndoWalk, value: object, kind: ObjectKind, parent: number, later: boolean): void {
  if (kind === "proxy") {
    const target = walk.options.proxyTarget?.(value)
    if (target === undefined) return reportUncaptured(walk, value, parent, proxyReason)
    return target === null ? undefined : visitOrQueue(walk, target, addToTrail(walk.trail, value, parent), later)
  }
  if (kind === "closed" || kind === "generator") {
    return reportUncaptured(walk, value, parent, `a ${classNameOf(value)} keeps state that cannot be copied`)
  }
  if (kind === "promise") return capturePromise(walk, value, parent)
  if (kind === "function") walk.options.onFunction?.(value)
  const contents = captureContents(value, kind)
  if (contents) {
    walk.captured.push({ target: value, parent, restore: contents.restore })
    const at = addToTrail(walk.trail, value, parent)
    for (const entry of contents.entries) visitOrQueue(walk, entry, at, later)
  }
  // The contents of a view include its named properties; its elements would be listed as keys here.
  if (kind === "view") reportPrivateState(walk, value, Object.getPrototypeOf(value), parent)
  else captureOwnProperties(walk, value, parent, later, skippedKeys[kind])
}

function captureOwnProperties(walk: UndoWalk, value: object, parent: number, later: boolean, skip?: IsSkippedKey) {
  const own = captureProperties(value, skip)
  const at = addToTrail(walk.trail, value, parent)
  visitPrototype(walk, own.prototype, at)
  for (const property of own.properties) {
    visitOrQueue(walk, property.value, at, later)
    visitOrQueue(walk, property.get, at, later)
    visitOrQueue(walk, property.set, at, later)
  }
  const hidden = typeof value === "function" ? privateStateOfClass(value) : undefined
  if (typeof value !== "function") reportPrivateState(walk, value, own.prototype, parent)
  else if (hidden) reportUncaptured(walk, value, parent, `a class with ${hidden}, which other code cannot see`)
  walk.captured.push({ target: value, parent, restore: () => restoreProperties(value, own) })
}

function capturePromise(walk: UndoWalk, promise: object, parent: number): void {
  const isPending = () => inspect(promise, { depth: 0, customInspect: false }).includes("<pending>")
  if (!isPending()) return
  const restore = () => {
    if (!isPending()) reportUncaptured(walk, promise, parent, "a promise that was settled stays so")
    return true
  }
  walk.captured.push({ target: promise, parent, restore })
}

function restoreNames(scope: Record<string, unknown>, { names, values }: CapturedScope): void {
  if (!sameKeys(Object.keys(scope), names)) for (const name of Object.keys(scope)) delete scope[name]
  for (const [at, name] of names.entries()) scope[name] = values[at]
}

function markSeen({ seen }: UndoWalk, value: object): boolean {
  const { size } = seen
  return seen.add(value).size === size
}

function reportUncaptured({ uncaptured, trail, scope }: UndoWalk, value: object, parent: number, reason: string): void {
  const names = scope.names.values().map((name, at): [string, unknown] => [name, scope.values[at]])
  uncaptured.add(reason, () => pathOf(trail, value, parent, names))
}

function privateStateReason(prototype: object | null): string | undefined {
  if (prototype === null || prototype === Object.prototype || !mayHavePrivate("fields", prototype)) return undefined
  return `the #private fields of ${classNameOf(Object.create(prototype))} cannot be seen by other code`
}

function reportPrivateState(walk: UndoWalk, value: object, prototype: object | null, parent: number): void {
  const why = privateStateReason(prototype)
  if (why !== undefined) reportUncaptured(walk, value, parent, why)
}

const maxRowKeys = 16
const proxyReason = "a Proxy, such as an object of the host: what the cell changed behind it is not undone"
const notRestoredReason = "the cell froze, sealed or gave it away, or removed what cannot be added again"

// `stack` is created on demand; `arguments` and `caller` depend on the current call.
const skippedKeys: { [kind in ObjectKind]?: IsSkippedKey } = {
  error: (key) => key === "stack",
  function: (key) => key === "arguments" || key === "caller",
}
