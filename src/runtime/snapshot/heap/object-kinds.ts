import { EventEmitter } from "node:events"
import { types } from "node:util"

/** What a value is, as far as looking into it goes. Class instances are objects, also where the class extends a built-in
 *  that keeps no state of its own. */
export type ObjectKind =
  | "object"
  | "array"
  | "map"
  | "set"
  | "date"
  | "regexp"
  | "error"
  | "bytes"
  | "view"
  | "boxed"
  | "function"
  | "promise"
  /** Its traps would run. */
  | "proxy"
  | "module"
  /** A weak one, to something else. */
  | "reference"
  /** A built-in that never changes, or the platform's own. */
  | "platform"
  | "generator"
  /** A built-in whose state nobody can copy: a stream, a weak map, a timer … */
  | "closed"

/** What one walk knows about prototypes, so that each is looked at once. */
export interface KindCache {
  kinds: Map<object, ObjectKind>
  platform: Map<object, boolean>
  lastPrototype: object | undefined
  lastKind: ObjectKind
}

export function createKindCache(): KindCache {
  return { kinds: new Map(), platform: new Map(), lastPrototype: undefined, lastKind: "object" }
}

/** Runs no code of the value, whatever it is. */
export function kindOf(kinds: KindCache, value: object): ObjectKind {
  if (types.isProxy(value)) return "proxy"
  if (typeof value === "function") return globalName(value) === undefined ? "function" : "platform"
  const prototype: object | null = Object.getPrototypeOf(value)
  // Nearly always. That `Math` and its like are singletons is for those to ask to whom it matters.
  if (prototype === Object.prototype) return "object"
  if (platformObjects.has(value)) return "platform"
  if (prototype === null) return types.isModuleNamespaceObject(value) ? "module" : "object"
  if (prototype !== kinds.lastPrototype) {
    kinds.lastPrototype = prototype
    kinds.lastKind = kindOfPrototype(kinds, prototype)
  }
  const family = kinds.lastKind
  // An object may have the prototype of a map without being one.
  return family !== "object" && isOfKind[family]?.(value) === false ? "object" : family
}

/** Whether a prototype is the platform's own, and so nobody's to change. */
export function isPlatformPrototype({ platform }: KindCache, prototype: object): boolean {
  const known =
    platform.get(prototype) ?? (platformObjects.has(prototype) || isPlatformClass(classOfPrototype(prototype)))
  platform.set(prototype, known)
  return known
}

/** The class a value says it is of, read without running code. */
export function classNameOf(value: object): string {
  for (let at: object | null = value; at && !types.isProxy(at); at = Object.getPrototypeOf(at)) {
    const tag: unknown = Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value
    const maker: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value
    if (typeof maker === "function" && at !== value) return functionName(maker)
    if (typeof tag === "string") return tag
  }
  return "Object"
}

/** The class whose instances have this prototype, read without running code. */
export function classOfPrototype(prototype: object): object | undefined {
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
  if (typeof maker !== "function" || types.isProxy(maker)) return undefined
  return Object.getOwnPropertyDescriptor(maker, "prototype")?.value === prototype ? maker : undefined
}

/** The name that a function, class or object of the platform is known by everywhere. */
export function globalName(value: object): string | undefined {
  if (typeof value !== "function") return platformObjects.get(value)
  const name: unknown = Object.getOwnPropertyDescriptor(value, "name")?.value
  // Asked by name: to go through all would load those that nobody has used.
  if (typeof name !== "string" || !Object.hasOwn(globalThis, name)) return undefined
  return Object.getOwnPropertyDescriptor(globalThis, name)?.value === value ? name : undefined
}

export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

function functionName(value: object): string {
  const name: unknown = Object.getOwnPropertyDescriptor(value, "name")?.value
  return typeof name === "string" && name !== "" ? name : "a nameless class"
}

const kindsByPrototype = new Map<object, ObjectKind>([
  [Array.prototype, "array"],
  [Map.prototype, "map"],
  [Set.prototype, "set"],
  [Date.prototype, "date"],
  [RegExp.prototype, "regexp"],
  [Error.prototype, "error"],
  [ArrayBuffer.prototype, "bytes"],
  [Object.getPrototypeOf(Uint8Array.prototype), "view"],
  [DataView.prototype, "view"],
  [Promise.prototype, "promise"],
  [Object.getPrototypeOf(function* () {}).prototype, "generator"],
  [Object.getPrototypeOf(async function* () {}).prototype, "generator"],
  [Number.prototype, "boxed"],
  [String.prototype, "boxed"],
  [Boolean.prototype, "boxed"],
  [BigInt.prototype, "boxed"],
  [Symbol.prototype, "boxed"],
  [WeakRef.prototype, "reference"],
  [TextEncoder.prototype, "platform"],
  // Iterators know how far they are, and do not tell.
  ...iteratorPrototypes().map((prototype): [object, ObjectKind] => [prototype, "closed"]),
  // Sockets, streams, servers, child processes, workers: half of what they are is outside.
  [EventEmitter.prototype, "closed"],
  [
    timerPrototype(
      setTimeout(() => undefined, 0),
      clearTimeout,
    ),
    "closed",
  ],
  [
    timerPrototype(
      setImmediate(() => undefined),
      clearImmediate,
    ),
    "closed",
  ],
])

const isOfKind: { [family in ObjectKind]?: (value: object) => boolean } = {
  array: Array.isArray,
  map: types.isMap,
  set: types.isSet,
  date: types.isDate,
  regexp: types.isRegExp,
  error: types.isNativeError,
  bytes: types.isArrayBuffer,
  view: ArrayBuffer.isView,
  promise: types.isPromise,
  generator: types.isGeneratorObject,
  // The prototype of a class is not one of its instances.
  closed: (value) => classOfPrototype(value) === undefined,
  boxed: types.isBoxedPrimitive,
}

function iteratorPrototypes(): object[] {
  const text = "a"
  const iterators = [
    [].values(),
    new Map().keys(),
    new Set().values(),
    text[Symbol.iterator](),
    text.matchAll(/a/g),
    [].values().map(() => 0),
    Iterator.from({ next: () => ({ done: true, value: 0 }) }),
    new Intl.Segmenter().segment(text)[Symbol.iterator](),
  ]
  return iterators.map((iterator) => Object.getPrototypeOf(iterator))
}

function timerPrototype<T extends object>(timer: T, clear: (timer: T) => void): object {
  clear(timer)
  return Object.getPrototypeOf(timer)
}

function kindOfPrototype(kinds: KindCache, prototype: object): ObjectKind {
  const family = kinds.kinds.get(prototype) ?? findKind(prototype)
  kinds.kinds.set(prototype, family)
  return family
}

function findKind(prototype: object): ObjectKind {
  let found: ObjectKind = "object"
  for (let at = prototype; at !== Object.prototype; ) {
    if (types.isProxy(at)) return "proxy"
    const family = kindsByPrototype.get(at)
    if (family) return family
    const above: object | null = Object.getPrototypeOf(at)
    if (above === null) break
    const tag: unknown = Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value
    // Formatters of Intl never change once they are made.
    if (typeof tag === "string" && tag.startsWith("Intl.")) return "platform"
    if (isPlatformClass(classOfPrototype(at))) found = "closed"
    at = above
  }
  return found
}

function isPlatformClass(value: object | undefined): boolean {
  if (!value) return false
  if (Function.prototype.toString.call(value).endsWith("{ [native code] }")) return true
  return globalName(value) !== undefined
}

/** Objects of the platform, with the names they are known by everywhere; empty for those that have none. They are nobody's
 *  data, and not ours to look into. */
export const platformObjects: ReadonlyMap<object, string> = new Map<object, string>([
  [globalThis, "globalThis"],
  [process.env, ""],
  [Math, "Math"],
  [JSON, "JSON"],
  [Reflect, "Reflect"],
  [Atomics, "Atomics"],
  [Intl, "Intl"],
  [console, "console"],
  [Object.prototype, ""],
  [Function.prototype, ""],
])
