// Reads as much of a JavaScript value as a budget can show. Runs no getters and no code of the value, except its
// `inspect.custom`.
import { type InspectOptions, inspect, types } from "node:util"
import { inspectSafely, isInspectCut } from "./inspect-safely.ts"
import { type ShownGroup, type ShownMember, type ShownNode, type ShowStyle, shareFairly } from "./shown-tree.ts"

/** Reads level by level, so that upper levels are complete before lower ones begin. `maxMembers` is for all levels. */
export function readValue(value: unknown, style: ShowStyle, maxMembers: number): ShownNode {
  const root = openNode({ value, style, parent: undefined })
  let level = "source" in root ? [root] : []
  let left = maxMembers
  for (let depth = 0; depth < maxDepth && level.length > 0 && left > 0; depth++) {
    const shares = shareFairly(
      level.map(({ source, node }) => Math.min(source.limit(left), node.total)),
      left,
    )
    const next: OpenGroup[] = []
    for (const [at, group] of level.entries()) {
      const read = group.source.read(shares[at] ?? 0)
      left -= read.length
      for (const { value: inner, node, ...label } of read) {
        const opened = node ? { node } : openNode({ value: inner, style, parent: group })
        group.node.members.push({ ...label, node: opened.node })
        if ("source" in opened) next.push(opened)
      }
    }
    level = next
  }
  return root.node
}

const maxDepth = 10
const maxKeys = 200

interface Opening {
  value: unknown
  style: ShowStyle
  parent: OpenGroup | undefined
}

interface OpenGroup {
  node: ShownGroup
  value: unknown
  parent: OpenGroup | undefined
  source: MemberSource
}

interface MemberSource {
  /** The most members that are read, if `left` members can be read in all. */
  limit(left: number): number
  read(count: number): ReadMember[]
}

/** A member with its value, or with its node if that is known already. */
type ReadMember = Omit<ShownMember, "node"> & { value?: unknown; node?: ShownNode }

function openNode(opening: Opening): OpenGroup | { node: ShownNode } {
  const { value, style, parent } = opening
  if (typeof value === "string") return { node: { kind: "string", value } }
  if (SourceNumber.is(value)) return text(value.source)
  if (typeof value === "number" && value !== 0) return text(String(value))
  if (typeof value !== "object" || value === null) return text(inspectSafely(value, leafOptions))
  for (let up = parent; up; up = up.parent) if (up.value === value) return text("[Circular]")
  const group = openGroup(value, style, parent !== undefined)
  if (group) return { ...group, value, parent }
  const shown = inspectSafely(value, parent ? nestedOptions : rootOptions)
  return { node: { kind: "text", text: shown, cut: isInspectCut(shown) } }
}

/** A number of a JSON text that JavaScript cannot represent exactly. */
export class SourceNumber {
  readonly source: string
  readonly #mark = true

  constructor(source: string) {
    this.source = source
  }

  /** Unlike `instanceof`, this runs no code of the value. */
  static is(value: unknown): value is SourceNumber {
    return typeof value === "object" && value !== null && #mark in value
  }
}

function text(shown: string): { node: ShownNode } {
  return { node: { kind: "text", text: shown } }
}

type Group = Pick<OpenGroup, "node" | "source">

/** Returns undefined for a value that `inspect` shows. */
function openGroup(value: object, style: ShowStyle, isNested: boolean): Group | undefined {
  if (types.isProxy(value) || hasCustomInspect(value)) return undefined
  const name = className(value)
  if (Array.isArray(value)) return openArray(value, name, style)
  if (types.isTypedArray(value)) return openTypedArray(value, name)
  if (types.isMap(value)) return openMap(value, name, style)
  if (types.isSet(value)) return openSet(value, name)
  if (types.isNativeError(value)) return isNested ? openError(value, name, style) : undefined
  if (isOpaque(value)) return undefined
  const keys = enumerableKeys(value)
  return openRecord(value, keys, name === "Object" ? "" : `${name ?? "[Object: null prototype]"} `, style)
}

function openRecord(value: object, keys: readonly PropertyKey[], prefix: string, style: ShowStyle): Group {
  return {
    node: createGroup({ prefix, brackets: ["{", "}"], noun: "key", total: keys.length }),
    source: {
      limit: () => maxKeys,
      read: (count) => keys.slice(0, count).map((key) => readProperty(value, key, style)),
    },
  }
}

function openArray(value: readonly unknown[], name: string | undefined, style: ShowStyle): Group {
  const { length } = value
  const extra = length <= maxCheckedLength ? enumerableKeys(value).filter((key) => !isIndex(key, length)) : []
  const read = (count: number): ReadMember[] => {
    const members: ReadMember[] = []
    for (let index = 0; index < length && members.length < count; index++) {
      if (Object.hasOwn(value, index)) members.push(readProperty(value, index, style, true))
      else {
        const from = index
        while (index + 1 < length && index - from < maxCheckedLength && !Object.hasOwn(value, index + 1)) index++
        const empty = index - from + 1
        members.push({ joint: "", node: { kind: "text", text: `<${empty} empty item${empty === 1 ? "" : "s"}>` } })
        if (empty > maxCheckedLength) return members
        // All of them are one member of the group.
        node.total -= empty - 1
      }
    }
    return [...members, ...extra.slice(0, count - members.length).map((key) => readProperty(value, key, style))]
  }
  const prefix = name === "Array" ? "" : `${name ?? "[Array: null prototype]"}(${length}) `
  const node = createGroup({ prefix, brackets: ["[", "]"], noun: "item", total: length + extra.length })
  return { node, source: { limit: itemLimit(Object.getOwnPropertyDescriptor(value, 0)?.value), read } }
}

function openTypedArray(value: NodeJS.TypedArray, name = "TypedArray"): Group {
  const { length } = value
  const read = (count: number) =>
    Array.from({ length: Math.min(count, length) }, (_none, index): ReadMember => ({ joint: "", value: value[index] }))
  return {
    node: createGroup({ prefix: `${name}(${length}) `, brackets: ["[", "]"], noun: "item", total: length }),
    source: { limit: itemLimit(0), read },
  }
}

// The methods of the platform's prototype, because those of a subclass are code of the value.
function openMap(value: ReadonlyMap<unknown, unknown>, name = "Map", style: ShowStyle): Group {
  const size = Number(Reflect.get(Map.prototype, "size", value))
  const read = (count: number) =>
    takeFirst(Map.prototype.entries.call(value), count).map(([key, inner]): ReadMember => {
      return { key: mapKey(key, style), joint: " => ", value: inner }
    })
  return {
    node: createGroup({ prefix: `${name}(${size}) `, brackets: ["{", "}"], noun: "entry", total: size }),
    source: { limit: () => maxKeys, read },
  }
}

function openSet(value: ReadonlySet<unknown>, name = "Set"): Group {
  const size = Number(Reflect.get(Set.prototype, "size", value))
  const read = (count: number) =>
    takeFirst(Set.prototype.values.call(value), count).map((inner): ReadMember => ({ joint: "", value: inner }))
  return {
    node: createGroup({ prefix: `${name}(${size}) `, brackets: ["{", "}"], noun: "item", total: size }),
    source: { limit: itemLimit(0), read },
  }
}

/** An error inside another value, without its stack. */
function openError(value: Error, name = "Error", style: ShowStyle): Group {
  const own = ["cause", "errors"].filter((key) => Object.hasOwn(value, key))
  const keys = [...own, ...enumerableKeys(value).filter((key) => key !== "cause" && key !== "errors")]
  const message = dataProperty(value, "message")
  const shownName = dataProperty(value, "name")
  const title = typeof shownName === "string" && shownName !== "Error" ? shownName : name
  const prefix = `[${title}${typeof message === "string" && message ? `: ${message.slice(0, 500)}` : ""}]`
  const group = openRecord(value, keys, keys.length > 0 ? `${prefix} ` : prefix, style)
  return keys.length > 0 ? group : { ...group, node: { ...group.node, brackets: ["", ""] } }
}

// The rest is for the members of items and of other groups.
function itemLimit(first: unknown): MemberSource["limit"] {
  return (left) =>
    typeof first === "object" && first !== null ? Math.max(2, Math.ceil(left / 8)) : Math.ceil(left / 2)
}

function createGroup(facts: Pick<ShownGroup, "prefix" | "brackets" | "noun" | "total">): ShownGroup {
  return { kind: "group", members: [], showsAll: facts.noun !== "item", ...facts }
}

function readProperty(value: object, key: PropertyKey, style: ShowStyle, isItem = false): ReadMember {
  const descriptor = Object.getOwnPropertyDescriptor(value, key)
  const label = isItem ? { joint: "" } : { key: keyText(key, style), joint: ": " }
  if (!descriptor || "value" in descriptor) return { ...label, value: descriptor?.value }
  const accessor = descriptor.get && descriptor.set ? "Getter/Setter" : descriptor.get ? "Getter" : "Setter"
  return { ...label, node: { kind: "text", text: `[${accessor}]` } }
}

function keyText(key: PropertyKey, style: ShowStyle): string {
  return typeof key === "symbol" ? `[${String(key).slice(0, 100)}]` : style.key(String(key).slice(0, 1000))
}

function mapKey(key: unknown, style: ShowStyle): string {
  return typeof key === "string" ? style.quote(key.slice(0, 1000)) : inspectSafely(key, keyOptions).slice(0, 100)
}

function enumerableKeys(value: object): PropertyKey[] {
  const symbols = Object.getOwnPropertySymbols(value)
  const keys: PropertyKey[] = Object.keys(value)
  return symbols.length === 0
    ? keys
    : keys.concat(symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)))
}

function isIndex(key: PropertyKey, length: number): boolean {
  return typeof key === "string" && /^\d+$/.test(key) && Number(key) < length
}

function takeFirst<T>(items: Iterator<T>, count: number): T[] {
  const taken: T[] = []
  for (let next = items.next(); !next.done && taken.length < count; next = items.next()) taken.push(next.value)
  return taken
}

/** The name of the class as its prototypes state it in data properties; undefined without a prototype. */
function className(value: object): string | undefined {
  for (const prototype of prototypesOf(value)) {
    const made = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
    if (typeof made !== "function" || types.isProxy(made)) continue
    const name = Object.getOwnPropertyDescriptor(made, "name")?.value
    if (typeof name === "string" && name !== "") return name.slice(0, 100)
  }
  return undefined
}

/** The value's own state and its prototypes. A proxy ends the list, because reading it would run its code. */
function* prototypesOf(value: object): Generator<object> {
  let prototype: object | null = value
  for (let count = 0; prototype && count < 100 && !types.isProxy(prototype); count++) {
    yield prototype
    prototype = Object.getPrototypeOf(prototype)
  }
}

function hasCustomInspect(value: object): boolean {
  for (const owner of prototypesOf(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, inspect.custom)
    if (descriptor) return typeof descriptor.value === "function"
  }
  return false
}

function dataProperty(value: object, key: string): unknown {
  for (const owner of prototypesOf(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, key)
    if (descriptor) return descriptor.value
  }
  return undefined
}

/** Values whose state is not in their properties. */
function isOpaque(value: object): boolean {
  return (
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isBoxedPrimitive(value) ||
    types.isPromise(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isDataView(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    types.isGeneratorObject(value) ||
    types.isMapIterator(value) ||
    types.isSetIterator(value) ||
    types.isArgumentsObject(value) ||
    types.isModuleNamespaceObject(value) ||
    types.isExternal(value)
  )
}

const maxCheckedLength = 1000
const leafOptions: InspectOptions = { breakLength: Number.POSITIVE_INFINITY, depth: 0 }
const keyOptions: InspectOptions = { ...leafOptions, maxArrayLength: 3, maxStringLength: 30 }
const nestedOptions: InspectOptions = { depth: 1, maxArrayLength: 20, maxStringLength: 1000, breakLength: 80 }
const rootOptions: InspectOptions = { depth: 4, maxArrayLength: 100, maxStringLength: 10_000, breakLength: 100 }
