import { type AnyNode, type ParsedCell, walk } from "../syntax.ts"
import { bare, type CallNode, type CellTree, keyOf, type MemberNode, rootOf } from "./cell-tree.ts"

/** What earlier cells did that types do not tell: JavaScript lets anybody give an object more than its type says. */
export interface History {
  /** Members that cells gave to objects, whichever they were: `task.score = 1`, `{ score: 1 }`. */
  readonly given: Set<string>
  /** Members that cells gave to classes of the language or to prototypes. */
  readonly extended: Set<string>
  /** Names that cells gave something else than their type says. */
  readonly loosened: Set<string>
  /** Whether a cell gave objects members under keys that its text does not tell. */
  anything: boolean
}

export function createHistory(): History {
  return { given: new Set(), extended: new Set(), loosened: new Set(), anything: false }
}

/** Takes note of what a cell does. */
export function learn(history: History, cell: ParsedCell, tree: CellTree, loosened: ReadonlySet<string>): void {
  const { names } = tree.scopes.cell
  for (const name of names?.keys() ?? []) history.loosened.delete(name)
  for (const name of loosened) history.loosened.add(name)
  const isAboutPrototypes = /\b(?:prototype|__proto__)\b/.test(cell.code)
  const give = (key: string | undefined, isExtension: boolean) => {
    if (key === undefined) history.anything = true
    else history.given.add(key)
    if (key !== undefined && (isExtension || isAboutPrototypes)) history.extended.add(key)
  }
  walk(
    cell.program,
    (node, parent) => {
      if (node.type === "MemberExpression" && isTarget(node, parent)) {
        const root = rootOf(node)
        const isGlobal = root !== undefined && !tree.scopes.references.get(root)?.declaration && root.name in globalThis
        const key = keyOf(node)
        if (key !== undefined || !isFresh(node.object, tree)) give(key, isGlobal)
      }
      if (node.type === "Property" && parent?.type === "ObjectExpression" && !node.computed)
        give(keyText(node.key), false)
      if (node.type === "CallExpression") for (const key of definedBy(node, tree)) give(key, false)
    },
    { types: false },
  )
}

function isTarget(member: MemberNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === "AssignmentExpression") return parent.left === member
  if (parent?.type === "ForOfStatement" || parent?.type === "ForInStatement") return parent.left === member
  return parent?.type === "ArrayPattern" || (parent?.type === "AssignmentPattern" && parent.left === member)
}

/** The keys that a call of `Object.assign` and its like gives to an object; undefined stands for unknown ones. Those of
 *  object literals are found where they stand. */
function definedBy({ callee, arguments: given }: CallNode, tree: CellTree): (string | undefined)[] {
  const inner = bare(callee)
  const [target, second, ...others] = given
  if (inner.type !== "MemberExpression" || !target || !second || isFresh(target, tree)) return []
  switch (keyOf(inner)) {
    case "assign":
      return [second, ...others].every(({ type }) => type === "ObjectExpression") ? [] : [undefined]
    case "defineProperty":
    case "set":
      return rootOf(inner)?.name === "Object" || rootOf(inner)?.name === "Reflect" ? [keyText(second)] : []
    default:
      return []
  }
}

/** Whether an expression stands for an object that the cell itself makes. */
function isFresh(node: AnyNode, tree: CellTree): boolean {
  const inner = bare(node)
  if (inner.type === "ObjectExpression" || inner.type === "ArrayExpression" || inner.type === "NewExpression")
    return true
  if (inner.type === "TSAsExpression" || inner.type === "TSSatisfiesExpression") return isFresh(inner.expression, tree)
  if (inner.type === "MemberExpression") return isFresh(inner.object, tree)
  if (inner.type !== "Identifier") return false
  const declaration = tree.scopes.references.get(inner)?.declaration
  const isVariable = declaration?.kind === "const" || declaration?.kind === "let" || declaration?.kind === "var"
  return isVariable && declaration.path.length === 0 && !!declaration.init && isFresh(declaration.init, tree)
}

function keyText(node: AnyNode): string | undefined {
  if (node.type === "Identifier") return node.name
  return node.type === "Literal" ? String(node.value) : undefined
}
