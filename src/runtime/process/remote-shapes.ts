// Describes values of a child for the host's type gate: their members, without running their code. The child describes,
// the host checks the description and builds placeholders with the same members.
import { types } from "node:util"
import { isObject, isRecord } from "../../core/object.ts"
import { isPlain } from "../declare/inspect-value.ts"
import type { Runtime } from "../runtime.ts"
import { isStringArray } from "./child-protocol.ts"

/** The names and nested members that the host asks the child to describe. */
export interface ShapeQuery {
  [name: string]: ShapeQuery
}

/** The description of a value, to the depth of the query. */
export type RemoteShape =
  /** A host object. */
  | { as: "handle"; id: number }
  | { as: "string" | "number" | "boolean" | "bigint" }
  /** `members` includes those of its classes. */
  | { as: "object"; plain: boolean; members: string[]; parts: { [name: string]: RemoteShape } }

type IdOf = (value: object) => number | undefined

/** Called in the child: describes names of the namespace. Names with nothing to describe are left out. */
export async function describeShapes(
  runtime: Runtime,
  wanted: ShapeQuery,
  idOf: IdOf,
): Promise<{ [name: string]: RemoteShape }> {
  const sights: { [name: string]: RemoteShape } = {}
  for (const [name, more] of Object.entries(wanted)) {
    const value = await runtime.retrieve(name).catch(() => undefined)
    const sight = remoteShapeOf(value, more, idOf)
    if (sight) sights[name] = sight
  }
  return sights
}

function remoteShapeOf(value: unknown, wanted: ShapeQuery, idOf: IdOf): RemoteShape | undefined {
  const as = typeof value
  if (as === "string" || as === "number" || as === "boolean" || as === "bigint") return { as }
  if (!isObject(value)) return undefined
  const id = idOf(value)
  if (id !== undefined) return { as: "handle", id }
  const members = membersOf(value)
  if (!members) return undefined
  const parts: { [name: string]: RemoteShape } = {}
  for (const [name, more] of Object.entries(wanted)) {
    const property = Object.getOwnPropertyDescriptor(value, name)
    const part = property && "value" in property ? remoteShapeOf(property.value, more, idOf) : undefined
    if (part) parts[name] = part
  }
  return { as: "object", plain: isPlain(value), members, parts }
}

/** Builds an object with the described members. Members outside the query are undefined, and so are all members of a
 *  handle, because cells read them as promises. */
export function placeholderFor(sight: RemoteShape, find: (id: number) => object | undefined): unknown {
  switch (sight.as) {
    case "handle": {
      const value = find(sight.id)
      const members = value && membersOf(value)
      return members && createPlaceholder(isPlain(value), members, () => undefined)
    }
    case "object":
      return createPlaceholder(sight.plain, sight.members, (name) => {
        const part = Object.hasOwn(sight.parts, name) ? sight.parts[name] : undefined
        return part && placeholderFor(part, find)
      })
    default:
      return primitivePlaceholders[sight.as]
  }
}

/** Checks a child's description of names. Returns undefined if it is invalid. Only members of the query are read: the
 *  rest may be endless or circular. */
export function parseRemoteShapes(value: unknown, wanted: ShapeQuery): Map<string, RemoteShape> | undefined {
  if (!isRecord(value)) return undefined
  const sights = new Map<string, RemoteShape>()
  for (const [name, more] of Object.entries(wanted)) {
    if (!Object.hasOwn(value, name)) continue
    const sight = parseRemoteShape(value[name], more)
    if (!sight) return undefined
    sights.set(name, sight)
  }
  return sights
}

function parseRemoteShape(value: unknown, wanted: ShapeQuery): RemoteShape | undefined {
  if (!isRecord(value)) return undefined
  const { as, id, plain, members, parts: given } = value
  if (as === "handle") return Number.isSafeInteger(id) ? { as, id: Number(id) } : undefined
  if (as === "string" || as === "number" || as === "boolean" || as === "bigint") return { as }
  if (as !== "object" || typeof plain !== "boolean" || !isStringArray(members) || members.length > maxMembers) return
  const parts = parseRemoteShapes(given, wanted)
  return parts && { as, plain, members, parts: Object.fromEntries(parts) }
}

const primitivePlaceholders = { string: "", number: 0, boolean: false, bigint: 0n }

/** Returns the names of all own and inherited members, or undefined if there are too many or a Proxy hides them. */
function membersOf(value: object): string[] | undefined {
  const names = new Set<string>()
  for (let holder: object | null = value; holder; holder = Object.getPrototypeOf(holder)) {
    if (types.isProxy(holder)) return undefined
    for (const name of Object.getOwnPropertyNames(holder)) names.add(name)
    if (names.size > maxMembers) return undefined
  }
  names.delete("__proto__")
  return [...names]
}

const maxMembers = 1_000

class Instance {}

function createPlaceholder(plain: boolean, members: readonly string[], partNamed: (name: string) => unknown): object {
  const made: object = Object.create(plain ? Object.prototype : Instance.prototype)
  for (const name of members) Object.defineProperty(made, name, { value: partNamed(name) })
  return made
}
