// Follows a value through a cell, to find out if the cell uses it only as data.
import type { AnyNode, CallExpression, Identifier, NewExpression, Pattern } from "acorn"
import { innerExpression } from "../compiler/destructuring.ts"
import type { Declaration, ScopeAnalysis } from "../compiler/scope-analysis.ts"

export interface CellFlow {
  scopes: ScopeAnalysis
  parentOf(node: AnyNode): AnyNode | undefined
  declarationOf(name: Identifier): Declaration | undefined
  /** The name of a member; undefined if it cannot be determined from the code. */
  key(computed: boolean, name: AnyNode): string | undefined
}

/** Members through which code reaches `Function` or another class from a class. */
export const escapingMembers = new Set(["constructor", "prototype", "__proto__", "apply", "bind", "call", "construct"])

/** Follows a value, or a collection that contains it, to all its uses. `isDirect`: it is the value itself. */
export function isUsedAsDataOnly(start: AnyNode, flow: CellFlow, isDirect: boolean, seen: Set<AnyNode>): boolean {
  const { node, parent } = unwrapParent(start, flow)
  if (seen.has(node)) return true
  seen.add(node)
  const follow = (next: AnyNode, direct = isDirect) => isUsedAsDataOnly(next, flow, direct, seen)
  switch (parent?.type) {
    case "ExpressionStatement":
    case "BinaryExpression":
    case "UnaryExpression":
    case "IfStatement":
    case "WhileStatement":
    case "ForInStatement":
    case "SwitchStatement":
    case "SwitchCase":
      return true
    case "TemplateLiteral":
      return flow.parentOf(parent)?.type !== "TaggedTemplateExpression"
    case "LogicalExpression":
      return follow(parent)
    case "ConditionalExpression":
      return parent.test === node || follow(parent)
    case "SequenceExpression":
      return parent.expressions.at(-1) !== node || follow(parent)
    case "Property":
      return !dataMethods.has(flow.key(parent.computed, parent.key) ?? "") && follow(parent, false)
    case "ArrayExpression":
    case "ObjectExpression":
    case "SpreadElement":
      return follow(parent, false)
    case "MemberExpression": {
      if (parent.object !== node) return true
      const key = flow.key(parent.computed, parent.property)
      return !escapingMembers.has(key ?? "") && follow(parent, false)
    }
    case "CallExpression":
      return parent.callee === node
        ? isDataMethodCall(node, parent, flow, seen)
        : isDataArgument(node, parent, flow, seen)
    case "NewExpression":
      return parent.callee !== node && isDataClass(parent) && follow(parent, false)
    case "ArrowFunctionExpression":
      return parent.body === node && isReturnedAsData(parent, flow, seen)
    case "ReturnStatement": {
      let outer = flow.parentOf(parent)
      while (outer && !isFunction(outer)) outer = flow.parentOf(outer)
      return outer !== undefined && isReturnedAsData(outer, flow, seen)
    }
    case "VariableDeclarator":
      return isBoundAsData(parent.id, flow, isDirect, seen)
    case "AssignmentExpression":
      return (
        parent.right === node &&
        (parent.left.type === "MemberExpression" || isBoundAsData(parent.left, flow, isDirect, seen))
      )
    case "ForOfStatement":
      if (parent.right !== node) return true
      return parent.left.type === "VariableDeclaration"
        ? parent.left.declarations.every(({ id }) => isBoundAsData(id, flow, true, seen))
        : isBoundAsData(parent.left, flow, true, seen)
    default:
      return false
  }
}

/** Methods of strings and collections that a column, or a list of columns, may have. */
const dataMethods = new Set(
  [String, Number, Array, Map, Set, Promise]
    .flatMap((type) => Object.getOwnPropertyNames(type.prototype))
    .filter((name) => !escapingMembers.has(name)),
)

/** Checks a method call on the value or collection: callbacks get its elements, and the result may contain them. */
function isDataMethodCall(callee: AnyNode, call: CallExpression, flow: CellFlow, seen: Set<AnyNode>): boolean {
  if (callee.type !== "MemberExpression") return false
  const key = flow.key(callee.computed, callee.property)
  // Any other member may be the followed value.
  if (key === undefined || !dataMethods.has(key)) return false
  return (
    call.arguments.every((argument) => areParametersData(argument, flow, seen)) &&
    isUsedAsDataOnly(call, flow, false, seen)
  )
}

/** Checks a call with the value as an argument. If the cell defines the function, its parameters are followed. */
function isDataArgument(node: AnyNode, call: CallExpression, flow: CellFlow, seen: Set<AnyNode>): boolean {
  const callee = unwrapExpression(call.callee)
  if (callee.type === "Super") return false
  if (callee.type === "MemberExpression") {
    const key = flow.key(callee.computed, callee.property)
    if (key === undefined || escapingMembers.has(key) || isNamed(callee.object, "Reflect")) return false
    // `Object.groupBy(collection, callback)`, `Array.from(collection, callback)`.
    if (!call.arguments.every((each) => each === node || areParametersData(each, flow, seen))) return false
  }
  const known = callee.type === "Identifier" ? flow.scopes.references.get(callee)?.declaration?.init : callee
  if (known && !areParametersData(known, flow, seen)) return false
  return isUsedAsDataOnly(call, flow, false, seen)
}

function isDataClass({ callee }: NewExpression): boolean {
  return callee.type === "Identifier" && ["Set", "Map", "Date"].includes(callee.name)
}

function areParametersData(node: AnyNode, flow: CellFlow, seen: Set<AnyNode>): boolean {
  return !isFunction(node) || node.params.every((param) => isBoundAsData(param, flow, true, seen))
}

/** The result of a callback becomes part of the result of the call that got it. Other functions cannot be followed. */
function isReturnedAsData(fn: AnyNode, flow: CellFlow, seen: Set<AnyNode>): boolean {
  const call = flow.parentOf(fn)
  return call?.type === "CallExpression" && call.callee !== fn && isUsedAsDataOnly(call, flow, false, seen)
}

/** Follows a value into the names of a pattern. A top-level name outlives the cell, so it may not get the value. */
function isBoundAsData(pattern: Pattern | AnyNode, flow: CellFlow, isDirect: boolean, seen: Set<AnyNode>): boolean {
  switch (pattern.type) {
    case "Identifier": {
      const declaration = flow.declarationOf(pattern)
      const outlivesCell = flow.scopes.cell.names?.get(pattern.name) === declaration || declaration === undefined
      if (outlivesCell && isDirect && !isUnused(pattern, flow)) return false
      return (declaration?.references ?? []).every(
        (reference) => !reference.call && (!reference.read || isUsedAsDataOnly(reference.node, flow, true, seen)),
      )
    }
    case "ArrayPattern":
      return pattern.elements.every((element) => element === null || isBoundAsData(element, flow, true, seen))
    case "ObjectPattern":
      return pattern.properties.every((property) => {
        if (property.type === "RestElement") return isBoundAsData(property.argument, flow, true, seen)
        const key = flow.key(property.computed, property.key)
        return !escapingMembers.has(key ?? "") && isBoundAsData(property.value, flow, true, seen)
      })
    case "AssignmentPattern":
      return isBoundAsData(pattern.left, flow, isDirect, seen)
    case "RestElement":
      return isBoundAsData(pattern.argument, flow, isDirect, seen)
    default:
      return false
  }
}

/** Returns true if a name is declared but never used, so that it has no reference. */
function isUnused(name: Identifier, { scopes }: CellFlow): boolean {
  return !scopes.references.has(name) && scopes.cell.names?.get(name.name)?.node !== name
}

export function isNamed(node: AnyNode, name: string): boolean {
  return node.type === "Identifier" && node.name === name
}

export function unwrapParent(start: AnyNode, flow: CellFlow): { node: AnyNode; parent: AnyNode | undefined } {
  let node = start
  let parent = flow.parentOf(node)
  while (parent && awaitedOrInner(parent)) {
    node = parent
    parent = flow.parentOf(node)
  }
  return { node, parent }
}

export function unwrapExpression(node: AnyNode): AnyNode {
  const inner = awaitedOrInner(node)
  return inner ? unwrapExpression(inner) : node
}

function awaitedOrInner(node: AnyNode): AnyNode | undefined {
  return node.type === "AwaitExpression" ? node.argument : innerExpression(node)
}

export function isFunction(node: AnyNode) {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  )
}
