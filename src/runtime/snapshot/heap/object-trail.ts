// Remembers how a walk reached each object, so that losses can be reported with a path such as `rows[3].socket`.
import { types } from "node:util"
import type { ObjectPath } from "./loss-report.ts"

export interface ObjectTrail {
  readonly containers: object[]
  /** For each container, the position of the container it was found in; -1 for values of names. */
  readonly parents: number[]
}

export function createObjectTrail(): ObjectTrail {
  return { containers: [], parents: [] }
}

/** Adds a container and returns its position. */
export function addToTrail({ containers, parents }: ObjectTrail, value: object, parent: number): number {
  parents.push(parent)
  return containers.push(value) - 1
}

/** Returns the path of a value in the container at position `parent`. Keys are searched only when a path is needed. */
export function pathOf(
  trail: ObjectTrail,
  value: object,
  parent: number,
  names: Iterable<readonly [string, unknown]>,
): ObjectPath {
  let path = ""
  let inner = value
  for (let at = parent; at !== -1; at = trail.parents[at] ?? -1) {
    const outer = trail.containers[at] ?? {}
    path = pathStep(outer, inner) + path
    inner = outer
  }
  return { name: nameHolding(names, inner), path }
}

/** Returns a key in the form used after a value: `.name` or `["a key"]`. */
export function keyText(key: PropertyKey): string {
  if (typeof key === "symbol") return `[${String(key)}]`
  const text = String(key)
  if (/^\d+$/.test(text)) return `[${text}]`
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`
}

function nameHolding(names: Iterable<readonly [string, unknown]>, value: unknown): string {
  for (const [name, held] of names) if (held === value) return name
  return ""
}

function pathStep(parent: object, value: unknown): string {
  // The object behind a proxy is reported under the proxy's path.
  if (types.isProxy(parent)) return ""
  if (Object.getPrototypeOf(parent) === value) return ".__proto__"
  if (types.isMap(parent)) {
    for (const [key, held] of mapEntries(parent)) {
      if (held === value) return typeof key === "object" ? " (a value)" : `.get(${JSON.stringify(String(key))})`
      if (key === value) return " (a key)"
    }
  }
  if (types.isSet(parent)) return " (a member)"
  const index = Array.isArray(parent) ? Array.prototype.indexOf.call(parent, value) : -1
  if (index !== -1) return `[${index}]`
  for (const key of Reflect.ownKeys(parent)) {
    const descriptor = Object.getOwnPropertyDescriptor(parent, key)
    if (descriptor && "value" in descriptor && descriptor.value === value) return keyText(key)
  }
  return ""
}

function mapEntries(map: Map<unknown, unknown>): [unknown, unknown][] {
  const entries: [unknown, unknown][] = []
  Map.prototype.forEach.call(map, (value, key) => entries.push([key, value]))
  return entries
}
