import type { Identifier, Literal } from "acorn"
import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { type CellTree, type MemberNode, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"
import type { HostName } from "./host-names.ts"
import { type PromiseMethods, returnsPromise, type Trust } from "./type-trust.ts"
import type { Diagnostic } from "./typescript-checker.ts"

/** Whether a member is only asked for, so that it may well be missing: `a.b?.c`, `a.b ?? c`, `if (a.b)`, `typeof a.b`. */
export function isOptionalRead(member: MemberNode, tree: CellTree): boolean {
  let node: AnyNode = member
  for (let parent = tree.parentOf(node); parent; parent = tree.parentOf(node)) {
    switch (parent.type) {
      case "ChainExpression":
      case "ParenthesizedExpression":
        break
      case "MemberExpression":
        return parent.object === node && parent.optional
      case "CallExpression":
        return parent.callee === node && parent.optional
      case "UnaryExpression":
        if (parent.operator === "typeof") return true
        if (parent.operator !== "!") return false
        break
      case "LogicalExpression":
        if (parent.left === node) return true
        break
      case "BinaryExpression":
        return isNullish(parent.left) || isNullish(parent.right)
      case "ConditionalExpression":
      case "IfStatement":
        return parent.test === node
      default:
        return false
    }
    node = parent
  }
  return false
}

export function isWritten(member: MemberNode, tree: CellTree): boolean {
  const parent = tree.parentOf(member)
  if (parent?.type === "AssignmentExpression") return parent.left === member && creatingOperators.has(parent.operator)
  return parent?.type === "UnaryExpression" && parent.operator === "delete"
}

/** Assignments that make what is not there. */
const creatingOperators = new Set(["=", "??=", "||="])

/** Whether a missing member would throw: it is called, or asked for a member of its own. */
export function throwsIfMissing(member: MemberNode, tree: CellTree): boolean {
  const parent = tree.parentOf(member)
  if (parent?.type === "CallExpression" || parent?.type === "NewExpression") return parent.callee === member
  return parent?.type === "MemberExpression" && parent.object === member
}

/** Whether a member of a member of an object elsewhere is read with one await for all: `await company.address.city`. */
export function isAwaitedAsWhole(member: MemberNode, tree: CellTree, promising: PromiseMethods): boolean {
  let root: AnyNode = member
  while (root.type === "MemberExpression") root = unwrapNode(root.object)
  if (root.type !== "Identifier" || tree.scopes.references.get(root)?.declaration || !promising.has(root.name))
    return false
  let top: AnyNode = member
  for (let parent = tree.parentOf(top); parent; parent = tree.parentOf(top)) {
    if (parent.type === "AwaitExpression") return true
    const goesOn =
      (parent.type === "MemberExpression" && parent.object === top) ||
      (parent.type === "CallExpression" && parent.callee === top && unwrapNode(top).type === "MemberExpression") ||
      parent.type === "ChainExpression" ||
      parent.type === "ParenthesizedExpression"
    if (!goesOn) return false
    top = parent
  }
  return false
}

/** The names of members that the cell asks for before it uses them, or gives to an object itself, and where. */
export function testedMembers(cell: ParsedCell, tree: CellTree): { name: string; node: AnyNode }[] {
  const found: { name: string; node: AnyNode }[] = []
  walk(
    cell.program,
    (node) => {
      if (isTestedKey(node, tree) && typeof node.value === "string") found.push({ name: node.value, node })
      if (node.type !== "MemberExpression" || node.property.type !== "Identifier" || node.computed) return
      if (isOptionalRead(node, tree) || isWritten(node, tree))
        found.push({ name: node.property.name, node: node.property })
    },
    { types: false },
  )
  return found
}

/** Whether a text is a key that somebody may have or not: `"key" in a`, `Object.hasOwn(a, "key")`, `keys.includes("key")`. */
function isTestedKey(node: AnyNode, { parentOf }: CellTree): node is Literal & AnyNode {
  const parent = node.type === "Literal" ? parentOf(node) : undefined
  if (parent?.type === "BinaryExpression") return parent.operator === "in" && parent.left === node
  if (parent?.type !== "CallExpression" || parent.callee === node) return false
  const callee = unwrapNode(parent.callee)
  return callee.type === "MemberExpression" && keyTests.has(memberKey(callee) ?? "")
}

const keyTests = new Set(["hasOwn", "hasOwnProperty", "has", "includes"])

/** Names whose members are assigned by keys that only the running program knows: `jobs[key] = await jobs[key]`. */
export function namesAssignedByUnknownKey(cell: ParsedCell): string[] {
  const names: string[] = []
  walk(
    cell.program,
    (node) => {
      if (node.type !== "AssignmentExpression" || node.left.type !== "MemberExpression") return
      const name = rootIdentifier(node.left)?.name
      if (name !== undefined && memberKey(node.left) === undefined) names.push(name)
    },
    { types: false },
  )
  return names
}

interface PromiseKnowledge {
  host: ReadonlyMap<string, HostName>
  cellNames: ReadonlyMap<string, { text: string; trust: Trust }>
  promiseMethods: PromiseMethods
}

/** Promises of the host's functions and methods where only their values make sense; TypeScript has nothing against them. */
export function findPromisesUsedAsValues(
  cell: ParsedCell,
  tree: CellTree,
  { host, cellNames, promiseMethods }: PromiseKnowledge,
): Diagnostic[] {
  const { scopes, parentOf } = tree
  const found: Diagnostic[] = []
  walk(
    cell.program,
    (node) => {
      const parent = parentOf(node)
      const isIndexed = parent?.type === "MemberExpression" && parent.object === node && isElement(parent)
      const isText = parent?.type === "TemplateLiteral" && parentOf(parent)?.type !== "TaggedTemplateExpression"
      const name = node.type === "Identifier" && (isIndexed || isText) ? promiseNamed(node) : promiseCalled(node)
      if (name === undefined) return
      const isValue =
        isIndexed ||
        isText ||
        (parent?.type === "UnaryExpression" && parent.operator === "!") ||
        ((parent?.type === "IfStatement" ||
          parent?.type === "ConditionalExpression" ||
          parent?.type === "WhileStatement") &&
          parent.test === node)
      if (!isValue) return
      const message = `\`${name}\` is a Promise, which is used as a value here.`
      found.push({ code: 2801, message, start: node.start, end: node.end, suggestsAwait: true, causes: [] })
    },
    { types: false },
  )
  return found

  /** A call of a function or method of the host that gives a promise. */
  function promiseCalled(node: AnyNode): string | undefined {
    if (node.type !== "CallExpression") return undefined
    const callee = unwrapNode(node.callee)
    if (returnsPromise(callee, tree, promiseMethods)) return `${cell.code.slice(callee.start, callee.end)}()`
    if (callee.type !== "Identifier" || scopes.references.get(callee)?.declaration || cellNames.has(callee.name)) return
    const declared = host.get(callee.name)
    return declared?.kind === "function" && /\): Promise</.test(declared.text) ? `${callee.name}()` : undefined
  }

  /** A name that stands for such a promise and for nothing else. */
  function promiseNamed(node: Identifier): string | undefined {
    const reference = scopes.references.get(node)
    if (!reference) return undefined
    const { declaration } = reference
    if (!declaration) {
      const { text = "", trust } = cellNames.get(node.name) ?? {}
      const isKnown = /^declare let [^:]+: Promise</.test(text) && (trust === "computed" || trust === "declared")
      const isWrittenHere = scopes.references.values().some(({ name, write }) => write && name === node.name)
      return isKnown && !isWrittenHere ? node.name : undefined
    }
    if (declaration.kind !== "const" || declaration.path.length > 0 || !declaration.init) return undefined
    return promiseCalled(unwrapNode(declaration.init)) === undefined ? undefined : node.name
  }
}

/** Whether a member is asked for by a position, or by a key that only the running program knows. */
function isElement({ computed, property }: MemberNode): boolean {
  return computed && !(property.type === "Literal" && typeof property.value === "string")
}

function isNullish(node: AnyNode): boolean {
  return (node.type === "Identifier" && node.name === "undefined") || (node.type === "Literal" && node.value === null)
}
