// Writes the types of the author's file so that they are valid in a block of declarations: each named type is one of
// the block, a type of the language, a type of a package, or `unknown`.
import type { AnyNode, Node } from "acorn"
import { childNode } from "../parse-signature.ts"
import type { SourceModule } from "./source-module.ts"

export interface TypeScope {
  module: SourceModule
  names: TypeNames
  /** The type parameters in scope, with the text to write for each. */
  typeParameters: ReadonlyMap<string, string>
}

/** Names the types that a file mentions. Returns undefined for a type that cannot be found. */
export interface TypeNames {
  /** `path` is a name such as `Task`, or the parts of `tasks.Task`. */
  nameOf(path: readonly string[], module: SourceModule): string | undefined
  /** `import("./tasks").Task` */
  importedName(specifier: string, path: readonly string[], module: SourceModule): string | undefined
  /** Returns the type that an alias of the user's sources stands for. */
  aliasedType(type: Node, scope: TypeScope): { type: Node; scope: TypeScope } | undefined
}

/** Returns the text of a node with every type in it resolved; undefined if the type cannot be expressed. */
export function resolveTypes(node: Node, scope: TypeScope): string | undefined {
  const inner = withTypeParameters(node, scope)
  switch (node.type) {
    case "TSTypeReference":
      return resolveReference(node, childNode(node, "typeName"), inner)
    case "TSExpressionWithTypeArguments":
      return resolveReference(node, childNode(node, "expression"), inner)
    case "TSImportType":
      return resolveImport(node, inner)
    case "TSTypeQuery":
      return constantType(node, scope)
    case "TSIndexedAccessType":
      return elementsOfConstant(node, scope) ?? spliceChildren(node, inner)
    case "TSTypePredicate":
    case "TSThisType":
      return spliceChildren(node, inner, (child) => child !== childNode(node, "parameterName"))
    case "TSTypeParameter":
      return typeParameterText(node, inner)
    case "TSMappedType": {
      // `[K in unknown]` is an error.
      const keys = childNode(childNode(node, "typeParameter") ?? {}, "constraint")
      return keys && resolveTypes(keys, inner) === undefined ? undefined : spliceChildren(node, inner)
    }
    default:
      return spliceChildren(node, inner)
  }
}

/** Like `resolveTypes`, with `unknown` for what cannot be expressed. */
export function resolveOrUnknown(node: Node, scope: TypeScope): string {
  return resolveTypes(node, scope) ?? "unknown"
}

/** Returns the scope inside a node that declares type parameters. */
export function withTypeParameters(node: Node, scope: TypeScope): TypeScope {
  const list = childNode(node, "typeParameters")
  const own = list?.type === "TSTypeParameterDeclaration" ? childNodes(list) : childNodes(node)
  const parameters = own.filter(({ type }) => type === "TSTypeParameter")
  // `infer T` declares a parameter for the rest of the conditional type.
  if (node.type === "TSConditionalType") parameters.push(...inferredParameters(childNode(node, "extendsType")))
  if (parameters.length === 0) return scope
  const entries = parameters.map((each): [string, string] => [parameterName(each), parameterName(each)])
  return { ...scope, typeParameters: new Map([...scope.typeParameters, ...entries]) }
}

export function parameterName(parameter: Node): string {
  const name: unknown = Reflect.get(parameter, "name")
  if (typeof name === "string") return name
  return typeof name === "object" && name !== null && "name" in name ? String(name.name) : ""
}

/** Returns the children of a node that are nodes, in source order. */
export function childNodes(node: Node): Node[] {
  const children = Object.values(node)
    .flat()
    .filter(
      (value): value is Node => typeof value === "object" && value !== null && "type" in value && "start" in value,
    )
  return children.sort((one, other) => one.start - other.start)
}

function inferredParameters(node: Node | undefined): Node[] {
  if (!node) return []
  return childNodes(node).flatMap((child) => (child.type === "TSTypeParameter" ? [child] : inferredParameters(child)))
}

/** Copies the text of a node and replaces its children by their resolved texts. */
function spliceChildren(
  node: Node,
  scope: TypeScope,
  isType: (child: Node) => boolean = () => true,
): string | undefined {
  const { code } = scope.module
  let text = ""
  let from = node.start
  for (const child of childNodes(node)) {
    if (child.start < from || !isType(child)) continue
    if (isHiddenMember(node, child, code)) {
      text = withoutLastComment(text + code.slice(from, child.start))
      from = child.end
      continue
    }
    if (!mayHoldTypes(child)) continue
    const resolved = resolveTypes(child, scope) ?? substitute(node, child, code)
    if (resolved === undefined) return undefined
    text += code.slice(from, child.start) + resolved
    from = child.end
  }
  return text + code.slice(from, node.end)
}

/** A member whose name is a symbol of the module cannot be named in the block. */
function isHiddenMember(node: Node, member: Node, code: string): boolean {
  if (node.type !== "TSInterfaceBody" && node.type !== "TSTypeLiteral") return false
  const key = Reflect.get(member, "computed") === true ? childNode(member, "key") : undefined
  return key !== undefined && key.type !== "Literal" && !code.startsWith("Symbol.", key.start)
}

/** Returns what is written for a part that cannot be expressed; undefined if the whole cannot be expressed either. */
function substitute(node: Node, child: Node, code: string): string | undefined {
  if (child.type === "TSTypeAnnotation") {
    const [mark = ""] = /^(?:=>|:)/.exec(code.slice(child.start, child.start + 2)) ?? []
    return `${mark} unknown`
  }
  if (child.type === "TSTypeParameterInstantiation") return undefined
  return transparentTypes.has(node.type) ? "unknown" : undefined
}

const transparentTypes = new Set([
  "TSArrayType",
  "TSTupleType",
  "TSNamedTupleMember",
  "TSOptionalType",
  "TSIntersectionType",
  "TSFunctionType",
  "TSConstructorType",
  "TSTypeParameter",
])

/** Default values, bodies and keys hold no types that are shown. */
function mayHoldTypes({ type }: Node): boolean {
  return type.startsWith("TS") || type.endsWith("Pattern") || typedParameters.has(type)
}

const typedParameters = new Set(["Identifier", "RestElement", "TemplateLiteral"])

function typeParameterText(node: Node, scope: TypeScope): string {
  const constraint = childNode(node, "constraint")
  const text = spliceChildren(node, scope)
  // The key of a mapped type is a type parameter too: `[K in keyof T]`.
  return text ?? (constraint ? `${parameterName(node)} extends unknown` : parameterName(node))
}

function resolveReference(node: Node, name: Node | undefined, scope: TypeScope): string | undefined {
  const path = name && nameParts(name)
  const [first = ""] = path ?? []
  if (!path) return undefined
  const parameter = path.length === 1 ? scope.typeParameters.get(first) : undefined
  const found = parameter ?? scope.names.nameOf(path, scope.module)
  const list = childNode(node, "typeArguments") ?? childNode(node, "typeParameters")
  if (found === undefined || !list) return found
  const typeArguments = childNodes(list).map((each) => resolveTypes(each, scope))
  // An argument `unknown` may violate a constraint of the type; `Record<unknown, …>` is an error.
  if (typeArguments.includes(undefined) && constrainedTypes.has(found)) return undefined
  const missing = openTypes.has(found) ? "unknown" : "any"
  return `${found}<${typeArguments.map((text) => text ?? missing).join(", ")}>`
}

const constrainedTypes = new Set(
  `Record Pick Omit ReturnType Parameters ConstructorParameters InstanceType Uppercase Lowercase Capitalize Uncapitalize
   ThisParameterType OmitThisParameter`.split(/\s+/),
)

const openTypes = new Set("Array ReadonlyArray Promise PromiseLike Map Set Iterable AsyncIterable Partial".split(" "))

function resolveImport(node: Node, scope: TypeScope): string | undefined {
  const specifier: unknown = Reflect.get(childNode(node, "argument") ?? {}, "value")
  const qualifier = childNode(node, "qualifier")
  const path = qualifier && nameParts(qualifier)
  if (typeof specifier !== "string" || !path) return undefined
  const found = scope.names.importedName(specifier, path, scope.module)
  const list = childNode(node, "typeArguments")
  if (found === undefined || !list) return found
  return `${found}<${childNodes(list)
    .map((each) => resolveTypes(each, scope) ?? "any")
    .join(", ")}>`
}

function nameParts(node: Node): string[] | undefined {
  if (node.type === "Identifier") return [String(Reflect.get(node, "name"))]
  const [left, right] = [childNode(node, "left"), childNode(node, "right")]
  const [before, after] = [left && nameParts(left), right && nameParts(right)]
  return before && after ? [...before, ...after] : undefined
}

/** Returns `"a" | "b"` for `(typeof modes)[number]`, where `modes` is `["a", "b"] as const`. */
function elementsOfConstant(node: Node, { module }: TypeScope): string | undefined {
  let list = childNode(node, "objectType")
  while (list?.type === "TSParenthesizedType") list = childNode(list, "typeAnnotation")
  if (list?.type !== "TSTypeQuery" || childNode(node, "indexType")?.type !== "TSNumberKeyword") return undefined
  const value = constantValue(list, module)
  if (value?.type !== "ArrayExpression") return undefined
  const parts = value.elements.map((each) => (each ? literalType(each, module.code) : undefined))
  return parts.length === 0 || parts.includes(undefined) ? undefined : `(${parts.join(" | ")})`
}

/** Returns the type of a constant of the module that is written with `as const`: `typeof modes`. */
function constantType(node: Node, { module }: TypeScope): string | undefined {
  const value = constantValue(node, module)
  const text = value && literalType(value, module.code)
  return text !== undefined && text.length <= maxConstant ? text : undefined
}

const maxConstant = 400

/** Returns the value of a constant with `as const`. */
function constantValue(node: Node, module: SourceModule): AnyNode | undefined {
  const [name = "", more] = nameParts(childNode(node, "exprName") ?? node) ?? []
  const [declared] = more === undefined ? (module.declared.get(name) ?? []) : []
  const value = declared?.node
  if (value?.type !== "TSAsExpression") return undefined
  const type = childNode(value, "typeAnnotation")
  return type && module.code.slice(type.start, type.end) === "const" ? value.expression : undefined
}

function literalType(node: AnyNode, code: string): string | undefined {
  if (node.type === "Literal" && !node.regex) return code.slice(node.start, node.end)
  if (node.type === "ArrayExpression") {
    const parts = node.elements.map((each) => (each ? literalType(each, code) : undefined))
    return parts.includes(undefined) ? undefined : `readonly [${parts.join(", ")}]`
  }
  if (node.type !== "ObjectExpression") return undefined
  const parts = node.properties.map((each) => {
    const value = each.type === "Property" && !each.computed ? literalType(each.value, code) : undefined
    return each.type === "Property" && value !== undefined
      ? `readonly ${code.slice(each.key.start, each.key.end)}: ${value}`
      : undefined
  })
  return parts.includes(undefined) ? undefined : `{ ${parts.join("; ")} }`
}

function withoutLastComment(text: string): string {
  const code = text.trimEnd()
  const start = code.endsWith("*/") ? code.lastIndexOf("/*") : -1
  return start < 0 ? code : code.slice(0, start)
}
