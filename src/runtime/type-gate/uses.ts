import type { Identifier } from "acorn"
import { type AnyNode, type ParsedCell, walk } from "../syntax.ts"
import { bare, type CellTree, keyOf, type MemberNode, rootOf } from "./cell-tree.ts"
import type { Diagnostic } from "./checker.ts"
import type { HostName } from "./host-names.ts"

/** Whether a member is only asked for, so that it may well be missing: `a.b?.c`, `a.b ?? c`, `if (a.b)`, `typeof a.b`. */
export function isGuarded(member: MemberNode, tree: CellTree): boolean {
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
        return isNothing(parent.left) || isNothing(parent.right)
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
  if (parent?.type === "AssignmentExpression") return parent.left === member && parent.operator === "="
  return parent?.type === "UnaryExpression" && parent.operator === "delete"
}

/** Whether a missing member would throw: it is called, or asked for a member of its own. */
export function isCalledOrEntered(member: MemberNode, tree: CellTree): boolean {
  const parent = tree.parentOf(member)
  if (parent?.type === "CallExpression" || parent?.type === "NewExpression") return parent.callee === member
  return parent?.type === "MemberExpression" && parent.object === member
}

/** The names of members that the cell asks for before it uses them, or gives to an object itself. */
export function doubtedMembers(cell: ParsedCell, tree: CellTree): Identifier[] {
  const found: Identifier[] = []
  walk(
    cell.program,
    (node) => {
      if (node.type !== "MemberExpression" || node.property.type !== "Identifier" || node.computed) return
      if (isGuarded(node, tree) || isWritten(node, tree)) found.push(node.property)
    },
    { types: false },
  )
  return found
}

/** Names whose members are assigned by keys that only the running program knows: `jobs[key] = await jobs[key]`. */
export function namesFilledByKey(cell: ParsedCell): string[] {
  const names: string[] = []
  walk(
    cell.program,
    (node) => {
      if (node.type !== "AssignmentExpression" || node.left.type !== "MemberExpression") return
      const name = rootOf(node.left)?.name
      if (name !== undefined && keyOf(node.left) === undefined) names.push(name)
    },
    { types: false },
  )
  return names
}

/** Promises of the host's functions where only their values make sense; TypeScript has nothing against them. */
export function promisesAsValues(
  cell: ParsedCell,
  { scopes, parentOf }: CellTree,
  host: ReadonlyMap<string, HostName>,
  made: ReadonlyMap<string, unknown>,
): Diagnostic[] {
  const found: Diagnostic[] = []
  walk(
    cell.program,
    (node) => {
      if (node.type !== "CallExpression") return
      const callee = bare(node.callee)
      if (callee.type !== "Identifier" || scopes.references.get(callee)?.declaration) return
      if (made.has(callee.name)) return
      const declared = host.get(callee.name)
      if (declared?.kind !== "function" || !/\): Promise</.test(declared.text)) return
      const parent = parentOf(node)
      const isValue =
        parent?.type === "TemplateLiteral" ||
        (parent?.type === "UnaryExpression" && parent.operator === "!") ||
        ((parent?.type === "IfStatement" ||
          parent?.type === "ConditionalExpression" ||
          parent?.type === "WhileStatement") &&
          parent.test === node)
      if (!isValue) return
      const message = `\`${callee.name}()\` gives a Promise, which is used as a value here.`
      found.push({ code: 2801, message, start: node.start, end: node.end, awaits: true })
    },
    { types: false },
  )
  return found
}

function isNothing(node: AnyNode): boolean {
  return (node.type === "Identifier" && node.name === "undefined") || (node.type === "Literal" && node.value === null)
}
