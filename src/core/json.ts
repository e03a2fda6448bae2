// JSON values: types, copies and frozen copies.
import { guardNestingDepth } from "./values/nesting-depth.ts"

/** Data that can be stored, sent and compared. Everything that must survive a process consists of this. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonSchema = { [key: string]: Json }

/** Returns a record as `Json`, so that it can be stored. The compiler refuses a record with a function, a class instance,
 *  a `Date`, a `Map` or a `Set` in it. Members of type `unknown` are not checked; those that are undefined are not
 *  stored. */
export function asJson<T>(record: JsonRecord<T>): Json {
  return record as Json
}

// The same type if it is JSON. A part that is not becomes `never`, to which nothing can be assigned: instances of classes
// fail by their methods.
type JsonRecord<T> = unknown extends T
  ? T
  : T extends Json | undefined
    ? T
    : T extends bigint | symbol | ((...args: never[]) => unknown)
      ? never
      : { [K in keyof T]: JsonRecord<T[K]> }

/** Returns a deep copy. Throws an `AgentError` for data that is nested too deeply. */
export function copyJson(value: Json): Json {
  return guardNestingDepth("The data", () => copyJsonValue(value))
}

/** Returns a deep copy, or undefined if the value is not JSON. Members that are undefined are dropped. */
export function copyIfJson<T>(value: T): T | undefined {
  // The copy has the same members, so it has the same type.
  return guardNestingDepth("The data", () => copyJsonOrUndefined(value)) as T | undefined
}

function copyJsonOrUndefined(value: unknown): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  if (typeof value !== "object") return undefined
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const each of value) {
      const item = copyJsonOrUndefined(each)
      if (item === undefined) return undefined
      items.push(item)
    }
    return items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const entries: [string, Json][] = []
  for (const [key, each] of Object.entries(value)) {
    if (each === undefined) continue
    const member = copyJsonOrUndefined(each)
    if (member === undefined) return undefined
    entries.push([key, member])
  }
  return Object.fromEntries(entries)
}

function copyJsonValue(value: Json): Json {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copyJsonValue)
  const copy = { ...value }
  for (const [key, part] of Object.entries(copy)) if (typeof part === "object") copy[key] = copyJsonValue(part)
  return copy
}

/** Returns a frozen deep copy. Members that are undefined are dropped. Throws a `TypeError` if the value is not
 *  JSON; `what` names the value in its message. */
export function toFrozenJson(value: unknown, what: string): Json {
  return guardNestingDepth(what, () => frozenCopy(value, what, new Set()))
}

function frozenCopy(value: unknown, what: string, within: Set<object>): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (typeof value !== "object") throw notJsonError(what, typeof value === "number" ? String(value) : typeof value)
  if (within.has(value)) throw notJsonError(what, "a circular reference")
  within.add(value)
  const copy: Json = Array.isArray(value)
    ? value.map((part, index) => frozenCopy(part, `${what}[${index}]`, within))
    : frozenMembers(value, what, within)
  within.delete(value)
  Object.freeze(copy)
  return copy
}

function frozenMembers(value: object, what: string, within: Set<object>): { [key: string]: Json } {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw notJsonError(what, value.constructor?.name || "an object with a prototype")
  }
  const members = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(members.map(([key, part]) => [key, frozenCopy(part, `${what}.${key}`, within)]))
}

function notJsonError(what: string, found: string): TypeError {
  return new TypeError(
    `${what} is not JSON: ${found}. Give null, booleans, finite numbers, texts, lists and plain objects.`,
  )
}
