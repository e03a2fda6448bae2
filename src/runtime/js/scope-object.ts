// The object whose properties are the names of a namespace, and the detection of names that a cell changed.
import { types } from "node:util"
import { ConfigError, thrownText } from "../../core/errors.ts"
import type { NameChanges } from "../../core/event.ts"
import { isThenable } from "../bindings/binding-names.ts"
import type { Scope } from "../compiler/compile-cell.ts"
import { describeType } from "../declare/inspect-value.ts"
import { unwrapProxy } from "./proxies/function-proxy.ts"

/** An object that throws a `ReferenceError` for names that are not in it. */
export function createScopeObject(): Scope {
  const missingNames = new Proxy(Object.create(null), {
    get(_, key) {
      if (typeof key === "symbol") return undefined
      const hint = key === "require" ? ": use import" : ""
      throw new ReferenceError(`${key} is not defined${hint}`)
    },
  })
  return Object.create(missingNames)
}

/** Returns a value that the host asked for. Throws if the host could not await the answer without calling its code. */
export function refuseThenable(name: string, value: unknown): unknown {
  if (types.isPromise(value)) throw new ConfigError(`"${name}" is a promise: await it in a cell first.`)
  if (!hasThen(name, value)) return value
  const cure = "Await it in a cell first, or rename the key."
  throw new ConfigError(`"${name}" has a function under "then", which the language would call. ${cure}`)
}

function hasThen(name: string, value: unknown): boolean {
  try {
    return isThenable(value)
  } catch (thrown) {
    const cure = "Let a cell put plain data under another name, and retrieve that."
    throw new ConfigError(`"${name}" cannot be read: its getter or Proxy threw ${thrownText(thrown)}. ${cure}`)
  }
}

/** Updates the known values of a scope and returns what has changed. Runs after every cell, so it makes one pass over
 *  the names and copies nothing. */
export function takeNameChanges(lastValues: Map<string, unknown>, scope: Scope): NameChanges {
  const changes: NameChanges = { created: [], reassigned: [], removed: [] }
  const names = Object.keys(scope)
  for (const name of names) {
    const value = scope[name]
    if (Object.is(lastValues.get(name), value) && (value !== undefined || lastValues.has(name))) continue
    if (lastValues.has(name)) changes.reassigned.push(name)
    else changes.created.push(name)
    lastValues.set(name, value)
  }
  if (lastValues.size === names.length) return changes
  for (const name of lastValues.keys()) {
    if (Object.hasOwn(scope, name)) continue
    changes.removed.push(name)
    lastValues.delete(name)
  }
  return changes
}

/** Adds the names to which a cell assigned an equal value. */
export function addReassigned({ created, reassigned }: NameChanges, assigned: readonly string[], scope: Scope): void {
  for (const name of assigned) {
    if (Object.hasOwn(scope, name) && !created.includes(name) && !reassigned.includes(name)) reassigned.push(name)
  }
}

/** Returns the types of the first names, without running code of their values. */
export function shortTypes(names: readonly string[], scope: Scope): { types?: Record<string, string> } {
  if (names.length === 0) return {}
  return { types: Object.fromEntries(names.slice(0, maxTypes).map((name) => [name, shortType(scope[name])])) }
}

function shortType(held: unknown): string {
  const value = unwrapProxy(held)
  if (types.isPromise(value)) return "Promise (not awaited)"
  const type = describeType(value)
  // Reading a Proxy runs its code.
  return !types.isProxy(value) && Array.isArray(value) && value.length > 0
    ? `${type} (${value.length.toLocaleString("en")})`
    : type
}

const maxTypes = 20
