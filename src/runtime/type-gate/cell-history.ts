// Records what earlier cells did to objects that their types do not show, such as adding members.
import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { type CallNode, type CellTree, type MemberNode, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"

export interface CellHistory {
  /** Members that cells assigned on any object: `task.score = 1`, `{ score: 1 }`. */
  readonly assignedMembers: Set<string>
  /** Members that cells added to built-in classes or to prototypes. */
  readonly extendedBuiltinMembers: Set<string>
  /** Names whose values do not match their types, because cells assigned other values. */
  readonly mistypedNames: Set<string>
  /** True if a cell assigned members under keys that are known only at run time. */
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

/** Adds a cell to the history. */
export function recordCell(
  history: CellHistory,
  cell: ParsedCell,
  tree: CellTree,
  mistypedNames: ReadonlySet<string>,
): void {
  const { names } = tree.scopes.cell
  for (const name of names?.keys() ?? []) history.mistypedNames.delete(name)
  for (const name of mistypedNames) history.mistypedNames.add(name)
  const isAboutPrototypes = /\b(?:prototype|__proto__)\b/.test(cell.code)
  const addMember = (key: string | undefined, isExtension: boolean) => {
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
        if (key !== undefined || !isCreatedByCell(node.object, tree)) addMember(key, isGlobal)
      }
      if (node.type === "Property" && parent?.type === "ObjectExpression" && !node.computed)
        addMember(keyText(node.key), false)
      if (node.type === "CallExpression") for (const key of keysDefinedBy(node, tree)) addMember(key, false)
    },
    { types: false },
  )
}

function isAssignmentTarget(member: MemberNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "AssignmentExpression") return parent.left === member
  if (parent?.type === "ForOfStatement" || parent?.type === "ForInStatement") return parent.left === member
  return parent?.type === "ArrayPattern" || (parent?.type === "AssignmentPattern" && parent.left === member)
}

/** Returns the keys that a call of `Object.assign` or a similar function adds to an object; undefined for unknown keys.
 *  The keys of object literals are recorded separately. */
function keysDefinedBy({ callee, arguments: callArguments }: CallNode, tree: CellTree): (string | undefined)[] {
  const inner = unwrapNode(callee)
  const [target, second, ...others] = callArguments
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

/** Returns true if an expression refers to an object that the cell itself creates. */
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
