// Looks up members in the values that exist before a cell runs, without running code of these values.
import { types } from "node:util"
import type { AnyNode } from "../compiler/parse-cell.ts"
import { isPlain } from "../declare/inspect-value.ts"
import { type CellTree, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"

/** Whether `object.key` exists: yes, certainly not, or unknown. */
export type Presence = "there" | "missing" | "unknown"

/** Looks for a member in the value of an expression before the cell runs. Follows only plain properties of the
 *  namespace's objects, and no proxies, so that no code of the values runs. */
export function findLiveMember(
  object: AnyNode,
  key: string,
  isMisspelling: boolean,
  tree: CellTree,
  values: ReadonlyMap<string, unknown>,
): Presence {
  const live = liveValue(object, tree, values)
  if (!live || types.isProxy(live.value)) return "unknown"
  const { value } = live
  if (value === null || value === undefined) return "unknown"
  if (key in Object(value)) return "there"
  if (typeof value !== "object" && typeof value !== "function") return "missing"
  // Earlier code of the cell may add the member, unless its name is clearly a misspelling of another member.
  const isInstance = !isPlain(value)
  return mayBeChangedBefore(object, tree, isInstance && isMisspelling) ? "unknown" : "missing"
}

/** Returns true if a built-in type has the member in this program, which may have extended its prototype. */
export function isBuiltinMember(type: string, key: string): boolean {
  const [, name = ""] = /^(?:readonly )?([A-Za-z]\w*)/.exec(type) ?? []
  const isText = name === "string" || /^["`]/.test(type)
  const home = type.endsWith("]") ? "Array" : isText ? "String" : /^-?\d|^number$/.test(type) ? "Number" : name
  const maker: unknown = languageClasses.has(home)
    ? Object.getOwnPropertyDescriptor(globalThis, home)?.value
    : undefined
  return typeof maker === "function" && Object.hasOwn(Object(maker.prototype), key)
}

/** Returns the member names of the value of an expression; none if the value is unknown. */
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
    const reference = tree.scopes.references.get(inner)
    if (!reference || reference.declaration || isNameAssigned(name, tree)) return undefined
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

/** Built-in classes that every cell can use. */
const languageClasses = new Set(
  `Object Array String Number Boolean BigInt Symbol Function RegExp Map Set WeakMap WeakSet Promise Error ArrayBuffer
  Uint8Array Float64Array Int32Array Iterator`.split(/\s+/),
)

function isNameAssigned(name: string, { scopes }: CellTree): boolean {
  return scopes.references.values().some((reference) => reference.name === name && reference.write)
}

/** Returns true if earlier code passes on the object, writes to it or, unless allowed, calls its methods. */
function mayBeChangedBefore(object: AnyNode, tree: CellTree, allowsCalls: boolean): boolean {
  const root = rootIdentifier(object)
  return tree.scopes.references.values().some(({ name, node }) => {
    if (name !== root?.name || node === root || node.start > object.start) return false
    let top: AnyNode = node
    for (let parent = tree.parentOf(top); parent?.type === "MemberExpression" && parent.object === top; ) {
      top = parent
      parent = tree.parentOf(top)
    }
    const parent = tree.parentOf(top)
    if (parent?.type === "CallExpression" && parent.callee === top && top !== node) return !allowsCalls
    return top === node || parent?.type === "AssignmentExpression"
  })
}
