// Finds the path from an injected name to an object, such as `accounts.b`, to name it in stored data.
import { types } from "node:util"
import { type Binding, boundValue } from "../bindings.ts"

// Objects beyond this many members have no path. To get one, such an object must be bound itself.
const maxVisited = 10_000

/** The name of an injected object or function, or its path from an injected one through arrays, Maps and own
 *  properties. Undefined if there is none. Runs no code of the objects. */
export function injectedObjectPath(value: object, bindings: ReadonlyMap<string, Binding>): string | undefined {
  for (const [name, binding] of bindings) if (boundValue(binding) === value) return name
  const seen = new Set<unknown>()
  const queue: [path: string, value: unknown][] = []
  for (const [name, binding] of bindings) if (binding.kind === "variable") queue.push([name, binding.value])
  // The list grows while it is read (breadth first), so the shortest path is found first.
  for (const [path, node] of queue) {
    if (node === value) return path
    if (typeof node !== "object" || node === null || types.isProxy(node) || seen.has(node) || ArrayBuffer.isView(node))
      continue
    seen.add(node)
    for (const member of membersOf(path, node)) if (queue.length < maxVisited) queue.push(member)
  }
  return undefined
}

function* membersOf(path: string, value: object): Generator<[string, unknown]> {
  if (types.isMap(value)) {
    for (const [key, member] of Map.prototype.entries.call(value)) {
      if (typeof key === "string" || typeof key === "number") yield [`${path}.get(${JSON.stringify(key)})`, member]
    }
  }
  for (const key of Object.keys(value)) {
    const member: unknown = Object.getOwnPropertyDescriptor(value, key)?.value
    if ((typeof member !== "object" || member === null) && typeof member !== "function") continue
    yield [/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `${path}.${key}` : `${path}[${keyText(key)}]`, member]
  }
}

function keyText(key: string): string {
  return /^\d+$/.test(key) ? key : JSON.stringify(key)
}
