import { types } from "node:util"
import type { AnyNode } from "../compiler/parse-cell.ts"
import { isPlain } from "../declare/inspect-value.ts"
import { type CellTree, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"

/** What the running values say about `object.key`: it is there; it is not, for certain; or that cannot be known. */
export type Presence = "there" | "missing" | "unknown"

/** Looks for a member in the running value that an expression stands for before the cell begins. Nothing of the values is
 *  run: only plain properties of the namespace's objects are followed, and proxies are left alone. */
export function findLiveMember(
  object: AnyNode,
  key: string,
  spelt: boolean,
  tree: CellTree,
  values: ReadonlyMap<string, unknown>,
): Presence {
  const found = liveValue(object, tree, values)
  if (!found || types.isProxy(found.value)) return "unknown"
  const { value } = found
  if (value === null || value === undefined) return "unknown"
  if (key in Object(value)) return "there"
  if (typeof value !== "object" && typeof value !== "function") return "missing"
  // What the cell does with the object before may give it the member, unless it is plainly a misspelling of another.
  const isInstance = !isPlain(value)
  return mayBeChangedBefore(object, tree, isInstance && spelt) ? "unknown" : "missing"
}

/** Whether values of a type of the language have a member in this very program: somebody may have put it there. */
export function isBuiltinMember(type: string, key: string): boolean {
  const [, name = ""] = /^(?:readonly )?([A-Za-z]\w*)/.exec(type) ?? []
  const isText = name === "string" || /^["`]/.test(type)
  const home = type.endsWith("]") ? "Array" : isText ? "String" : /^-?\d|^number$/.test(type) ? "Number" : name
  const maker: unknown = languageClasses.has(home)
    ? Object.getOwnPropertyDescriptor(globalThis, home)?.value
    : undefined
  return typeof maker === "function" && Object.hasOwn(Object(maker.prototype), key)
}

/** The names of the members of the running value that an expression stands for; none when it is not known. */
export function liveMemberNames(object: AnyNode, tree: CellTree, values: ReadonlyMap<string, unknown>): string[] {
  const names: string[] = []
  const { value } = liveValue(object, tree, values) ?? {}
  if (value === null || value === undefined) return names
  for (let at: object | null = Object(value); at && !types.isProxy(at); at = Object.getPrototypeOf(at)) {
    if (names.length > maxMembers) break
    names.push(...Object.getOwnPropertyNames(at).slice(0, maxMembers))
  }
  return names
}

const maxMembers = 500

function liveValue(
  node: AnyNode,
  tree: CellTree,
  values: ReadonlyMap<string, unknown>,
): { value: unknown } | undefined {
  const inner = unwrapNode(node)
  if (inner.type === "Identifier") {
    const { name } = inner
    const free = tree.scopes.references.get(inner)
    if (!free || free.declaration || isNameAssigned(name, tree)) return undefined
    if (values.has(name)) return { value: values.get(name) }
    return languageClasses.has(name) ? { value: Object.getOwnPropertyDescriptor(globalThis, name)?.value } : undefined
  }
  if (inner.type !== "MemberExpression") return undefined
  const key = memberKey(inner)
  const holder = key === undefined ? undefined : liveValue(inner.object, tree, values)
  if (key === undefined || !holder || Object(holder.value) !== holder.value || types.isProxy(holder.value)) {
    return undefined
  }
  const property = Object.getOwnPropertyDescriptor(holder.value, key)
  return property && "value" in property ? { value: property.value } : undefined
}

/** Classes of the language, which every cell sees as they are. */
const languageClasses = new Set(
  `Object Array String Number Boolean BigInt Symbol Function RegExp Map Set WeakMap WeakSet Promise Error ArrayBuffer
  Uint8Array Float64Array Int32Array Iterator`.split(/\s+/),
)

function isNameAssigned(name: string, { scopes }: CellTree): boolean {
  return scopes.references.values().some((reference) => reference.name === name && reference.write)
}

/** Whether the cell hands on the object, writes to it or, unless `calls` are allowed, calls a method of it before. */
function mayBeChangedBefore(object: AnyNode, tree: CellTree, calls: boolean): boolean {
  const root = rootIdentifier(object)
  return tree.scopes.references.values().some(({ name, node }) => {
    if (name !== root?.name || node === root || node.start > object.start) return false
    let top: AnyNode = node
    for (let parent = tree.parentOf(top); parent?.type === "MemberExpression" && parent.object === top; ) {
      top = parent
      parent = tree.parentOf(top)
    }
    const parent = tree.parentOf(top)
    if (parent?.type === "CallExpression" && parent.callee === top && top !== node) return !calls
    return top === node || parent?.type === "AssignmentExpression"
  })
}
