// Walks destructuring patterns.
import type { AnyNode } from "acorn"
import type { Path } from "./scope-analysis.ts"

/** Calls `target` for each name that a pattern binds or assigns to, with the path to its value, and `expression` for
 *  default values and computed keys. */
export function forEachTarget(
  pattern: AnyNode,
  path: Path,
  target: (node: AnyNode, path: Path) => void,
  expression: (node: AnyNode) => void,
): void {
  switch (pattern.type) {
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") {
          forEachTarget(property.argument, [...path, undefined], target, expression)
          continue
        }
        if (property.computed) expression(property.key)
        forEachTarget(property.value, [...path, propertyKey(property)], target, expression)
      }
      return
    case "ArrayPattern":
      for (const element of pattern.elements)
        if (element) forEachTarget(element, [...path, undefined], target, expression)
      return
    case "RestElement":
      return forEachTarget(pattern.argument, path, target, expression)
    case "AssignmentPattern":
      forEachTarget(pattern.left, path, target, expression)
      return expression(pattern.right)
    case "TSParameterProperty":
      return forEachTarget(pattern.parameter, path, target, expression)
    default:
      return target(unwrapExpression(pattern), path)
  }
}

/** The expression without parentheses and type assertions around it. */
export function unwrapExpression(node: AnyNode): AnyNode {
  const inner = node.type === "ChainExpression" ? undefined : innerExpression(node)
  return inner ? unwrapExpression(inner) : node
}

/** The expression that an optional chain, parentheses or a type assertion encloses; undefined for other nodes. */
export function innerExpression(node: AnyNode): AnyNode | undefined {
  switch (node.type) {
    case "ChainExpression":
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "TSInstantiationExpression":
      return node.expression
    default:
      return undefined
  }
}

function propertyKey(property: { computed: boolean; key: AnyNode }): string | undefined {
  const { computed, key } = property
  if (key.type === "Identifier" && !computed) return key.name
  return key.type === "Literal" ? String(key.value) : undefined
}
