import type { AnyNode } from "acorn"

/** Which nodes of a cell a check is put around. */
export interface ValueChecks {
  /** Takes note of the parts of a node that need a check. */
  note(node: AnyNode): void
  /** The same, and the check that the node itself needs: the name of a method of the guard. */
  take(node: AnyNode): "value" | "fields" | undefined
}

export function createValueChecks(isEnabled: boolean): ValueChecks {
  const toCheck = new Map<AnyNode, "value" | "fields">()
  const note = (node: AnyNode) => {
    if (!isEnabled) return
    for (const operand of operandsToCheck(node)) toCheck.set(operand, "value")
    for (const object of objectsToCheck(node)) toCheck.set(object, "fields")
  }
  return {
    note,
    take(node) {
      note(node)
      const check = toCheck.get(node)
      toCheck.delete(node)
      return check
    },
  }
}

/** The operands of a node that decide something without being converted: conditions, and both sides of an equality. A
 *  member of a remote object that was not awaited would be taken for true, or for unequal, without an error; a check
 *  around the operand throws. Arithmetic, templates and comparisons convert, and need no check. */
function operandsToCheck(node: AnyNode): readonly AnyNode[] {
  return decisiveOperands(node).filter(mayBeMember)
}

/** The objects whose fields a node compares with null or undefined without reading them by an expression of the cell:
 *  those that a pattern with default values takes apart, and those of `object.field ??= value`. A field of a remote
 *  object is not known before it is awaited, so the default would never be used; a check around the object throws. */
function objectsToCheck(node: AnyNode): readonly AnyNode[] {
  if (node.type === "VariableDeclaration") {
    return node.declarations.flatMap(({ id, init }) => (init && hasDefault(id) ? [init] : [])).filter(mayBeRemote)
  }
  if (node.type !== "AssignmentExpression") return []
  if (node.operator === "=") return hasDefault(node.left) && mayBeRemote(node.right) ? [node.right] : []
  const { left } = node
  const isLogical = node.operator === "??=" || node.operator === "||=" || node.operator === "&&="
  return isLogical && left.type === "MemberExpression" && mayBeRemote(left.object) ? [left.object] : []
}

function mayBeRemote(node: AnyNode): boolean {
  return node.type === "AwaitExpression" || mayBeMember(node)
}

/** Whether a pattern for an object has default values. One for an array iterates, which remote objects refuse. */
function hasDefault(pattern: AnyNode): boolean {
  if (pattern.type !== "ObjectPattern") return false
  return pattern.properties.some((property) => {
    if (property.type === "RestElement") return false
    return property.value.type === "AssignmentPattern" || hasDefault(property.value)
  })
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
