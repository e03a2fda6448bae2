import { inspect } from "node:util"
import {
  classNameOf,
  createKinds,
  isObject,
  isPlatformPrototype,
  type Kind,
  type Kinds,
  kindOf,
  singletons,
} from "./heap/kinds.ts"
import { createLosses, type Losses } from "./heap/losses.ts"
import { hasPrivateState, hasPrivateStatics } from "./heap/private-fields.ts"
import { createTrail, note, placeOf, type Trail } from "./heap/trail.ts"
import type { Lost } from "./runtime.ts"
import { elementsOf, rememberContents, restoreElements } from "./undo/contents.ts"
import {
  addRow,
  addRows,
  createPage,
  endRow,
  type Found,
  isFull,
  otherShape,
  type Page,
  restorePage,
  type Shape,
  turnBack,
} from "./undo/pages.ts"
import { type IsSkipped, propertiesOf, putBack, type Restore, sameKeys } from "./undo/properties.ts"

/** A namespace and everything that can be reached from it, as it was at one moment. */
export interface UndoImage {
  /** Lets what the host gives a name from now on survive `restore`. */
  put(name: string, value: unknown): void
  /** What is not in the image although it can be reached, and so is not put back: `#private` fields, proxies, built-ins
   *  that hide their state. */
  readonly beyond: Lost[]
  /** Writes everything back in place, so that the same objects have their old contents. Gives what could not be. */
  restore(): Lost[]
}

export interface UndoOptions {
  /** Objects that are not looked into. */
  untouched?: Iterable<object> | undefined
  /** What a proxy stands for, or null for one that keeps nothing. Any other is named as not undone. */
  behind?: ((proxy: object) => object | null | undefined) | undefined
  /** Is told of every function on the way. */
  onFunction?: ((value: object) => void) | undefined
}

/** Makes a shallow copy of every container that can be reached: objects, class instances and their prototypes, functions
 *  and their properties, arrays, maps, sets, dates, bytes. No accessor is called and no proxy entered. What only the
 *  engine sees (`#private` fields, variables that closures captured) and built-ins that hide their state cannot be
 *  copied; all but captured variables are named in `beyond`. */
export function undoImage(scope: Record<string, unknown>, options: UndoOptions = {}): UndoImage {
  const names = new Map<string, unknown>()
  // Not `Object.entries`: of an object with many names it takes several times as long.
  for (const name of Object.keys(scope)) names.set(name, scope[name])
  const walk = createWalk(names, options)
  for (const value of names.values()) reach(walk, value, -1, true)
  for (let next = 0; next < walk.pending.length; next++) {
    remember(walk, walk.pending[next] as object, walk.pendingFrom[next] as number, false)
  }
  const beyond = walk.doubts.list()
  return {
    beyond,
    put(name, value) {
      names.set(name, value)
    },
    restore() {
      walk.doubts = createLosses()
      restoreNames(scope, names)
      const failed: Found[] = [...walk.pages, walk.page].flatMap(restorePage)
      failed.push(...walk.memories.filter(({ restore }) => !restore()))
      for (const { target, above } of failed) doubt(walk, target, above, closedByCell)
      return walk.doubts.list()
    },
  }
}

// The walk is made of functions over one record, not of closures: the engine optimises them once, for all images.

interface Walk {
  names: ReadonlyMap<string, unknown>
  trail: Trail
  seen: Set<object>
  kinds: Kinds
  options: UndoOptions
  /** What was reached and is still to be looked at, and from where. */
  pending: object[]
  pendingFrom: number[]
  pages: Page[]
  page: Page
  shape: Shape
  memories: Memory[]
  /** What will not be put back, or not wholly. */
  doubts: Losses
}

/** What is remembered of one object that is no row of a page. */
interface Memory extends Found {
  restore: Restore
}

function createWalk(names: Walk["names"], options: UndoOptions): Walk {
  return {
    names,
    trail: createTrail(),
    seen: new Set(options.untouched),
    kinds: createKinds(),
    options,
    pending: [],
    pendingFrom: [],
    pages: [],
    page: createPage(),
    shape: { prototype: null, keys: [], extensible: true, doubt: undefined },
    memories: [],
    doubts: createLosses(),
  }
}

/** Goes on to what a container holds: at once, or later when that would lead deeper and deeper. */
function reach(walk: Walk, value: unknown, above: number, later: boolean): void {
  if (!isObject(value)) return
  if (!later) return remember(walk, value, above, true)
  walk.pending.push(value)
  walk.pendingFrom.push(above)
}

function reachPrototype(walk: Walk, prototype: object | null, above: number): void {
  if (prototype && !isPlatformPrototype(walk.kinds, prototype)) reach(walk, prototype, above, true)
}

function remember(walk: Walk, value: object, above: number, later: boolean): void {
  const kind = kindOf(walk.kinds, value)
  if (kind === "object") return rememberObject(walk, value, above, later)
  if (kind === "platform" || kind === "module" || isSeen(walk, value)) return
  if (kind === "array") return rememberArray(walk, value as unknown[], above, later)
  rememberSpecial(walk, value, kind, above, later)
}

function rememberObject(walk: Walk, value: object, above: number, later: boolean): void {
  if (isFull(walk.page)) turnPage(walk)
  const { page } = walk
  const start = page.values.length
  let inner = addRow(page, value, walk.shape)
  if (inner === otherShape) {
    walk.shape = shapeOf(value)
    inner = addRow(page, value, walk.shape)
  }
  const { shape } = walk
  // What holds nothing but a few plain values can be met twice: to know that it was met costs more.
  if ((inner !== 0 || shape.keys.length > few) && isSeen(walk, value)) return turnBack(page, start)
  if (inner === otherShape) return singletons.has(value) ? undefined : rememberProperties(walk, value, above, later)
  endRow(page, value, shape, above)
  if (shape.doubt !== undefined) doubt(walk, value, above, shape.doubt)
  if (inner === 0 && shape.prototype === Object.prototype) return
  const at = note(walk.trail, value, above)
  reachPrototype(walk, shape.prototype, at)
  // A page that is full is turned meanwhile.
  const { values } = page
  for (let index = start, end = values.length; index < end; index++) reach(walk, values[index], at, later)
}

/** Goes quickly over the rows of a table. Gives the position of what is no row like the last one. */
function rememberRows(walk: Walk, elements: readonly unknown[], start: number, above: number): number {
  const { shape } = walk
  if (shape.doubt !== undefined || shape.keys.length > few) return start
  for (let at = start; ; ) {
    const end = addRows(walk.page, elements, at, shape, above)
    if (!isFull(walk.page)) return end
    turnPage(walk)
    at = end
  }
}

function turnPage(walk: Walk): void {
  walk.pages.push(walk.page)
  walk.page = createPage()
}

function shapeOf(value: object): Shape {
  const prototype: object | null = Object.getPrototypeOf(value)
  return { prototype, keys: Object.keys(value), extensible: Object.isExtensible(value), doubt: doubtOf(prototype) }
}

function rememberArray(walk: Walk, array: unknown[], above: number, later: boolean): void {
  const elements = Object.isExtensible(array) ? elementsOf(array) : undefined
  if (!elements) return rememberProperties(walk, array, above, later)
  const at = note(walk.trail, array, above)
  const prototype: object = Object.getPrototypeOf(array)
  reachPrototype(walk, prototype, at)
  if (prototype !== Array.prototype) doubtPrivate(walk, array, prototype, above)
  for (let index = 0; index < elements.length; index++) {
    index = rememberRows(walk, elements, index, at)
    reach(walk, elements[index], at, later)
  }
  const restore = () => {
    const whole = Object.getPrototypeOf(array) === prototype || Reflect.setPrototypeOf(array, prototype)
    return restoreElements(array, elements) && whole && Object.isExtensible(array)
  }
  walk.memories.push({ target: array, above, restore })
}

function rememberSpecial(walk: Walk, value: object, kind: Kind, above: number, later: boolean): void {
  if (kind === "proxy") {
    const behind = walk.options.behind?.(value)
    if (behind === undefined) return doubt(walk, value, above, aProxy)
    return behind === null ? undefined : reach(walk, behind, note(walk.trail, value, above), later)
  }
  if (kind === "closed" || kind === "generator") {
    return doubt(walk, value, above, `a ${classNameOf(value)} keeps state that nobody can copy`)
  }
  if (kind === "promise") return rememberPromise(walk, value, above)
  if (kind === "function") walk.options.onFunction?.(value)
  const contents = rememberContents(value, kind)
  if (contents) {
    walk.memories.push({ target: value, above, restore: contents.restore })
    const at = note(walk.trail, value, above)
    for (const entry of contents.entries) reach(walk, entry, at, later)
  }
  // Those of a view are in its contents: its elements are keys as well.
  if (kind === "view") doubtPrivate(walk, value, Object.getPrototypeOf(value), above)
  else rememberProperties(walk, value, above, later, skipped[kind])
}

function rememberProperties(walk: Walk, value: object, above: number, later: boolean, skip?: IsSkipped) {
  const own = propertiesOf(value, skip)
  const at = note(walk.trail, value, above)
  reachPrototype(walk, own.prototype, at)
  for (const property of own.properties) {
    reach(walk, property.value, at, later)
    reach(walk, property.get, at, later)
    reach(walk, property.set, at, later)
  }
  if (typeof value !== "function") doubtPrivate(walk, value, own.prototype, above)
  else if (hasPrivateStatics(value)) doubt(walk, value, above, privateStatics)
  walk.memories.push({ target: value, above, restore: () => putBack(value, own) })
}

function rememberPromise(walk: Walk, promise: object, above: number): void {
  if (!isPending(promise)) return
  const restore = () => {
    if (!isPending(promise)) doubt(walk, promise, above, "a promise that was settled stays so")
    return true
  }
  walk.memories.push({ target: promise, above, restore })
}

function restoreNames(scope: Record<string, unknown>, names: ReadonlyMap<string, unknown>): void {
  if (!sameKeys(Object.keys(scope), [...names.keys()])) for (const name of Object.keys(scope)) delete scope[name]
  for (const [name, value] of names) scope[name] = value
}

function isSeen({ seen }: Walk, value: object): boolean {
  const { size } = seen
  return seen.add(value).size === size
}

function doubt({ doubts, trail, names }: Walk, value: object, above: number, reason: string): void {
  doubts.add(reason, () => placeOf(trail, value, above, names))
}

function doubtOf(prototype: object | null): string | undefined {
  if (prototype === null || prototype === Object.prototype || !hasPrivateState(prototype)) return undefined
  return `the #private fields of ${classNameOf(Object.create(prototype))} can be seen by nobody else`
}

function doubtPrivate(walk: Walk, value: object, prototype: object | null, above: number): void {
  const why = doubtOf(prototype)
  if (why !== undefined) doubt(walk, value, above, why)
}

function isPending(promise: object): boolean {
  return inspect(promise, { depth: 0, customInspect: false }).includes("<pending>")
}

const few = 16
const aProxy = "a Proxy, such as an object of the host: what the cell changed behind it is not undone"
const privateStatics = "the static #private fields of a class can be seen by nobody else"
const closedByCell = "the cell froze, sealed or gave it away, or removed what cannot be added again"

// The stack of an error is text made on demand; the others are what a function is called with at the moment.
const skipped: { [kind in Kind]?: IsSkipped } = {
  error: (key) => key === "stack",
  function: (key) => key === "arguments" || key === "caller",
}
