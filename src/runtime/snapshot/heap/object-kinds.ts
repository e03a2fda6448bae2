// Classifies objects by kind (array, map, proxy, …) without running any of their code.
import { EventEmitter } from "node:events"
import { types } from "node:util"

/** Class instances are of kind "object", even if the class extends a built-in without internal state. */
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
  | "proxy"
  | "module"
  /** A `WeakRef`. */
  | "reference"
  /** A built-in that never changes, or an object of the platform. */
  | "platform"
  | "generator"
  /** A built-in whose state cannot be copied: a stream, a weak map, a timer … */
  | "closed"

/** What one walk has learned about prototypes. */
export interface KindCache {
  kinds: Map<object, ObjectKind>
  platform: Map<object, boolean>
  lastPrototype: object | undefined
  lastKind: ObjectKind
}

export function createKindCache(): KindCache {
  return { kinds: new Map(), platform: new Map(), lastPrototype: undefined, lastKind: "object" }
}

/** Returns the kind of an object without running its code. */
export function kindOf(kinds: KindCache, value: object): ObjectKind {
  if (types.isProxy(value)) return "proxy"
  if (typeof value === "function") return globalName(value) === undefined ? "function" : "platform"
  const prototype: object | null = Object.getPrototypeOf(value)
  // The common case. `Math` and similar objects also end here; callers that care check `platformObjects`.
  if (prototype === Object.prototype) return "object"
  if (platformObjects.has(value)) return "platform"
  if (prototype === null) return types.isModuleNamespaceObject(value) ? "module" : "object"
  if (prototype !== kinds.lastPrototype) {
    kinds.lastPrototype = prototype
    kinds.lastKind = kindOfPrototype(kinds, prototype)
  }
  const kind = kinds.lastKind
  // An object may inherit from `Map.prototype` without being a map.
  return kind !== "object" && isOfKind[kind]?.(value) === false ? "object" : kind
}

/** Returns true if a prototype belongs to the platform. */
export function isPlatformPrototype({ platform }: KindCache, prototype: object): boolean {
  const known =
    platform.get(prototype) ?? (platformObjects.has(prototype) || isPlatformClass(classOfPrototype(prototype)))
  platform.set(prototype, known)
  return known
}

/** Returns the class name of an object without running its code. */
export function classNameOf(value: object): string {
  for (let at: object | null = value; at && !types.isProxy(at); at = Object.getPrototypeOf(at)) {
    const tag: unknown = ownProperty(at, Symbol.toStringTag)?.value
    const owner: unknown = ownProperty(at, "constructor")?.value
    if (typeof owner === "function" && at !== value) return functionName(owner)
    if (typeof tag === "string") return tag
  }
  return "Object"
}

/** Returns the class whose instances have this prototype, without running code. */
export function classOfPrototype(prototype: object): object | undefined {
  const owner: unknown = ownProperty(prototype, "constructor")?.value
  if (typeof owner !== "function") return undefined
  return ownProperty(owner, "prototype")?.value === prototype ? owner : undefined
}

/** Returns the global name of a function, class or object of the platform. */
export function globalName(value: object): string | undefined {
  if (typeof value !== "function") return platformObjects.get(value)
  const name: unknown = ownProperty(value, "name")?.value
  // Looked up by name: enumerating all globals would load lazy ones.
  if (typeof name !== "string" || !Object.hasOwn(globalThis, name)) return undefined
  return Object.getOwnPropertyDescriptor(globalThis, name)?.value === value ? name : undefined
}

/** Returns an own property without running code; undefined if the object is a Proxy. */
function ownProperty(object: object, key: PropertyKey): PropertyDescriptor | undefined {
  return types.isProxy(object) ? undefined : Object.getOwnPropertyDescriptor(object, key)
}

function functionName(value: object): string {
  const name: unknown = ownProperty(value, "name")?.value
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
  // The position of an iterator cannot be read.
  ...iteratorPrototypes().map((prototype): [object, ObjectKind] => [prototype, "closed"]),
  // Sockets, streams, servers, child processes and workers have state outside this process.
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

const isOfKind: { [kind in ObjectKind]?: (value: object) => boolean } = {
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
  // The prototype object of a class is not an instance.
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
  const kind = kinds.kinds.get(prototype) ?? findKind(prototype)
  kinds.kinds.set(prototype, kind)
  return kind
}

function findKind(prototype: object): ObjectKind {
  let found: ObjectKind = "object"
  for (let at = prototype; at !== Object.prototype; ) {
    if (types.isProxy(at)) return "proxy"
    const kind = kindsByPrototype.get(at)
    if (kind) return kind
    const above: object | null = Object.getPrototypeOf(at)
    if (above === null) break
    const tag: unknown = Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value
    // Intl formatters are immutable.
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

/** Objects of the platform by global name, or an empty name. Walks do not enter them. */
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
