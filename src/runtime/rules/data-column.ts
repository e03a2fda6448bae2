// Recognizes a `constructor` member that is a column of data, not the constructor of an object.
import type { AnyNode } from "acorn"
import type { Declaration } from "../compiler/scope-analysis.ts"
import type { CellFlow } from "./value-flow.ts"
import { escapingMembers, isFunction, isNamed, isUsedAsDataOnly, unwrapExpression, unwrapParent } from "./value-flow.ts"

/** Returns true if the `constructor` is read from an element of a collection (the parameter of an inline callback, a
 *  loop variable, `rows[i]`), and the cell never calls it, constructs with it or reads its constructor; or if it is
 *  only converted to a string or number, wherever it comes from. */
export function isDataColumn(node: AnyNode, flow: CellFlow): boolean {
  return (
    isConvertedToText(node, flow) || (isReadFromElement(node, flow) && isUsedAsDataOnly(node, flow, true, new Set()))
  )
}

function isConvertedToText(node: AnyNode, flow: CellFlow): boolean {
  const { node: outer, parent } = unwrapParent(node, flow)
  switch (parent?.type) {
    case "TemplateLiteral":
      return flow.parentOf(parent)?.type !== "TaggedTemplateExpression"
    case "BinaryExpression":
    case "UnaryExpression":
      return true
    case "MemberExpression":
      return parent.computed && parent.property === outer
    case "CallExpression":
      return parent.callee !== outer && convertsToText(parent.callee, flow)
    default:
      return false
  }
}

function convertsToText(callee: AnyNode, { scopes }: CellFlow): boolean {
  const isFree = (name: AnyNode) => name.type === "Identifier" && scopes.references.get(name)?.declaration === undefined
  if (callee.type === "Identifier") return isFree(callee) && ["String", "Number", "Boolean"].includes(callee.name)
  if (callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "Identifier") return false
  const { name } = callee.object
  const isKnown = name === "console" || (name === "JSON" && isNamed(callee.property, "stringify"))
  return isKnown && isFree(callee.object)
}

function isReadFromElement(read: AnyNode, flow: CellFlow): boolean {
  const node = unwrapExpression(read)
  if (node.type === "MemberExpression") return isElement(node.object, flow)
  if (node.type !== "Identifier") return false
  const declaration = flow.scopes.references.get(node)?.declaration
  if (!declaration) return false
  const { path, init } = declaration
  if (path.filter((step) => step === "constructor").length > 1) return false
  if (path.length > 0)
    return (
      path.at(-1) === "constructor" &&
      (init ? isElement(init, flow) : isCallbackParameterOrLoopVariable(declaration, flow))
    )
  return init !== undefined && isReadFromElement(init, flow)
}

function isElement(object: AnyNode, flow: CellFlow): boolean {
  const node = unwrapExpression(object)
  if (node.type === "MemberExpression")
    return node.computed && !mayHoldFunctions(node.object, flow) && isIndex(node.property, flow)
  if (node.type !== "Identifier") return false
  const declaration = flow.scopes.references.get(node)?.declaration
  if (!declaration || declaration.path.includes("constructor")) return false
  if (declaration.references.some(({ write }) => write)) return false
  if (declaration.init) return declaration.path.length === 0 && isElement(declaration.init, flow)
  return isCallbackParameterOrLoopVariable(declaration, flow)
}

function isIndex(property: AnyNode, flow: CellFlow): boolean {
  const key = flow.key(true, property)
  return key === undefined || /^\d+$/.test(key)
}

/** Returns true for a loop variable or the parameter of an inline callback, which hold elements of a collection. */
function isCallbackParameterOrLoopVariable({ node, kind }: Declaration, flow: CellFlow): boolean {
  for (let each: AnyNode | undefined = node; each; each = flow.parentOf(each)) {
    if (each.type === "ForOfStatement") return kind !== "parameter" && !mayHoldFunctions(each.right, flow)
    if (!isFunction(each)) continue
    const call = flow.parentOf(each)
    if (kind !== "parameter" || call?.type !== "CallExpression" || call.callee === each) return false
    return call.callee.type === "MemberExpression" && !mayHoldFunctions(call.callee.object, flow)
  }
  return false
}

/** Returns true if a collection may contain functions or classes, as far as the cell's code shows. */
function mayHoldFunctions(collection: AnyNode, flow: CellFlow): boolean {
  const node = unwrapExpression(collection)
  switch (node.type) {
    case "Identifier": {
      // `Object` and `Array` have no initializer: `Object.groupBy(rows, …)` and `Array.from(rows, …)` pass elements.
      const declaration = flow.scopes.references.get(node)?.declaration
      if (!declaration?.init) return false
      return isFunction(declaration.init) || isClass(declaration.init) || mayHoldFunctions(declaration.init, flow)
    }
    case "MemberExpression":
      return escapingMembers.has(flow.key(node.computed, node.property) ?? "") || mayHoldFunctions(node.object, flow)
    case "CallExpression":
      return mayHoldFunctions(node.callee, flow)
    case "AwaitExpression":
      return mayHoldFunctions(node.argument, flow)
    case "ArrayExpression":
      return node.elements.some((element) => element !== null && mayBeFunction(element, flow))
    case "NewExpression":
    case "Literal":
    case "TemplateLiteral":
      return false
    default:
      return true
  }
}

function mayBeFunction(element: AnyNode, flow: CellFlow): boolean {
  const node = unwrapExpression(element)
  return (
    !["ObjectExpression", "Literal", "TemplateLiteral", "ArrayExpression"].includes(node.type) ||
    (node.type === "ArrayExpression" && mayHoldFunctions(node, flow))
  )
}

function isClass(node: AnyNode): boolean {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression"
}
