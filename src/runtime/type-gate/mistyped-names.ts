// Finds names whose values may not match their types, because a cell assigned or added other values.
import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import type { CellHistory } from "./cell-history.ts"
import { type CellTree, memberKey, rootIdentifier, unwrapNode } from "./cell-tree.ts"
import { argumentCodes, assignmentCodes } from "./diagnostic-codes.ts"
import { namesAssignedByUnknownKey } from "./member-uses.ts"
import { isLibraryType, typeKind } from "./type-text.ts"
import { createTrustAnalysis, type TrustSources } from "./type-trust.ts"
import type { CheckResult } from "./typescript-checker.ts"

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
  const cellDeclarations = tree.scopes.cell.names
  const earlierNames = known.history.mistypedNames.difference(new Set(cellDeclarations?.keys()))
  const mistypedNames = new Set([...earlierNames, ...names, ...namesAssignedByUnknownKey(cell)])
  // An assigned object may have more members than the declared type, which TypeScript allows.
  const trust = createTrustAnalysis(cell, tree, { ...known, mistypedNames })
  for (const { name, write, value } of tree.scopes.references.values()) {
    if (write && value && mayBeObject(unwrapNode(value)) && trust.of(value) !== "declared") mistypedNames.add(name)
  }
  return mistypedNames
}

/** Returns true if a method may store its arguments in its object, like those of arrays and maps. */
function storesArguments(callee: AnyNode, typeOf: CheckResult["typeOf"]): boolean {
  if (callee.type !== "MemberExpression" || !languageMethods.has(memberKey(callee) ?? "")) return false
  const type = typeKind(typeOf(callee.object) ?? "any")
  return type.kind === "vague" || type.kind === "library" || (type.kind === "named" && isLibraryType(type.name))
}

/** Returns true if the value of an expression may be an object. */
function mayBeObject({ type }: AnyNode): boolean {
  return type !== "Literal" && type !== "TemplateLiteral" && type !== "BinaryExpression" && type !== "UnaryExpression"
}

/** The names of all methods of built-in classes. */
const languageMethods = new Set(
  [Array, String, Map, Set, Promise, Date, Number, Object, RegExp, Function].flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype),
  ),
)
