import { type AnyNode, type ParsedCell, walk } from "../compiler/parse-cell.ts"
import { analyseScope, type ScopeAnalysis } from "../compiler/scope-analysis.ts"

/** A cell's tree, to be read from the inside out. Only what is left when the program runs is in it. */
export interface CellTree {
  scopes: ScopeAnalysis
  parentOf(node: AnyNode): AnyNode | undefined
  /** The innermost node of exactly this range. */
  nodeAt(start: number, end: number): AnyNode | undefined
  /** The innermost call or `new` that a range lies in, and that the test is true for. */
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

/** A node without what changes nothing about its value: parentheses, assertions, the frame of an optional chain. */
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

/** The name at the root of `a.b().c[0]`. */
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

/** The name of the member, where the text tells it. */
export function memberKey({ computed, property }: MemberNode): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : undefined
  return property.type === "Literal" ? String(property.value) : undefined
}
