import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { type CallNode, type CellTree, type MemberNode, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"

/** What earlier cells did that types do not tell: JavaScript lets anybody give an object more than its type says. */
export interface CellHistory {
  /** Members that cells gave to objects, whichever they were: `task.score = 1`, `{ score: 1 }`. */
  readonly assignedMembers: Set<string>
  /** Members that cells gave to classes of the language or to prototypes. */
  readonly extendedBuiltinMembers: Set<string>
  /** Names that cells gave something else than their type says. */
  readonly mistypedNames: Set<string>
  /** Whether a cell gave objects members under keys that its text does not tell. */
  hasUnknownKeys: boolean
}

export function createCellHistory(): CellHistory {
  return {
    assignedMembers: new Set(),
    extendedBuiltinMembers: new Set(),
    mistypedNames: new Set(),
    hasUnknownKeys: false,
  }
}

/** Takes note of what a cell does. */
export function recordCell(
  history: CellHistory,
  cell: ParsedCell,
  tree: CellTree,
  loosened: ReadonlySet<string>,
): void {
  const { names } = tree.scopes.cell
  for (const name of names?.keys() ?? []) history.mistypedNames.delete(name)
  for (const name of loosened) history.mistypedNames.add(name)
  const isAboutPrototypes = /\b(?:prototype|__proto__)\b/.test(cell.code)
  const give = (key: string | undefined, isExtension: boolean) => {
    if (key === undefined) history.hasUnknownKeys = true
    else history.assignedMembers.add(key)
    if (key !== undefined && (isExtension || isAboutPrototypes)) history.extendedBuiltinMembers.add(key)
  }
  walk(
    cell.program,
    (node, parent) => {
      if (node.type === "MemberExpression" && isAssignmentTarget(node, parent)) {
        const root = rootIdentifier(node)
        const isGlobal = root !== undefined && !tree.scopes.references.get(root)?.declaration && root.name in globalThis
        const key = memberKey(node)
        if (key !== undefined || !isCreatedByCell(node.object, tree)) give(key, isGlobal)
      }
      if (node.type === "Property" && parent?.type === "ObjectExpression" && !node.computed)
        give(keyText(node.key), false)
      if (node.type === "CallExpression") for (const key of keysDefinedBy(node, tree)) give(key, false)
    },
    { types: false },
  )
}

function isAssignmentTarget(member: MemberNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "AssignmentExpression") return parent.left === member
  if (parent?.type === "ForOfStatement" || parent?.type === "ForInStatement") return parent.left === member
  return parent?.type === "ArrayPattern" || (parent?.type === "AssignmentPattern" && parent.left === member)
}

/** The keys that a call of `Object.assign` and its like gives to an object; undefined stands for unknown ones. Those of
 *  object literals are found where they stand. */
function keysDefinedBy({ callee, arguments: given }: CallNode, tree: CellTree): (string | undefined)[] {
  const inner = unwrapNode(callee)
  const [target, second, ...others] = given
  if (inner.type !== "MemberExpression" || !target || !second || isCreatedByCell(target, tree)) return []
  switch (memberKey(inner)) {
    case "assign":
      return [second, ...others].every(({ type }) => type === "ObjectExpression") ? [] : [undefined]
    case "defineProperty":
    case "set":
      return rootIdentifier(inner)?.name === "Object" || rootIdentifier(inner)?.name === "Reflect"
        ? [keyText(second)]
        : []
    default:
      return []
  }
}

/** Whether an expression stands for an object that the cell itself makes. */
function isCreatedByCell(node: AnyNode, tree: CellTree): boolean {
  const inner = unwrapNode(node)
  if (inner.type === "ObjectExpression" || inner.type === "ArrayExpression" || inner.type === "NewExpression")
    return true
  if (inner.type === "TSAsExpression" || inner.type === "TSSatisfiesExpression")
    return isCreatedByCell(inner.expression, tree)
  if (inner.type === "MemberExpression") return isCreatedByCell(inner.object, tree)
  if (inner.type !== "Identifier") return false
  const declaration = tree.scopes.references.get(inner)?.declaration
  const isVariable = declaration?.kind === "const" || declaration?.kind === "let" || declaration?.kind === "var"
  return isVariable && declaration.path.length === 0 && !!declaration.init && isCreatedByCell(declaration.init, tree)
}

function keyText(node: AnyNode): string | undefined {
  if (node.type === "Identifier") return node.name
  return node.type === "Literal" ? String(node.value) : undefined
}
