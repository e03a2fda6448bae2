import { types } from "node:util"
import type { ObjectPath } from "./loss-report.ts"

/** The containers a walk went through, and from where each was found. */
export interface ObjectTrail {
  readonly containers: object[]
  /** The position in `found` of what led here; -1 for the values of names. */
  readonly parents: number[]
}

export function createObjectTrail(): ObjectTrail {
  return { containers: [], parents: [] }
}

/** Notes a container and gives its position. */
export function addToTrail({ containers: found, parents: from }: ObjectTrail, value: object, above: number): number {
  from.push(above)
  return found.push(value) - 1
}

/** Where a value is that was found in the container at a position. Keys are looked up only now: most walks never ask. */
export function pathOf(
  trail: ObjectTrail,
  value: object,
  above: number,
  names: ReadonlyMap<string, unknown>,
): ObjectPath {
  let path = ""
  let inner = value
  for (let at = above; at !== -1; at = trail.parents[at] ?? -1) {
    const outer = trail.containers[at] ?? {}
    path = pathStep(outer, inner) + path
    inner = outer
  }
  return { name: nameHolding(names, inner), path }
}

/** A key as people would write it after a value. */
export function keyText(key: PropertyKey): string {
  if (typeof key === "symbol") return `[${String(key)}]`
  const text = String(key)
  if (/^\d+$/.test(text)) return `[${text}]`
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`
}

function nameHolding(names: ReadonlyMap<string, unknown>, value: unknown): string {
  for (const [name, held] of names) if (held === value) return name
  return ""
}

function pathStep(parent: object, value: unknown): string {
  // What is behind a proxy goes by its name.
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
