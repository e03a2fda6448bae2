import type { Identifier, Node, Pattern } from "acorn"
import { parseCell } from "../syntax.ts"
import { docBefore } from "./class-source.ts"
import { annotated, attempt, child, parametersOf, resultsOf, textOf, typeNode } from "./signatures.ts"
import { any, type Member, propertyName, type Signature, type TypeTree } from "./type-tree.ts"

/** An interface or type alias, taken apart. */
export interface TypeDeclaration {
  name: string
  /** Text such as `<T extends Row>`. */
  generics: string
  /** The types after `extends`, as text. */
  bases: string[]
  /** What it declares; `undefined` for an interface whose members are in `members`. */
  alias?: TypeTree | undefined
  members: Member[]
}

/** A type with its outermost parts: text such as `Task[]` or `{ name: string }` is taken apart by one level. Text that has
 *  no parts that declarations need stays as it is. */
export function typeParts(tree: TypeTree): TypeTree {
  if (tree.kind !== "name" && tree.kind !== "text") return tree
  const code = `declare let x: ${tree.text}`
  return (
    attempt(() => {
      const [statement] = parseCell(code).program.body
      const id = statement?.type === "VariableDeclaration" ? statement.declarations[0]?.id : undefined
      const type = id?.type === "Identifier" ? annotationOf(id) : undefined
      return type && partsOf(type, code)
    }) ?? tree
  )
}

/** Takes one interface or type alias apart; undefined for any other text. */
export function typeDeclarationParts(code: string): TypeDeclaration | undefined {
  return attempt(() => {
    // The parser's own types do not have TypeScript's statements.
    const [node, more] = parseCell(code).program.body as readonly Node[]
    if (!node || more) return undefined
    const name = child(node, "id")
    const generics = child(node, "typeParameters")
    const shared = { name: name ? textOf(name, code) : "", generics: generics ? textOf(generics, code) : "" }
    if (node.type === "TSTypeAliasDeclaration") {
      const type = child(node, "typeAnnotation")
      return type && { ...shared, bases: [], members: [], alias: typeNode(type, code) }
    }
    const body = node.type === "TSInterfaceDeclaration" ? child(node, "body") : undefined
    if (!body) return undefined
    const bases = children(node, "extends").map((base) => textOf(base, code))
    return { ...shared, bases, members: membersOf(children(body, "body"), body.start + 1, code) }
  })
}

function partsOf(node: Node, code: string): TypeTree {
  const inner = (key: string): TypeTree => {
    const type = child(node, key)
    return type ? part(type, code) : any
  }
  const list = (key: string) => children(node, key).map((each) => part(each, code))
  switch (node.type) {
    case "TSTypeLiteral":
      return { kind: "object", members: membersOf(children(node, "members"), node.start + 1, code) }
    case "TSArrayType":
      return { kind: "array", element: inner("elementType") }
    case "TSUnionType":
      return { kind: "union", parts: list("types") }
    case "TSIntersectionType":
      return { kind: "intersection", parts: list("types") }
    case "TSParenthesizedType": {
      const type = child(node, "typeAnnotation")
      return type ? partsOf(type, code) : typeNode(node, code)
    }
    case "TSFunctionType":
      return { kind: "function", signature: signatureIn(node, code) }
    case "TSConstructorType":
      return { kind: "function", signature: signatureIn(node, code), constructs: true }
    case "TSTupleType":
      return tuple(children(node, "elementTypes"), code) ?? typeNode(node, code)
    case "TSTypeReference": {
      const name = child(node, "typeName")
      const given = child(node, "typeArguments") ?? child(node, "typeParameters")
      if (!name || !given) return typeNode(node, code)
      const parts = children(given, "params").map((each) => part(each, code))
      return { kind: "generic", name: textOf(name, code), parts }
    }
    default:
      return typeNode(node, code)
  }
}

/** Undefined for one with names or spreads that the tree has no place for. */
function tuple(elements: readonly Node[], code: string): TypeTree | undefined {
  if (elements.some(({ type }) => type === "TSNamedTupleMember" || type === "TSRestType")) return undefined
  const optionalAt = elements.findIndex(({ type }) => type === "TSOptionalType")
  const parts = elements.map((element) => {
    const type = element.type === "TSOptionalType" ? child(element, "typeAnnotation") : element
    return type ? part(type, code) : any
  })
  return { kind: "tuple", parts, required: optionalAt < 0 ? parts.length : optionalAt }
}

/** A part of a type. Its own parentheses are left out: the printer sets those that are needed. */
function part(node: Node, code: string): TypeTree {
  const inner = node.type === "TSParenthesizedType" ? child(node, "typeAnnotation") : undefined
  return inner ? part(inner, code) : typeNode(node, code)
}

function membersOf(nodes: readonly Node[], start: number, code: string): Member[] {
  let from = start
  const members = nodes.flatMap((node): Member[] => {
    const doc = docBefore(code, from, node.start)
    from = node.end
    const name = memberName(node, code)
    if (name === undefined) return []
    const optional = Reflect.get(node, "optional") === true
    const readonly = Reflect.get(node, "readonly") === true
    if (node.type === "TSPropertySignature" || node.type === "TSIndexSignature") {
      const type = annotated(node as Node & Pick<Identifier, "typeAnnotation">, code) ?? any
      return [{ name, form: "field", type, optional, readonly, doc }]
    }
    const signature = signatureIn(node, code)
    const kind: unknown = Reflect.get(node, "kind")
    if (kind === "get") return [{ name, form: "getter", type: signature.returns, doc }]
    if (kind === "set") return [{ name, form: "setter", type: signature.parameters[0]?.type ?? any, doc }]
    return [{ name, form: "method", type: { kind: "function", signature }, optional, doc }]
  })
  return members.flatMap((member): Member[] => {
    const other = (form: Member["form"]) => members.some((each) => each.form === form && each.name === member.name)
    // A getter with a setter is a field.
    if (member.form === "getter" && other("setter")) return [{ ...member, form: "field" }]
    return member.form === "setter" && other("getter") ? [] : [member]
  })
}

function memberName(node: Node, code: string): string | undefined {
  switch (node.type) {
    case "TSCallSignatureDeclaration":
      return ""
    case "TSConstructSignatureDeclaration":
      // The blank keeps the printer from taking it for a method called `new`.
      return "new "
    case "TSIndexSignature":
      return `[${children(node, "parameters")
        .map((each) => textOf(each, code))
        .join(", ")}]`
    default: {
      const key = child(node, "key")
      if (!key) return undefined
      if (Reflect.get(node, "computed") === true) return `[${textOf(key, code)}]`
      return key.type === "Literal" ? propertyName(String(Reflect.get(key, "value"))) : propertyName(textOf(key, code))
    }
  }
}

function signatureIn(node: Node, code: string): Signature {
  const generics = child(node, "typeParameters")
  return {
    generics: generics && textOf(generics, code),
    parameters: parametersOf(children(node, "parameters") as Pattern[], code),
    ...resultsOf(child(node, "typeAnnotation"), code, any),
  }
}

function annotationOf(node: object): Node | undefined {
  const annotation = child(node, "typeAnnotation")
  return annotation && child(annotation, "typeAnnotation")
}

function children(node: object, key: string): Node[] {
  const value: unknown = Reflect.get(node, key)
  return Array.isArray(value) ? value : []
}
