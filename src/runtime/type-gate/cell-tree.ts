// Finds nodes in a cell's syntax tree by position, and their parents.
import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { analyseScope, type ScopeAnalysis } from "../compiler/scope-analysis.ts"

/** The syntax tree of a cell without its types. */
export interface CellTree {
  scopes: ScopeAnalysis
  parentOf(node: AnyNode): AnyNode | undefined
  /** The innermost node with exactly this range. */
  nodeAt(start: number, end: number): AnyNode | undefined
  /** The innermost call or `new` around a range for which the test is true. */
  callAround(start: number, end: number, test: (call: CallNode) => boolean): CallNode | undefined
}

export type CallNode = Extract<AnyNode, { type: "CallExpression" | "NewExpression" }>
export type MemberNode = Extract<AnyNode, { type: "MemberExpression" }>

export function createCellTree(cell: ParsedCell): CellTree {
  const parents = new Map<AnyNode, AnyNode>()
  const ranges = new Map<string, AnyNode>()
  const calls: CallNode[] = []
  walk(
    cell.program,
    (node, parent) => {
      if (parent) parents.set(node, parent)
      ranges.set(`${node.start}:${node.end}`, node)
      if (node.type === "CallExpression" || node.type === "NewExpression") calls.push(node)
    },
    { types: false },
  )
  return {
    scopes: analyseScope(cell),
    parentOf: (node) => parents.get(node),
    nodeAt: (start, end) => ranges.get(`${start}:${end}`),
    callAround: (start, end, test) => calls.findLast((call) => call.start <= start && end <= call.end && test(call)),
  }
}

/** Removes wrappers that do not change the value: parentheses, non-null assertions, the root of an optional chain. */
export function unwrapNode(node: AnyNode): AnyNode {
  switch (node.type) {
    case "ChainExpression":
    case "ParenthesizedExpression":
    case "TSNonNullExpression":
    case "TSInstantiationExpression":
      return unwrapNode(node.expression)
    default:
      return node
  }
}

/** Returns the identifier `a` of `a.b().c[0]`. */
export function rootIdentifier(node: AnyNode): Extract<AnyNode, { type: "Identifier" }> | undefined {
  const inner = unwrapNode(node)
  switch (inner.type) {
    case "Identifier":
      return inner
    case "MemberExpression":
      return rootIdentifier(inner.object)
    case "CallExpression":
      return rootIdentifier(inner.callee)
    case "AwaitExpression":
      return rootIdentifier(inner.argument)
    default:
      return undefined
  }
}

/** Returns the name of the member; undefined if it is computed at run time. */
export function memberKey({ computed, property }: MemberNode): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : undefined
  return property.type === "Literal" ? String(property.value) : undefined
}
