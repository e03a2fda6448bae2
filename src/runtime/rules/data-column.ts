import type { AnyNode } from "acorn"
import type { Declaration } from "../scope.ts"
import { type CellFlow, isFunction, isNamed, leadsOn, staysData, unwrapped, unwrappedParent } from "./value-flow.ts"

/** Whether a `constructor` that is read is a column of data, as far as the text shows: it is read from an element of something (the parameter
 *  of an inline callback, a loop variable, `rows[i]`), and nothing it reaches in this cell calls it, constructs with it or
 *  asks it for its constructor. A value that is only turned into text or a number may come from anywhere. */
export function isDataColumn(node: AnyNode, flow: CellFlow): boolean {
  return becomesText(node, flow) || (isFromElement(node, flow) && staysData(node, flow, true, new Set()))
}

function becomesText(node: AnyNode, flow: CellFlow): boolean {
  const { node: outer, parent } = unwrappedParent(node, flow)
  switch (parent?.type) {
    case "TemplateLiteral":
      return flow.parentOf(parent)?.type !== "TaggedTemplateExpression"
    case "BinaryExpression":
    case "UnaryExpression":
      return true
    case "MemberExpression":
      return parent.computed && parent.property === outer
    case "CallExpression":
      return parent.callee !== outer && isTextMaker(parent.callee, flow)
    default:
      return false
  }
}

function isTextMaker(callee: AnyNode, { scopes }: CellFlow): boolean {
  const isFree = (name: AnyNode) => name.type === "Identifier" && scopes.references.get(name)?.declaration === undefined
  if (callee.type === "Identifier") return isFree(callee) && ["String", "Number", "Boolean"].includes(callee.name)
  if (callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "Identifier") return false
  const { name } = callee.object
  const isKnown = name === "console" || (name === "JSON" && isNamed(callee.property, "stringify"))
  return isKnown && isFree(callee.object)
}

function isFromElement(read: AnyNode, flow: CellFlow): boolean {
  const node = unwrapped(read)
  if (node.type === "MemberExpression") return isElement(node.object, flow)
  if (node.type !== "Identifier") return false
  const declaration = flow.scopes.references.get(node)?.declaration
  if (!declaration) return false
  const { path, init } = declaration
  if (path.filter((step) => step === "constructor").length > 1) return false
  if (path.length > 0)
    return path.at(-1) === "constructor" && (init ? isElement(init, flow) : isCallbackOrLoop(declaration, flow))
  return init !== undefined && isFromElement(init, flow)
}

function isElement(object: AnyNode, flow: CellFlow): boolean {
  const node = unwrapped(object)
  if (node.type === "MemberExpression")
    return node.computed && !holdsFunctions(node.object, flow) && isIndex(node.property, flow)
  if (node.type !== "Identifier") return false
  const declaration = flow.scopes.references.get(node)?.declaration
  if (!declaration || declaration.path.includes("constructor")) return false
  if (declaration.references.some(({ write }) => write)) return false
  if (declaration.init) return declaration.path.length === 0 && isElement(declaration.init, flow)
  return isCallbackOrLoop(declaration, flow)
}

function isIndex(property: AnyNode, flow: CellFlow): boolean {
  const key = flow.key(true, property)
  return key === undefined || /^\d+$/.test(key)
}

/** Whether a variable is given elements: by a loop, or as the parameter of a function that is written where it is handed over. */
function isCallbackOrLoop({ node, kind }: Declaration, flow: CellFlow): boolean {
  for (let each: AnyNode | undefined = node; each; each = flow.parentOf(each)) {
    if (each.type === "ForOfStatement") return kind !== "parameter" && !holdsFunctions(each.right, flow)
    if (!isFunction(each)) continue
    const call = flow.parentOf(each)
    if (kind !== "parameter" || call?.type !== "CallExpression" || call.callee === each) return false
    return call.callee.type === "MemberExpression" && !holdsFunctions(call.callee.object, flow)
  }
  return false
}

/** Whether a collection is made of functions or classes in this cell, or not by a name at all. */
function holdsFunctions(collection: AnyNode, flow: CellFlow): boolean {
  const node = unwrapped(collection)
  switch (node.type) {
    case "Identifier": {
      // The callbacks of `Object.groupBy(rows, …)` and `Array.from(rows, …)` get elements too.
      const declaration = flow.scopes.references.get(node)?.declaration
      if (!declaration?.init) return false
      return isFunction(declaration.init) || isClass(declaration.init) || holdsFunctions(declaration.init, flow)
    }
    case "MemberExpression":
      return leadsOn.has(flow.key(node.computed, node.property) ?? "") || holdsFunctions(node.object, flow)
    case "CallExpression":
      return holdsFunctions(node.callee, flow)
    case "AwaitExpression":
      return holdsFunctions(node.argument, flow)
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
  const node = unwrapped(element)
  return (
    !["ObjectExpression", "Literal", "TemplateLiteral", "ArrayExpression"].includes(node.type) ||
    (node.type === "ArrayExpression" && holdsFunctions(node, flow))
  )
}

function isClass(node: AnyNode): boolean {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression"
}
