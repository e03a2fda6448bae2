// Parses signatures and types written as TypeScript text, and reads them from syntax trees. An unknown parameter type
// is `unknown` and an unknown result `any`, so that the type gate rejects neither.
import type { AnyNode, Function as FunctionNode, MethodDefinition, Node, Pattern } from "acorn"
import { attempt } from "../../core/attempt.ts"
import { ConfigError } from "../../core/errors.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import type { ParameterProperty, TypeNode } from "../compiler/typescript-ast.ts"
import * as types from "./type-tree.ts"

/** Parses a signature such as `(name: string) => Task`, `(name: string): Task` or `function add(name: string):
 *  Task`. */
export function parseSignature(text: string, owner: string): types.Signature {
  const bare = text.trim().replace(/^(?:export\s+)?(?:declare\s+)?(?:async\s+)?(?:function\b\s*)?/, "")
  for (const code of [`declare let f: ${bare}`, `declare function f${bare}`, `declare function ${bare}`]) {
    const signature = attempt(() => readSignature(code))
    if (signature) return signature
  }
  throw new ConfigError(
    `The signature of ${owner} is not TypeScript: ${text}. Write it like "(name: string, count?: number) => Task".`,
  )
}

export function parseType(text: string, owner: string): types.TypeTree {
  const code = `declare let x: ${text.trim().replace(/;$/, "")}`
  const tree = attempt(() => {
    const [statement, more] = parseCell(code).program.body
    if (statement?.type !== "VariableDeclaration" || more) return undefined
    const [declaration, another] = statement.declarations
    if (declaration?.id.type !== "Identifier" || declaration.init || another) return undefined
    return annotatedType(declaration.id, code)
  })
  if (tree) return tree
  throw new ConfigError(
    `The type of ${owner} is not TypeScript: ${text}. Write it like "Task[]" or "{ name: string }".`,
  )
}

/** Returns the signature of a function node. `code` is the text it was parsed from. */
export function signatureOf(node: FunctionNode, code: string): types.Signature {
  return {
    generics: node.typeParameters && sourceText(node.typeParameters, code),
    parameters: parametersOf(node.params, code),
    ...annotatedResult(node.returnType, code, defaultResult(node.async, node.generator)),
  }
}

/** Returns the function of a method. The parser puts the type parameters of a method of a class beside its function. */
export function methodFunction({ value, typeParameters }: MethodDefinition): FunctionNode {
  return typeParameters ? { ...value, typeParameters } : value
}

/** Returns the type annotation of a node, if it has one. */
export function annotatedType(
  node: { typeAnnotation?: TypeNode | undefined },
  code: string,
): types.TypeTree | undefined {
  const type = node.typeAnnotation && childNode(node.typeAnnotation, "typeAnnotation")
  return type && typeFromNode(type, code)
}

/** Returns the type of an expression whose form shows it: `5`, `"x"`, `[…]`, `new Map()`, `x as Task`. */
export function expressionType(node: AnyNode | null | undefined, code: string): types.TypeTree | undefined {
  switch (node?.type) {
    case "Literal":
      if (node.regex) return types.named("RegExp")
      if (node.value === null) return undefined
      return types.named(typeof node.value)
    case "TemplateLiteral":
      return types.named("string")
    case "ArrayExpression":
      return { kind: "array", element: types.any }
    case "UnaryExpression":
      return node.operator === "!"
        ? types.named("boolean")
        : expressionType(node.operator === "-" ? node.argument : null, code)
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return { kind: "function", signature: signatureOf(node, code) }
    case "NewExpression":
      return node.callee.type === "Identifier" ? globalType(node.callee.name) : undefined
    case "TSAsExpression":
    case "TSSatisfiesExpression": {
      const type = childNode(node, "typeAnnotation")
      return type?.type === "TSTypeReference" && sourceText(type, code) === "const"
        ? undefined
        : type && typeFromNode(type, code)
    }
    default:
      return undefined
  }
}

/** Returns the type of instances of a global class, with `any` as type arguments; undefined without such a class. */
export function globalType(name: string): types.TypeTree | undefined {
  const open = openGenericTypes.get(name)
  if (open) return types.named(open)
  return Object.hasOwn(globalThis, name) && /^[A-Z]/.test(name) ? types.named(name) : undefined
}

/** Returns a child of a TypeScript node, which acorn's types do not describe. */
export function childNode(node: object, key: string): Node | undefined {
  const value: unknown = Reflect.get(node, key)
  return typeof value === "object" && value !== null && "start" in value ? (value as Node) : undefined
}

export function sourceText(node: Node, code: string): string {
  return code.slice(node.start, node.end)
}

const openGenericTypes = new Map([
  ["Map", "Map<any, any>"],
  ["Set", "Set<any>"],
  ["Array", "any[]"],
  ["Promise", "Promise<any>"],
  ["WeakMap", "WeakMap<any, any>"],
  ["WeakSet", "WeakSet<any>"],
  ["WeakRef", "WeakRef<any>"],
])

function readSignature(code: string): types.Signature | undefined {
  const body: readonly AnyNode[] = parseCell(code).program.body
  const [statement, more] = body
  if (!statement || more) return undefined
  if (statement.type === "TSDeclareFunction") return signatureOf(statement as Node as FunctionNode, code)
  if (statement.type !== "VariableDeclaration") return undefined
  const [declaration, another] = statement.declarations
  if (declaration?.id.type !== "Identifier" || another) return undefined
  const type = declaration.id.typeAnnotation && childNode(declaration.id.typeAnnotation, "typeAnnotation")
  if (type?.type !== "TSFunctionType") return undefined
  const generics = childNode(type, "typeParameters")
  const parameters: unknown = Reflect.get(type, "parameters")
  return {
    generics: generics && sourceText(generics, code),
    parameters: parametersOf(parameters as Pattern[], code),
    ...annotatedResult(childNode(type, "typeAnnotation"), code, types.any),
  }
}

export function parametersOf(params: readonly (Pattern | ParameterProperty)[], code: string): types.Parameter[] {
  const parameters = params.map((param, index) => parameterOf(param, code, `arg${index + 1}`))
  return parameters.filter((parameter) => parameter.name !== "this")
}

function parameterOf(param: Pattern | ParameterProperty, code: string, fallbackName: string): types.Parameter {
  switch (param.type) {
    case "TSParameterProperty":
      return parameterOf(param.parameter, code, fallbackName)
    case "AssignmentPattern": {
      const inner = parameterOf(param.left, code, fallbackName)
      const type = inner.type === types.unknown ? (expressionType(param.right, code) ?? types.unknown) : inner.type
      return { ...inner, type, optional: true }
    }
    case "RestElement": {
      const type = annotatedType(param, code) ?? { kind: "array", element: types.unknown }
      return { name: param.argument.type === "Identifier" ? param.argument.name : fallbackName, type, rest: true }
    }
    case "ObjectPattern":
      return { name: "options", type: annotatedType(param, code) ?? objectPatternType(param.properties, code) }
    case "Identifier": {
      const name = param.name === "this" || types.isIdentifier(param.name) ? param.name : fallbackName
      return { name, type: annotatedType(param, code) ?? types.unknown, optional: param.optional }
    }
    default:
      return { name: fallbackName, type: ("typeAnnotation" in param && annotatedType(param, code)) || types.unknown }
  }
}

function objectPatternType(
  properties: Extract<Pattern, { type: "ObjectPattern" }>["properties"],
  code: string,
): types.TypeTree {
  const members = properties.flatMap((property): types.Member[] => {
    if (property.type === "RestElement" || property.computed) return []
    const key =
      property.key.type === "Identifier"
        ? property.key.name
        : property.key.type === "Literal"
          ? String(property.key.value)
          : ""
    const { type, optional } = parameterOf(property.value, code, "")
    return key ? [{ name: types.propertyName(key), form: "field", type, optional }] : []
  })
  return members.length ? { kind: "object", members } : types.unknown
}

export function annotatedResult(
  annotation: Node | undefined,
  code: string,
  otherwise: types.TypeTree,
): Pick<types.Signature, "returns" | "awaited"> {
  const type = annotation && childNode(annotation, "typeAnnotation")
  if (!type) return { returns: otherwise }
  const returns = typeFromNode(type, code)
  if (type.type !== "TSTypePredicate") return { returns }
  return { returns, awaited: types.named(Reflect.get(type, "asserts") ? "void" : "boolean") }
}

export function defaultResult(async: boolean, generator: boolean): types.TypeTree {
  if (generator) return types.named(async ? "AsyncGenerator<any>" : "Generator<any>")
  return async ? types.named("Promise<any>") : types.any
}

/** Converts a type node to text. Names and keywords never need parentheses. */
export function typeFromNode(node: Node, code: string): types.TypeTree {
  const whole = node.type === "TSTypeReference" || node.type.endsWith("Keyword") || node.type === "TSTypeLiteral"
  return { kind: whole ? "name" : "text", text: sourceText(node, code) }
}
