// Decides which nodes of a cell need a check by the guard because their value may be a remote member that was not
// awaited.
import type { AnyNode } from "acorn"

type GuardCheck = "value" | "fields" | "chosen" | "optional" | "optionalMethods"

export function createRemoteCheckPlan(isEnabled: boolean) {
  const toCheck = new Map<AnyNode, GuardCheck[]>()
  const add = (node: AnyNode, check: GuardCheck) => void toCheck.set(node, [...(toCheck.get(node) ?? []), check])
  /** Plans the checks of a node's parts. */
  const note = (node: AnyNode) => {
    if (!isEnabled) return
    for (const operand of operandsToCheck(node)) add(operand, "value")
    for (const object of objectsToCheck(node)) add(object, "fields")
    // A remote member may itself be the default value.
    if (node.type === "AssignmentPattern" && mayBeMember(node.right)) add(node.right, "chosen")
    addOptionalStepCheck(node, add)
  }
  return {
    note,
    /** Plans the checks of a node's parts, and removes and returns the checks of the node itself: methods of the guard,
     *  the outermost first. */
    take(node: AnyNode): readonly GuardCheck[] {
      note(node)
      const checks = toCheck.get(node)
      toCheck.delete(node)
      return checks ?? []
    },
  }
}

/** The operands that decide a condition or equality without being converted. A remote member that was not awaited would
 *  count as true, or as unequal, without an error; the check throws. Arithmetic, templates and comparisons convert
 *  their operands and need no check. */
function operandsToCheck(node: AnyNode): readonly AnyNode[] {
  return decisiveOperands(node).filter(mayBeMember)
}

/** The object of `object.field ??= value`, which compares a field with null or undefined. A remote field is unknown
 *  before it is awaited, so the assignment would never happen; the check throws. */
function objectsToCheck(node: AnyNode): readonly AnyNode[] {
  if (node.type !== "AssignmentExpression") return []
  const { left } = node
  const isLogical = node.operator === "??=" || node.operator === "||=" || node.operator === "&&="
  const isRemote =
    left.type === "MemberExpression" && (left.object.type === "AwaitExpression" || mayBeMember(left.object))
  return isLogical && isRemote ? [left.object] : []
}

/** Adds a check of the value before `?.`. A remote member that was not awaited is never null or undefined; the guard
 *  replaces it by one that becomes undefined, with everything after it, if the remote value is. In `object.method?.()`
 *  the object is checked and not the method, which must keep its `this`. */
function addOptionalStepCheck(node: AnyNode, add: (node: AnyNode, check: GuardCheck) => void): void {
  if (node.type === "MemberExpression" && node.optional && mayBeMember(node.object)) add(node.object, "optional")
  if (node.type !== "CallExpression" || !node.optional) return
  const { callee } = node
  if (callee.type !== "MemberExpression") {
    if (mayBeMember(callee)) add(callee, "optional")
    return
  }
  const { object, property, optional } = callee
  // A guard call here would end the chain that the object is part of, and evaluate the steps after it.
  const endsChain = !optional && isPartOfChain(object)
  if (!endsChain && property.type !== "PrivateIdentifier" && mayBeMember(object)) add(object, "optionalMethods")
}

/** Returns true if an expression inside a chain has an optional step before its end. */
function isPartOfChain(node: AnyNode): boolean {
  switch (node.type) {
    case "MemberExpression":
      return node.optional || isPartOfChain(node.object)
    case "CallExpression":
      return node.optional || isPartOfChain(node.callee)
    case "TSNonNullExpression":
      return isPartOfChain(node.expression)
    default:
      return false
  }
}

function decisiveOperands(node: AnyNode): readonly AnyNode[] {
  switch (node.type) {
    case "IfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "ConditionalExpression":
      return [node.test]
    case "ForStatement":
      return node.test ? [node.test] : []
    case "SwitchStatement":
      return [node.discriminant]
    case "LogicalExpression":
      return [node.left]
    case "BinaryExpression":
      if (node.operator === "instanceof") return isPromiseClass(node.right) ? [] : [node.left]
      return equalities.has(node.operator) ? [node.left, node.right] : []
    case "UnaryExpression":
      return node.operator === "!" || (node.operator === "typeof" && node.argument.type !== "Identifier")
        ? [node.argument]
        : []
    default:
      return []
  }
}

const equalities = new Set(["===", "!==", "==", "!="])

/** `instanceof Promise` is a legitimate test of a value that was not awaited. */
function isPromiseClass(node: AnyNode): boolean {
  return node.type === "Identifier" && node.name === "Promise"
}

/** Returns true if an expression's value can be a member or a call's result unchanged. */
function mayBeMember(node: AnyNode): boolean {
  return node.type === "Identifier" ? node.name !== "undefined" : memberForms.test(node.type)
}

const memberForms =
  /^(?:(?:Member|Call|Chain|Logical|Conditional|Assignment|Sequence|Parenthesized|TSAs|TSNonNull|TSSatisfies)Expression|TSTypeAssertion)$/
