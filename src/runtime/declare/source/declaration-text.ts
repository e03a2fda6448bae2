// Writes functions, classes and types of the author's file as text without bodies, in which every type is resolved.
import type {
  AnyNode,
  Class,
  Expression,
  Function as FunctionNode,
  MethodDefinition,
  Node,
  PropertyDefinition,
} from "acorn"
import { walk } from "../../compiler/parse-cell.ts"
import { isPrivateName } from "../class-source.ts"
import { childNode, methodFunction } from "../parse-signature.ts"
import { jsDoc } from "../type-tree.ts"
import { docBefore, shortDoc } from "./doc-text.ts"
import {
  childNodes,
  parameterName,
  resolveOrUnknown,
  resolveTypes,
  type TypeScope,
  withTypeParameters,
} from "./resolve-types.ts"

/** Writes a function declaration called `f`. */
export function functionText(node: FunctionNode, scope: TypeScope): string {
  return `${node.async ? "async " : ""}function${node.generator ? "*" : ""} f${callText(node, scope)} {}`
}

export interface ClassText {
  text: string
  /** The names of members that only the class itself may use. */
  hidden: Set<string>
  /** True if members were left out because there are too many. */
  isCut: boolean
}

/** At most this many members of a class are shown. */
export const maxClassMembers = 40

/** Writes a class without its base class. Type arguments replace the type parameters. */
export function classText(node: Class, name: string, outer: TypeScope, typeArguments?: readonly string[]): ClassText {
  const scope = typeArguments ? withTypeArguments(node, outer, typeArguments) : withTypeParameters(node, outer)
  const hidden = new Set<string>()
  const members = new Set<string>()
  const lines: string[] = []
  let isCut = false
  for (const element of node.body.body) {
    if (element.type !== "MethodDefinition" && element.type !== "PropertyDefinition") continue
    const key = keyName(element)
    if (key === undefined) continue
    if (element.type === "MethodDefinition" && element.kind === "constructor") {
      for (const each of hiddenParameters(element)) hidden.add(each)
    } else if (isPrivateName(key) || (element.accessibility ?? "public") !== "public") {
      hidden.add(key)
      continue
    } else if (!members.has(key) && members.size >= maxClassMembers) {
      isCut = true
      continue
    } else members.add(key)
    lines.push(jsDoc(shortDoc(docBefore(scope.module.code, element.start)), "  ") + elementText(element, scope))
  }
  const head = `${node.abstract ? "abstract " : ""}class ${name}${typeArguments ? "" : typeParametersText(node, scope, true)}`
  return { text: `${head} {\n${lines.join("\n")}\n}`, hidden, isCut }
}

function withTypeArguments(node: Class, scope: TypeScope, typeArguments: readonly string[]): TypeScope {
  const list = node.typeParameters ? childNodes(node.typeParameters) : []
  const entries = list.map((each, index): [string, string] => [
    parameterName(each),
    operand(typeArguments[index] ?? "any"),
  ])
  return { ...scope, typeParameters: new Map([...scope.typeParameters, ...entries]) }
}

/** Adds parentheses where `[]` or `|` may follow. */
function operand(type: string): string {
  return /^[\w$.]+$/.test(type) ? type : `(${type})`
}

/** Writes `<T extends Row>`. With defaults, instances can be named without arguments. */
export function typeParametersText(node: Node, scope: TypeScope, withDefaults = false): string {
  const list = childNode(node, "typeParameters")
  if (list?.type !== "TSTypeParameterDeclaration") return ""
  const parameters = childNodes(list).map((each) => {
    const text = onOneLine(resolveTypes(each, scope) ?? parameterName(each))
    return withDefaults && !childNode(each, "default") ? `${text} = any` : text
  })
  return `<${parameters.join(", ")}>`
}

function elementText(element: MethodDefinition | PropertyDefinition, scope: TypeScope): string {
  const { key, computed, optional, abstract, readonly } = element
  const name = scope.module.code.slice(key.start, key.end)
  const written = `${computed ? `[${name}]` : name}${optional ? "?" : ""}`
  const before = `  ${visibility(element)}${element.static ? "static " : ""}${abstract ? "abstract " : ""}`
  if (element.type === "PropertyDefinition") {
    return `${before}${readonly ? "readonly " : ""}${written}${fieldText(element, scope)};`
  }
  const { value, kind } = element
  const form = kind === "get" || kind === "set" ? `${kind} ` : ""
  const hasBody = childNode(value, "body") !== undefined
  const head = `${value.async ? "async " : ""}${form}${value.generator ? "*" : ""}${written}`
  const call = callText(methodFunction(element), scope, kind === "method" || kind === "get")
  return `${before}${head}${call}${hasBody ? ` ${bodyText(element, scope)}` : ";"}`
}

function visibility({ accessibility }: MethodDefinition | PropertyDefinition): string {
  return accessibility && accessibility !== "public" ? `${accessibility} ` : ""
}

/** A constructor in JavaScript shows the fields of its class. */
function bodyText({ kind, value }: MethodDefinition, { module }: TypeScope): string {
  const isUntyped = /\.[cm]?jsx?$/.test(module.path)
  return kind === "constructor" && isUntyped ? module.code.slice(value.body.start, value.body.end) : "{}"
}

function callText(node: FunctionNode, outer: TypeScope, hasResult = true): string {
  const scope = withTypeParameters(node, outer)
  const parameters = (node.params as readonly AnyNode[])
    .filter((each) => each.type !== "Identifier" || each.name !== "this")
    .map((each) => parameterText(each, scope))
  const returns = node.returnType ? annotationText(node.returnType, scope) : hasResult ? unwrittenResult(node) : ""
  return `${typeParametersText(node, scope)}(${parameters.join(", ")})${returns}`
}

/** A function that never returns a value returns `void`; other results that are not written are `any`. */
function unwrittenResult(node: FunctionNode): string {
  const body = childNode(node, "body")
  if (body?.type !== "BlockStatement" || node.generator || returnsValue(node.body)) return ""
  return node.async ? ": Promise<void>" : ": void"
}

function returnsValue(body: AnyNode): boolean {
  let found = false
  walk(body, (node) => {
    if (node.type === "ReturnStatement" && node.argument) found = true
    return node === body || !/Function|Class/.test(node.type)
  })
  return found
}

function parameterText(node: AnyNode, scope: TypeScope): string {
  const { code } = scope.module
  const annotation = childNode(node, "typeAnnotation")
  const type = annotation ? annotationText(annotation, scope) : ""
  switch (node.type) {
    case "TSParameterProperty": {
      const accessibility: unknown = Reflect.get(node, "accessibility") ?? "public"
      const before = `${accessibility} ${Reflect.get(node, "readonly") === true ? "readonly " : ""}`
      return before + parameterText(node.parameter, scope)
    }
    case "Identifier":
      return `${node.name}${node.optional ? "?" : ""}${type}`
    case "RestElement":
      return `...${node.argument.type === "Identifier" ? node.argument.name : "rest"}${type}`
    case "AssignmentPattern": {
      const left = parameterText(node.left, scope)
      return `${left} = ${childNode(node.left, "typeAnnotation") ? "0" : valueText(node.right, scope)}`
    }
    default:
      return type ? `{}${type}` : code.slice(node.start, node.end)
  }
}

function annotationText(annotation: Node, scope: TypeScope): string {
  const type = childNode(annotation, "typeAnnotation")
  return `: ${type ? onOneLine(resolveOrUnknown(type, scope)) : "unknown"}`
}

/** Joins the lines of a short type. A line break between members becomes a semicolon. */
function onOneLine(type: string): string {
  if (type.includes("//")) return type
  const lines = type.split("\n").map((line) => line.trim())
  const [first = "", ...rest] = lines.filter(Boolean)
  const joined = rest.reduce((line, next) => {
    const isInside = /[{([,;|&<=>:?]$/.test(line) || /^[})\]|&,.?:>=]/.test(next)
    return `${line}${isInside ? " " : "; "}${next}`
  }, first)
  const line = joined.replace(/; \}/g, " }")
  return line.length > maxLine ? type : line
}

const maxLine = 100

/** Writes `: Task[]`, or a value that shows the type. */
function fieldText(field: PropertyDefinition, scope: TypeScope): string {
  if (field.typeAnnotation) return annotationText(field.typeAnnotation, scope)
  const { value } = field
  if (!value) return ""
  if (value.type === "NewExpression") {
    const type = createdType(value, scope)
    return type === undefined ? "" : `: ${type}`
  }
  const text = valueText(value, scope)
  return text === unknownValue ? "" : ` = ${text}`
}

const unknownValue = "f()"

/** Writes a short value of the same type. */
function valueText(value: AnyNode, scope: TypeScope): string {
  switch (value.type) {
    case "Literal":
    case "UnaryExpression":
      return value.end - value.start <= maxValue ? scope.module.code.slice(value.start, value.end) : '""'
    case "TemplateLiteral":
      return '""'
    case "ArrayExpression":
      return "[]"
    case "NewExpression": {
      const type = createdType(value, scope)
      return type === undefined ? unknownValue : `null as ${type}`
    }
    case "ObjectExpression":
      return "{}"
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return value.generator
        ? `${value.async ? "async " : ""}function*${callText(value, scope)} {}`
        : `${value.async ? "async " : ""}${callText(value, scope)} => {}`
    case "TSAsExpression":
    case "TSSatisfiesExpression": {
      const type = childNode(value, "typeAnnotation")
      const isConst = type && scope.module.code.slice(type.start, type.end) === "const"
      return type && !isConst ? `null as ${resolveOrUnknown(type, scope)}` : valueText(value.expression, scope)
    }
    default:
      return unknownValue
  }
}

const maxValue = 40

/** Returns the type of `new Map<string, Task>()`. */
function createdType(value: Extract<Expression, { type: "NewExpression" }>, scope: TypeScope): string | undefined {
  if (value.callee.type !== "Identifier") return undefined
  const { name } = value.callee
  const found = scope.names.nameOf([name], scope.module)
  const list = childNode(value, "typeArguments")
  if (found === undefined) return undefined
  if (list)
    return `${found}<${childNodes(list)
      .map((each) => resolveTypes(each, scope) ?? "any")
      .join(", ")}>`
  return openArguments[found] ?? found
}

const openArguments: { [name: string]: string } = {
  Map: "Map<any, any>",
  Set: "Set<any>",
  Array: "any[]",
  Promise: "Promise<any>",
  WeakMap: "WeakMap<any, any>",
  WeakSet: "WeakSet<any>",
  WeakRef: "WeakRef<any>",
}

function keyName({ key, computed }: MethodDefinition | PropertyDefinition): string | undefined {
  if (key.type === "PrivateIdentifier" || computed) return undefined
  if (key.type === "Identifier") return key.name
  return key.type === "Literal" ? String(key.value) : undefined
}

/** Returns the names of fields that constructor parameters declare for the class itself. */
function hiddenParameters({ value }: MethodDefinition): string[] {
  return (value.params as readonly AnyNode[]).flatMap((each) => {
    if (each.type !== "TSParameterProperty") return []
    const isHidden = ["private", "protected"].includes(String(Reflect.get(each, "accessibility")))
    const { parameter } = each
    const inner = parameter.type === "AssignmentPattern" ? parameter.left : parameter
    return isHidden && inner.type === "Identifier" ? [inner.name] : []
  })
}
