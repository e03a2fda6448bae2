import type { AnyNode, ParsedCell } from "../syntax.ts"
import { bare, type CellTree, keyOf, rootOf } from "./cell-tree.ts"
import type { Checked } from "./checker.ts"
import { misassigned, mishanded } from "./codes.ts"
import type { History } from "./history.ts"
import { createTrust, type TrustSources } from "./trust.ts"
import { isLibraryType, typeKind } from "./type-text.ts"
import { namesFilledByKey } from "./uses.ts"

/** The names that a cell, or an earlier one, gave something else than their type says. */
export function loosenedNames(
  cell: ParsedCell,
  { diagnostics, typeOf }: Pick<Checked, "diagnostics" | "typeOf">,
  tree: CellTree,
  known: Omit<TrustSources, "loosened"> & { history: History },
): Set<string> {
  const names = diagnostics.flatMap(({ code, start, end }) => {
    if (mishanded.has(code)) {
      const call = tree.callAround(start, end, ({ callee }) => isKept(callee, typeOf))
      return (call && rootOf(call.callee)?.name) ?? []
    }
    const node = misassigned.has(code) ? tree.nodeAt(start, end) : undefined
    const parent = node && tree.parentOf(node)
    const target = parent?.type === "AssignmentExpression" ? parent.left : node
    return (target && rootOf(target)?.name) ?? []
  })
  const own = tree.scopes.cell.names
  const before = known.history.loosened.difference(new Set(own?.keys()))
  const loosened = new Set([...before, ...names, ...namesFilledByKey(cell)])
  // What is assigned to a name may be more than it was declared to be, and TypeScript has nothing against that.
  const trust = createTrust(cell, tree, { ...known, loosened })
  for (const { name, write, value } of tree.scopes.references.values()) {
    if (write && value && isMade(bare(value)) && trust.of(value) !== "declared") loosened.add(name)
  }
  return loosened
}

/** Whether what is handed to a method may be in its object from then on, as in a list or a map. */
function isKept(callee: AnyNode, typeOf: Checked["typeOf"]): boolean {
  if (callee.type !== "MemberExpression" || !languageMethods.has(keyOf(callee) ?? "")) return false
  const type = typeKind(typeOf(callee.object) ?? "any")
  return type.kind === "vague" || type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
}

/** Whether an expression may give an object. */
function isMade({ type }: AnyNode): boolean {
  return type !== "Literal" && type !== "TemplateLiteral" && type !== "BinaryExpression" && type !== "UnaryExpression"
}

/** Names the language has methods under. */
const languageMethods = new Set(
  [Array, String, Map, Set, Promise, Date, Number, Object, RegExp, Function].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)
