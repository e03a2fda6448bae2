// Recognizes two forms of syntax that rules treat specially.
import type { AnyNode, AssignmentProperty, Property } from "acorn"

/** Returns true for `this.constructor`, as in `new this.constructor()`. */
export function isThisConstructor(callee: AnyNode): boolean {
  if (callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "ThisExpression") return false
  return callee.property.type === "Identifier" && callee.property.name === "constructor"
}

/** Returns true for `{ __proto__: x }`. With `null` it creates a plain dictionary, which is harmless. */
export function setsPrototype({ key, value, shorthand, method }: Property | AssignmentProperty): boolean {
  if (shorthand || method || (value.type === "Literal" && value.value === null)) return false
  return key.type === "Identifier" ? key.name === "__proto__" : key.type === "Literal" && key.value === "__proto__"
}
