import type { AnyNode } from "acorn"

/** Which nodes of a cell a check is put around. */
export interface RemoteCheckPlan {
  /** Takes note of the parts of a node that need a check. */
  note(node: AnyNode): void
  /** The same, and the checks that the node itself needs: names of methods of the guard, the outermost first. */
  take(node: AnyNode): readonly GuardCheck[]
}

type GuardCheck = "value" | "fields" | "chosen" | "optional" | "optionalMethods"

export function createRemoteCheckPlan(isEnabled: boolean): RemoteCheckPlan {
  const toCheck = new Map<AnyNode, GuardCheck[]>()
  const add = (node: AnyNode, check: GuardCheck) => void toCheck.set(node, [...(toCheck.get(node) ?? []), check])
  const note = (node: AnyNode) => {
    if (!isEnabled) return
    for (const operand of operandsToCheck(node)) add(operand, "value")
    for (const object of objectsToCheck(node)) add(object, "fields")
    // A member that is the default value itself is one that the cell chose.
    if (node.type === "AssignmentPattern" && mayBeMember(node.right)) add(node.right, "chosen")
    addOptionalStepCheck(node, add)
  }
  return {
    note,
    take(node) {
      note(node)
      const checks = toCheck.get(node)
      toCheck.delete(node)
      return checks ?? []
    },
  }
}

/** The operands of a node that decide something without being converted: conditions, and both sides of an equality. A
 *  member of a remote object that was not awaited would be taken for true, or for unequal, without an error; a check
 *  around the operand throws. Arithmetic, templates and comparisons convert, and need no check. */
function operandsToCheck(node: AnyNode): readonly AnyNode[] {
  return decisiveOperands(node).filter(mayBeMember)
}

/** The object of `object.field ??= value`, which compares a field with null or undefined. A field of a remote object is
 *  not known before it is awaited, so the assignment would never be made; a check around the object throws. */
function objectsToCheck(node: AnyNode): readonly AnyNode[] {
  if (node.type !== "AssignmentExpression") return []
  const { left } = node
  const isLogical = node.operator === "??=" || node.operator === "||=" || node.operator === "&&="
  const isRemote =
    left.type === "MemberExpression" && (left.object.type === "AwaitExpression" || mayBeMember(left.object))
  return isLogical && isRemote ? [left.object] : []
}

/** Marks the value before `?.`. A member of a remote object that was not awaited is never null or undefined: the guard
 *  replaces it by one that is undefined, with everything after it, where the remote value is null or undefined. In
 *  `object.method?.()` the object is marked and not the method, which must keep its object. */
function addOptionalStepCheck(node: AnyNode, add: (node: AnyNode, check: GuardCheck) => void): void {
  if (node.type === "MemberExpression" && node.optional && mayBeMember(node.object)) add(node.object, "optional")
  if (node.type !== "CallExpression" || !node.optional) return
  const { callee } = node
  if (callee.type !== "MemberExpression") {
    if (mayBeMember(callee)) add(callee, "optional")
    return
  }
  const { object, property, optional } = callee
  // A call of the guard would end the chain that the object is a part of, and evaluate what comes after it.
  const endsChain = !optional && isPartOfChain(object)
  if (!endsChain && property.type !== "PrivateIdentifier" && mayBeMember(object)) add(object, "optionalMethods")
}

/** Whether an expression inside a chain has an optional step before its end. */
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

/** Asking whether a result is still a promise is what code does that may have to await it. */
function isPromiseClass(node: AnyNode): boolean {
  return node.type === "Identifier" && node.name === "Promise"
}

/** Whether an expression can give a member or a call's result as it is. */
function mayBeMember(node: AnyNode): boolean {
  switch (node.type) {
    case "Identifier":
      return node.name !== "undefined"
    case "MemberExpression":
    case "CallExpression":
    case "ChainExpression":
    case "LogicalExpression":
    case "ConditionalExpression":
    case "AssignmentExpression":
    case "SequenceExpression":
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
    case "TSTypeAssertion":
      return true
    default:
      return false
  }
}
