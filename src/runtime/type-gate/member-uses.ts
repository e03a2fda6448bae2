// Recognizes how a cell uses a member: guarded, written, called, awaited; and finds promises used as values.
import type { Identifier, Literal } from "acorn"
import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { type CellTree, type MemberNode, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"
import type { HostName } from "./host-names.ts"
import { type PromiseMethods, returnsPromise, type Trust } from "./type-trust.ts"
import type { Diagnostic } from "./typescript-checker.ts"

/** Returns true if the code allows the member to be missing: `a.b?.c`, `a.b ?? c`, `if (a.b)`, `typeof a.b`. */
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

/** Assignments that create a missing member. */
const creatingOperators = new Set(["=", "??=", "||="])

/** Returns true if a missing member would throw: it is called, or one of its members is read. */
export function throwsIfMissing(member: MemberNode, tree: CellTree): boolean {
  const parent = tree.parentOf(member)
  if (parent?.type === "CallExpression" || parent?.type === "NewExpression") return parent.callee === member
  return parent?.type === "MemberExpression" && parent.object === member
}

/** Returns true if one await covers a chain of members of a remote object: `await company.address.city`. */
export function isAwaitedAsWhole(member: MemberNode, tree: CellTree, promising: PromiseMethods): boolean {
  let root: AnyNode = member
  while (root.type === "MemberExpression") root = unwrapNode(root.object)
  if (root.type !== "Identifier" || tree.scopes.references.get(root)?.declaration || !promising.has(root.name))
    return false
  let chain: AnyNode = member
  for (let parent = tree.parentOf(chain); parent; parent = tree.parentOf(chain)) {
    if (parent.type === "AwaitExpression") return true
    const continuesChain =
      (parent.type === "MemberExpression" && parent.object === chain) ||
      (parent.type === "CallExpression" && parent.callee === chain && unwrapNode(chain).type === "MemberExpression") ||
      parent.type === "ChainExpression" ||
      parent.type === "ParenthesizedExpression"
    if (!continuesChain) return false
    chain = parent
  }
  return false
}

/** Returns the members that the cell tests for existence or writes, with their nodes. */
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

/** Returns true for a string that tests for a key: `"key" in a`, `Object.hasOwn(a, "key")`, `keys.includes("key")`. */
function isTestedKey(node: AnyNode, { parentOf }: CellTree): node is Literal & AnyNode {
  const parent = node.type === "Literal" ? parentOf(node) : undefined
  if (parent?.type === "BinaryExpression") return parent.operator === "in" && parent.left === node
  if (parent?.type !== "CallExpression" || parent.callee === node) return false
  const callee = unwrapNode(parent.callee)
  return callee.type === "MemberExpression" && keyTests.has(memberKey(callee) ?? "")
}

const keyTests = new Set(["hasOwn", "hasOwnProperty", "has", "includes"])

/** Returns the names whose members are assigned under keys known only at run time: `jobs[key] = await jobs[key]`. */
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

/** Finds promises of host functions that are used where only their values make sense, which TypeScript allows. */
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

  /** Returns the name of a call if it goes to a host function or method that returns a promise. */
  function promiseCalled(node: AnyNode): string | undefined {
    if (node.type !== "CallExpression") return undefined
    const callee = unwrapNode(node.callee)
    if (returnsPromise(callee, tree, promiseMethods)) return `${cell.code.slice(callee.start, callee.end)}()`
    if (callee.type !== "Identifier" || scopes.references.get(callee)?.declaration || cellNames.has(callee.name)) return
    const declared = host.get(callee.name)
    return declared?.kind === "function" && /\): Promise</.test(declared.text) ? `${callee.name}()` : undefined
  }

  /** Returns the name of a variable if it certainly holds such a promise. */
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

/** Returns true if a member is read by an index, or by a key known only at run time. */
function isElement({ computed, property }: MemberNode): boolean {
  return computed && !(property.type === "Literal" && typeof property.value === "string")
}

function isNullish(node: AnyNode): boolean {
  return (node.type === "Identifier" && node.name === "undefined") || (node.type === "Literal" && node.value === null)
}
