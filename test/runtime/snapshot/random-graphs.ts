import { types } from "node:util"
import fc from "../../property.ts"

/** Random object graphs: containers of several kinds that hold plain values and each other, with aliases and cycles. */
export interface Plan {
  kinds: Kind[]
  links: Link[]
}

type Kind = "object" | "array" | "map" | "set" | "bare" | "date" | "bytes"

interface Link {
  from: number
  to: number
  key: string
  /** The value to insert if the link leads to no container. */
  plain: unknown
  isPlain: boolean
}

const plain = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, Number.NaN),
  fc.bigInt(),
)
const link = fc.record({
  from: fc.nat(30),
  to: fc.nat(30),
  key: fc.string({ maxLength: 3 }),
  plain,
  isPlain: fc.boolean(),
})
const kind = fc.constantFrom<Kind[]>("object", "array", "map", "set", "bare", "date", "bytes")

export const plans: fc.Arbitrary<Plan> = fc.record({
  kinds: fc.array(kind, { minLength: 1, maxLength: 12 }),
  links: fc.array(link, { maxLength: 40 }),
})

/** Creates the containers of a plan and links them. */
export function build({ kinds, links }: Plan): object[] {
  const nodes = kinds.map(create)
  for (const each of links) apply(nodes, each)
  return nodes
}

/** Changes containers as a plan says. */
export function mutateGraph(nodes: object[], { links, kinds }: Plan): void {
  const fresh = kinds.map(create)
  for (const each of links) apply(each.isPlain ? nodes : [...nodes, ...fresh], each)
  for (const { from, key } of links) {
    const node = nodes[from % nodes.length]
    if (Array.isArray(node) && key.length > 1) node.length = Math.max(0, node.length - 2)
    else if (node instanceof Map) node.delete(key)
    else if (node && !ArrayBuffer.isView(node)) Reflect.deleteProperty(node, key)
  }
}

/** Returns every object that is reachable from the values, with its contents. */
export function contentsOf(values: Iterable<unknown>): Map<object, unknown[]> {
  const contents = new Map<object, unknown[]>()
  const waiting = [...values]
  for (let value = waiting.shift(); waiting.length > 0 || value !== undefined; value = waiting.shift()) {
    if (typeof value !== "object" || value === null || contents.has(value)) continue
    const held = heldBy(value)
    contents.set(value, held)
    waiting.push(...held.filter((part) => typeof part === "object" && part !== null))
  }
  return contents
}

/** Returns true if two graphs have equal values and share objects in the same places. */
export function isSameGraph(one: unknown, other: unknown): boolean {
  const pairs = new Map<unknown, unknown>()
  const taken = new Set<unknown>()
  const same = (a: unknown, b: unknown): boolean => {
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return Object.is(a, b)
    if (pairs.has(a)) return pairs.get(a) === b
    if (taken.has(b) || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
    pairs.set(a, b)
    taken.add(b)
    const [left, right] = [heldBy(a), heldBy(b)]
    return left.length === right.length && left.every((part, at) => same(part, right[at]))
  }
  return same(one, other)
}

function create(kind: Kind): object {
  switch (kind) {
    case "object":
      return {}
    case "array":
      return []
    case "map":
      return new Map()
    case "set":
      return new Set()
    case "bare":
      return Object.create(null)
    case "date":
      return new Date(0)
    case "bytes":
      return new Uint8Array(4)
  }
}

function apply(nodes: object[], { from, to, key, plain, isPlain }: Link): void {
  const node = nodes[from % nodes.length]
  const value = isPlain ? plain : nodes[to % nodes.length]
  if (Array.isArray(node)) node[key.length % 2 ? node.length : to % 8] = value
  else if (node instanceof Map) node.set(isPlain ? key : value, value)
  else if (node instanceof Set) node.add(value)
  else if (node instanceof Date) node.setTime(to)
  else if (node instanceof Uint8Array) node[from % 4] = to
  // Defines an own property, even if an accessor has the same name.
  else if (node) Object.defineProperty(node, key, { value, writable: true, enumerable: true, configurable: true })
}

function heldBy(value: object): unknown[] {
  if (types.isMap(value)) return ["map", ...[...value].flat()]
  if (types.isSet(value)) return ["set", ...value]
  if (types.isDate(value)) return ["date", value.getTime()]
  if (types.isUint8Array(value)) return ["bytes", ...value]
  const kind = Array.isArray(value) ? ["array", value.length] : ["object"]
  return [...kind, ...Object.entries(value).flat()]
}
