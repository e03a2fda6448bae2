import type { AnyNode } from "acorn"

/** The operands of a node that decide something without being converted: conditions, and both sides of an equality. A
 *  member of a remote object that was not awaited would be taken for true, or for unequal, without an error; a check
 *  around the operand throws. Arithmetic, templates and comparisons convert, and need no check. */
export function operandsToCheck(node: AnyNode): readonly AnyNode[] {
  return decisiveOperands(node).filter(mayBeMember)
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
      return equalities.has(node.operator) ? [node.left, node.right] : []
    case "UnaryExpression":
      return node.operator === "!" || (node.operator === "typeof" && node.argument.type !== "Identifier")
        ? [node.argument]
        : []
    default:
      return []
  }
}

const equalities = new Set(["===", "!==", "==", "!=", "instanceof"])

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
