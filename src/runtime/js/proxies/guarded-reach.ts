// Decides whether code could reach a guarded object from a value. Runs no code of the value.
import { types } from "node:util"

/** How far a value is searched. */
export interface ReachOptions {
  /** A value with more members counts as reaching a guarded object. */
  maxMembers: number
  /** Whether an empty container counts too, because it may be filled later. */
  countsEmpty: boolean
  /** Whether a value is a guarded object, or its proxy. */
  isGuarded(value: object): boolean
}

/** Returns true if code may get from a value to a guarded object. Arrays, plain objects, Maps, Sets and errors are
 *  searched; anything with code (an instance of a class, a function, a getter, a Promise, a Proxy) may lead
 *  anywhere. */
export function mayReachGuarded(value: object, { maxMembers, countsEmpty, isGuarded }: ReachOptions): boolean {
  if (isFlatRow(value) || isFlatTable(value, maxMembers, isGuarded)) return isGuarded(value)
  return searchGuarded(value, { maxMembers, countsEmpty, isGuarded }, true)
}

/** The same for results of functions that are not guarded: only a guarded object inside the data counts. */
export function containsGuarded(value: object, options: ReachOptions): boolean {
  return searchGuarded(value, options, false)
}

/** Searches a value for a guarded object. `countsCode`: members with code, and members beyond the limit, count too. */
function searchGuarded(value: object, options: ReachOptions, countsCode: boolean): boolean {
  const { maxMembers, countsEmpty, isGuarded } = options
  const seen = new Set<object>([value])
  const queue = [value]
  let remaining = maxMembers
  for (let current = queue.pop(); current; current = queue.pop()) {
    if (isGuarded(current)) return true
    if (!isContainer(current)) {
      if (countsCode && !isPlatformData(current)) return true
      continue
    }
    const members = membersOf(current, remaining, !countsCode)
    if (countsCode && (!members || (countsEmpty && members.length === 0))) return true
    remaining -= members?.length ?? 0
    for (const member of members ?? []) {
      if (countsCode && typeof member === "function") return true
      if (typeof member !== "object" || member === null || seen.has(member)) continue
      seen.add(member)
      queue.push(member)
    }
  }
  return false
}

/** Returns true for a plain object of a few primitive values: the usual row, and the most frequent case. */
function isFlatRow(value: object): boolean {
  if (types.isProxy(value) || Object.getPrototypeOf(value) !== Object.prototype) return false
  const keys = Reflect.ownKeys(value)
  if (keys.length === 0 || keys.length > 30) return false
  for (const key of keys) {
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property || property.get || property.set) return false
    const member: unknown = property.value
    if (typeof member === "function" || (typeof member === "object" && member !== null)) return false
  }
  return true
}

/** Returns true for an array of such rows and primitive values. */
function isFlatTable(value: object, maxMembers: number, isGuarded: ReachOptions["isGuarded"]): boolean {
  if (!Array.isArray(value) || types.isProxy(value) || Object.getPrototypeOf(value) !== Array.prototype) return false
  // Each row counts as four members.
  if (value.length === 0 || value.length * 4 > maxMembers || Reflect.ownKeys(value).length !== value.length + 1)
    return false
  for (let current = 0; current < value.length; current++) {
    const property = Object.getOwnPropertyDescriptor(value, current)
    if (!property || property.get || property.set) return false
    const member: unknown = property.value
    if (typeof member === "function") return false
    if (typeof member === "object" && member !== null && (!isFlatRow(member) || isGuarded(member))) return false
  }
  return true
}

/** Returns true for an array, a plain object, a Map, a Set or an error: data, as far as its class tells. */
function isContainer(value: object): boolean {
  if (typeof value === "function" || types.isProxy(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || containerPrototypes.has(prototype)) return true
  return types.isNativeError(value)
}

const containerPrototypes = new Set<unknown>([Object.prototype, Array.prototype, Map.prototype, Set.prototype])

// Platform classes without references to objects of the program. Instances are checked against the platform's class of
// that name.
const platformDataClasses = new Set([
  ...["URL", "URLSearchParams", "Headers", "Request", "Response", "FormData", "Blob", "File", "AbortSignal"],
  ...["AbortController", "TextEncoder", "TextDecoder"],
])

function isPlatformData(value: object): boolean {
  if (typeof value === "function" || types.isProxy(value)) return false
  if (types.isDate(value) || types.isRegExp(value) || types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value))
    return true
  if (types.isBoxedPrimitive(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  if (typeof prototype !== "object" || prototype === null) return false
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
  if (typeof maker !== "function" || !platformDataClasses.has(maker.name)) return false
  return Reflect.get(globalThis, maker.name) === maker
}

/** The members of a container; undefined if there are more than `maxMembers`, or if a getter hides one. */
function membersOf(value: object, maxMembers: number, skipsGetters: boolean): unknown[] | undefined {
  const members: unknown[] = []
  const isArray = Array.isArray(value)
  if (!isArray && types.isMap(value)) {
    if (value.size * 2 > maxMembers) return undefined
    for (const [key, member] of mapEntries.call(value)) members.push(key, member)
  }
  if (!isArray && types.isSet(value)) {
    if (value.size > maxMembers) return undefined
    members.push(...setValues.call(value))
  }
  if (isArray && value.length > maxMembers) return undefined
  const keys = Reflect.ownKeys(value)
  if (keys.length > maxMembers) return undefined
  for (const key of keys) {
    if (isArray && key === "length") continue
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (!property) continue
    if ("value" in property) members.push(property.value)
    // The stack of an error is an accessor in some engines, and harmless.
    else if (!skipsGetters && !(key === "stack" && types.isNativeError(value))) return undefined
  }
  return members
}

const mapEntries = Map.prototype.entries
const setValues = Set.prototype.values
