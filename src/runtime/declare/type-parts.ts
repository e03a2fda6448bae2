// Splits types, interfaces and type aliases given as text into their parts.
import type { Identifier, Node, Pattern } from "acorn"
import { attempt } from "../../core/attempt.ts"
import { parseCell } from "../compiler/parse-cell.ts"
import { docCommentBefore } from "./class-source.ts"
import { annotatedResult, annotatedType, childNode, parametersOf, sourceText, typeFromNode } from "./parse-signature.ts"
import { any, type Member, propertyName, type Signature, type TypeTree } from "./type-tree.ts"

export interface SplitTypeDeclaration {
  name: string
  /** Text such as `<T extends Row>`. */
  generics: string
  /** The types after `extends`, as text. */
  bases: string[]
  /** The aliased type; undefined for an interface. */
  alias?: TypeTree | undefined
  members: Member[]
}

/** Splits a type such as `Task[]` or `{ name: string }` by one level. Returns other text unchanged. */
export function splitType(tree: TypeTree): TypeTree {
  if (tree.kind !== "name" && tree.kind !== "text") return tree
  const code = `declare let x: ${tree.text}`
  return (
    attempt(() => {
      const [statement] = parseCell(code).program.body
      const id = statement?.type === "VariableDeclaration" ? statement.declarations[0]?.id : undefined
      const type = id?.type === "Identifier" ? annotationOf(id) : undefined
      return type && splitNode(type, code)
    }) ?? tree
  )
}

/** Splits one interface or type alias; returns undefined for any other text. */
export function splitTypeDeclaration(code: string): SplitTypeDeclaration | undefined {
  return attempt(() => {
    // Acorn's types lack TypeScript's statements.
    const [node, more] = parseCell(code).program.body as readonly Node[]
    if (!node || more) return undefined
    const name = childNode(node, "id")
    const generics = childNode(node, "typeParameters")
    const shared = { name: name ? sourceText(name, code) : "", generics: generics ? sourceText(generics, code) : "" }
    if (node.type === "TSTypeAliasDeclaration") {
      const type = childNode(node, "typeAnnotation")
      return type && { ...shared, bases: [], members: [], alias: typeFromNode(type, code) }
    }
    const body = node.type === "TSInterfaceDeclaration" ? childNode(node, "body") : undefined
    if (!body) return undefined
    const bases = childNodes(node, "extends").map((base) => sourceText(base, code))
    return { ...shared, bases, members: readTypeMembers(childNodes(body, "body"), body.start + 1, code) }
  })
}

function splitNode(node: Node, code: string): TypeTree {
  const inner = (key: string): TypeTree => {
    const type = childNode(node, key)
    return type ? withoutParentheses(type, code) : any
  }
  const list = (key: string) => childNodes(node, key).map((each) => withoutParentheses(each, code))
  switch (node.type) {
    case "TSTypeLiteral":
      return { kind: "object", members: readTypeMembers(childNodes(node, "members"), node.start + 1, code) }
    case "TSArrayType":
      return { kind: "array", element: inner("elementType") }
    case "TSUnionType":
      return { kind: "union", parts: list("types") }
    case "TSIntersectionType":
      return { kind: "intersection", parts: list("types") }
    case "TSParenthesizedType": {
      const type = childNode(node, "typeAnnotation")
      return type ? splitNode(type, code) : typeFromNode(node, code)
    }
    case "TSFunctionType":
      return { kind: "function", signature: signatureFromNode(node, code) }
    case "TSConstructorType":
      return { kind: "function", signature: signatureFromNode(node, code), constructs: true }
    case "TSTupleType":
      return splitTuple(childNodes(node, "elementTypes"), code) ?? typeFromNode(node, code)
    case "TSTypeReference": {
      const name = childNode(node, "typeName")
      const typeArguments = childNode(node, "typeArguments") ?? childNode(node, "typeParameters")
      if (!name || !typeArguments) return typeFromNode(node, code)
      const parts = childNodes(typeArguments, "params").map((each) => withoutParentheses(each, code))
      return { kind: "generic", name: sourceText(name, code), parts }
    }
    default:
      return typeFromNode(node, code)
  }
}

/** Returns undefined for tuples with named or rest elements, which the tree cannot represent. */
function splitTuple(elements: readonly Node[], code: string): TypeTree | undefined {
  if (elements.some(({ type }) => type === "TSNamedTupleMember" || type === "TSRestType")) return undefined
  const optionalAt = elements.findIndex(({ type }) => type === "TSOptionalType")
  const parts = elements.map((element) => {
    const type = element.type === "TSOptionalType" ? childNode(element, "typeAnnotation") : element
    return type ? withoutParentheses(type, code) : any
  })
  return { kind: "tuple", parts, required: optionalAt < 0 ? parts.length : optionalAt }
}

/** Drops parentheses; the printer adds those that are needed. */
function withoutParentheses(node: Node, code: string): TypeTree {
  const inner = node.type === "TSParenthesizedType" ? childNode(node, "typeAnnotation") : undefined
  return inner ? withoutParentheses(inner, code) : typeFromNode(node, code)
}

function readTypeMembers(nodes: readonly Node[], start: number, code: string): Member[] {
  let from = start
  const members = nodes.flatMap((node): Member[] => {
    const doc = docCommentBefore(code, from, node.start)
    from = node.end
    const name = memberName(node, code)
    if (name === undefined) return []
    const optional = Reflect.get(node, "optional") === true
    const readonly = Reflect.get(node, "readonly") === true
    if (node.type === "TSPropertySignature" || node.type === "TSIndexSignature") {
      const type = annotatedType(node as Node & Pick<Identifier, "typeAnnotation">, code) ?? any
      return [{ name, form: "field", type, optional, readonly, doc }]
    }
    const signature = signatureFromNode(node, code)
    const kind: unknown = Reflect.get(node, "kind")
    if (kind === "get") return [{ name, form: "getter", type: signature.returns, doc }]
    if (kind === "set") return [{ name, form: "setter", type: signature.parameters[0]?.type ?? any, doc }]
    return [{ name, form: "method", type: { kind: "function", signature }, optional, doc }]
  })
  return members.flatMap((member): Member[] => {
    const other = (form: Member["form"]) => members.some((each) => each.form === form && each.name === member.name)
    if (member.form === "getter" && other("setter")) return [{ ...member, form: "field" }]
    return member.form === "setter" && other("getter") ? [] : [member]
  })
}

function memberName(node: Node, code: string): string | undefined {
  switch (node.type) {
    case "TSCallSignatureDeclaration":
      return ""
    case "TSConstructSignatureDeclaration":
      // The space keeps the printer from quoting `new` as a method name.
      return "new "
    case "TSIndexSignature":
      return `[${childNodes(node, "parameters")
        .map((each) => sourceText(each, code))
        .join(", ")}]`
    default: {
      const key = childNode(node, "key")
      if (!key) return undefined
      if (Reflect.get(node, "computed") === true) return `[${sourceText(key, code)}]`
      return key.type === "Literal"
        ? propertyName(String(Reflect.get(key, "value")))
        : propertyName(sourceText(key, code))
    }
  }
}

function signatureFromNode(node: Node, code: string): Signature {
  const generics = childNode(node, "typeParameters")
  return {
    generics: generics && sourceText(generics, code),
    parameters: parametersOf(childNodes(node, "parameters") as Pattern[], code),
    ...annotatedResult(childNode(node, "typeAnnotation"), code, any),
  }
}

function annotationOf(node: object): Node | undefined {
  const annotation = childNode(node, "typeAnnotation")
  return annotation && childNode(annotation, "typeAnnotation")
}

function childNodes(node: object, key: string): Node[] {
  const value: unknown = Reflect.get(node, key)
  return Array.isArray(value) ? value : []
}
