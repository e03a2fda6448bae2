import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import type { CellHistory } from "./cell-history.ts"
import { type CellTree, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"
import { argumentCodes, assignmentCodes } from "./diagnostic-codes.ts"
import { namesAssignedByUnknownKey } from "./member-uses.ts"
import { isLibraryType, typeKind } from "./type-text.ts"
import { createTrustAnalysis, type TrustSources } from "./type-trust.ts"
import type { CheckResult } from "./typescript-checker.ts"

/** The names that a cell, or an earlier one, gave something else than their type says. */
export function findMistypedNames(
  cell: ParsedCell,
  { diagnostics, typeOf }: Pick<CheckResult, "diagnostics" | "typeOf">,
  tree: CellTree,
  known: Omit<TrustSources, "mistypedNames"> & { history: CellHistory },
): Set<string> {
  const names = diagnostics.flatMap(({ code, start, end }) => {
    if (argumentCodes.has(code)) {
      const call = tree.callAround(start, end, ({ callee }) => storesArguments(callee, typeOf))
      return (call && rootIdentifier(call.callee)?.name) ?? []
    }
    const node = assignmentCodes.has(code) ? tree.nodeAt(start, end) : undefined
    const parent = node && tree.parentOf(node)
    const target = parent?.type === "AssignmentExpression" ? parent.left : node
    return (target && rootIdentifier(target)?.name) ?? []
  })
  const own = tree.scopes.cell.names
  const before = known.history.mistypedNames.difference(new Set(own?.keys()))
  const loosened = new Set([...before, ...names, ...namesAssignedByUnknownKey(cell)])
  // What is assigned to a name may be more than it was declared to be, and TypeScript has nothing against that.
  const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames: loosened })
  for (const { name, write, value } of tree.scopes.references.values()) {
    if (write && value && mayBeObject(unwrapNode(value)) && trust.of(value) !== "declared") loosened.add(name)
  }
  return loosened
}

/** Whether what is handed to a method may be in its object from then on, as in a list or a map. */
function storesArguments(callee: AnyNode, typeOf: CheckResult["typeOf"]): boolean {
  if (callee.type !== "MemberExpression" || !languageMethods.has(memberKey(callee) ?? "")) return false
  const type = typeKind(typeOf(callee.object) ?? "any")
  return type.kind === "vague" || type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
}

/** Whether an expression may give an object. */
function mayBeObject({ type }: AnyNode): boolean {
  return type !== "Literal" && type !== "TemplateLiteral" && type !== "BinaryExpression" && type !== "UnaryExpression"
}

/** Names the language has methods under. */
const languageMethods = new Set(
  [Array, String, Map, Set, Promise, Date, Number, Object, RegExp, Function].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)
