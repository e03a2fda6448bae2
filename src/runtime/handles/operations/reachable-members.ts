// Decides which members of host objects a peer may read, write and call. Members that every object or function inherits
// give access to the host itself, so they are not reachable.
import { types } from "node:util"
import { isObject } from "../../../core/object.ts"
import { isClass } from "../../bindings.ts"
import { isPlainData } from "../codec/crossing-form.ts"
import { refuseImplicitCall } from "../wire.ts"
import { writeBack } from "./write-back.ts"

/** Reads a member, running its getter. Returns undefined if the member is not reachable. */
export function readMember(target: unknown, key: string): unknown {
  if (target === null || target === undefined) throw new TypeError(`Cannot read "${key}" of ${target}`)
  if (!isObject(target)) return readPrimitiveMember(target, key)
  return isReachable(target, key) ? Reflect.get(target, key, target) : undefined
}

/** Reads the member at the end of a path. Returns `pathEnded` if the value after one of the `optional` numbers of steps
 *  is null or undefined. */
export function readPath(target: unknown, path: readonly string[], optional: readonly number[] = []): unknown {
  let found = target
  for (const [step, key] of path.entries()) {
    if ((found === null || found === undefined) && optional.includes(step)) return pathEnded
    found = readMember(found, key)
  }
  const isEnd = (found === null || found === undefined) && optional.includes(path.length)
  return isEnd ? pathEnded : found
}

/** Returned instead of a value if a path with `?.` ended early. */
export const pathEnded = Symbol("the path ended")

/** Returns true if a peer may reach the member. */
function isReachable(target: object, key: string): boolean {
  if (isReserved(target, key)) return false
  // Only the Proxy itself knows which members it has.
  return types.isProxy(target) ? !isInherited(target, key) : findProperty(target, key) !== undefined
}

/** Returns true if the member exists and is reachable. Asks a Proxy, which may run its code. */
export function hasMember(target: unknown, key = ""): boolean {
  if (!isObject(target) || !isReachable(target, key)) return false
  return !types.isProxy(target) || Reflect.has(target, key)
}

export interface WriteRules {
  /** Returns true for a function that came from a cell or is a gated function. */
  isFromCell(value: unknown): boolean
  /** Returns true if the method must not be replaced. */
  isGuarded(target: object, key: string): boolean
  /** Returns true if cells may add members to the object. */
  isExtensible(target: object): boolean
}

/** Writes a member. Existing fields and setters accept any value; methods cannot be replaced; new members need
 *  permission. If the value is a changed copy of the field's value, the old value is updated in place where possible.
 *  Throws a `TypeError` that names the reason and the cure. */
export function writeMember(
  target: unknown,
  key: string,
  value: unknown,
  { where, isCopy, rules }: { where: string; isCopy: boolean; rules: WriteRules },
): void {
  if (!isObject(target)) throw new TypeError(`Cannot set ${where}: it belongs to ${typeName(target)}.`)
  refuseImplicitCall(key, value)
  const problem = writeProblem(target, key, value, rules)
  if (problem !== undefined) throw new TypeError(`Cannot set ${where}: ${problem}`)
  // A setter decides itself what to do with the value.
  const hasSetter = !types.isProxy(target) && findProperty(target, key)?.set !== undefined
  if (isCopy && !hasSetter && writeBack(readMember(target, key), value)) return
  if (!Reflect.set(target, key, value, target)) throw new TypeError(`Cannot set ${where}: it is read-only.`)
}

function writeProblem(target: object, key: string, value: unknown, rules: WriteRules): string | undefined {
  if (isReserved(target, key)) return "the name is reserved."
  if (rules.isGuarded(target, key)) return "it is a guarded method, which cannot be replaced from a cell."
  if (types.isProxy(target)) {
    if (isInherited(target, key)) return "the name is reserved."
    const held: unknown = Reflect.get(target, key, target)
    return isMethod(held) && !rules.isFromCell(held) ? methodProblem : undefined
  }
  if (Array.isArray(target) && key === "length" && !(typeof value === "number" && value <= target.length)) {
    return "an array grows by its elements. Use push()."
  }
  const found = findProperty(target, key)
  if (!found) {
    if (isInherited(target, key)) return "the name is reserved."
    if (rules.isExtensible(target) || isNewData(target, key, value)) return undefined
    return "the object has no such member. Bind it with variable(object, { extend: true }) to let cells add members."
  }
  if (found.set) return undefined
  if (found.get) return "it has a getter and no setter."
  if (found.writable === false) return "it is read-only."
  return typeof found.value === "function" && !rules.isFromCell(found.value) ? methodProblem : undefined
}

const methodProblem = "it is a method, which cannot be replaced from a cell."

/** Returns true if a write adds data to data: a key of a plain object, or the next element of an array. */
function isNewData(target: object, key: string, value: unknown): boolean {
  if (typeof value === "function") return false
  if (Array.isArray(target)) return key === String(target.length)
  const prototype: unknown = Object.getPrototypeOf(target)
  return (prototype === Object.prototype || prototype === null) && isPlainData(target)
}

/** Returns the property of an object or of its classes, without running code. */
export function findProperty(target: object, key: string): PropertyDescriptor | undefined {
  for (const holder of prototypeChain(target)) {
    // An inherited constructor would give access to the class.
    if (key === "constructor" && holder !== target) continue
    const property = Object.getOwnPropertyDescriptor(holder, key)
    if (property) return key === "constructor" && typeof property.value === "function" ? undefined : property
  }
  return undefined
}

/** Yields an object and its prototypes, except those that all objects or all functions share. */
export function* prototypeChain(target: object): Generator<object> {
  for (
    let holder: object | null = target;
    holder && !sharedPrototypes.has(holder);
    holder = Object.getPrototypeOf(holder)
  ) {
    yield holder
    if (types.isProxy(holder)) return
  }
}

/** Returns true for names that are never reachable: they give access to a function's code or class. */
export function isReserved(target: object, key: string): boolean {
  if (key === "__proto__") return true
  return typeof target === "function" && reservedOfFunctions.has(key)
}

export function isSharedPrototype(value: object): boolean {
  return sharedPrototypes.has(value)
}

/** Returns true for a function that is not a class. */
export function isMethod(value: unknown): boolean {
  return typeof value === "function" && !isClass(value)
}

// The methods of a primitive are built in and can reach nothing but the primitive.
function readPrimitiveMember(target: unknown, key: string): unknown {
  const boxed: object = Object(target)
  if (Object.hasOwn(boxed, key)) return Reflect.get(boxed, key)
  const prototype: unknown = Object.getPrototypeOf(boxed)
  return isObject(prototype) && key !== "constructor" && Object.hasOwn(prototype, key)
    ? Reflect.get(prototype, key, target)
    : undefined
}

function isInherited(target: object, key: string): boolean {
  return key in Object.prototype || (typeof target === "function" && key in Function.prototype)
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value === "undefined" ? "undefined" : `a ${typeof value}`
}

const sharedPrototypes = new Set<object>([
  Object.prototype,
  Function.prototype,
  ...[async () => {}, function* () {}, async function* () {}].map((value): object => Object.getPrototypeOf(value)),
])
const reservedOfFunctions = new Set(["prototype", "caller", "callee", "arguments", "constructor"])
