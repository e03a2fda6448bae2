// Writes a type of the user's sources as a declaration of the block.
import type { AnyNode, Class, Node } from "acorn"
import { type DeclaredNode, readAuthorSource } from "../author-source.ts"
import { childNode } from "../parse-signature.ts"
import { jsDoc, type Member, printMembers } from "../type-tree.ts"
import { classText, typeParametersText } from "./declaration-text.ts"
import { shortDoc } from "./doc-text.ts"
import { readClassText } from "./parsed-text.ts"
import { childNodes, resolveTypes, type TypeScope, withTypeParameters } from "./resolve-types.ts"

/** Returns true if a declaration can be written as a type. */
export function isTypeDeclaration({ type }: AnyNode): boolean {
  return typeDeclarations.has(type)
}

const typeDeclarations = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSEnumDeclaration",
  "ClassDeclaration",
  "ClassExpression",
])

/** Writes an interface, alias, enum or class as a type called `name`. Returns undefined for an alias of a type that
 *  cannot be expressed. */
export function typeDeclarationText(name: string, { node, doc }: DeclaredNode, outer: TypeScope): string | undefined {
  const text = bareText(name, node, withTypeParameters(node, outer))
  return text === undefined ? undefined : jsDoc(shortDoc(doc)) + text
}

function bareText(name: string, node: AnyNode, scope: TypeScope): string | undefined {
  switch (node.type) {
    case "TSInterfaceDeclaration":
      return interfaceText(name, node, scope)
    case "ClassDeclaration":
    case "ClassExpression":
      return instanceText(name, node, scope)
    case "TSEnumDeclaration": {
      const text = scope.module.code.slice(node.start, node.end)
      const [found] = readAuthorSource(text)?.typesMentionedIn(node.id.name, () => false) ?? []
      return `type ${name} = ${found?.text.replace(/^type [^=]+= /, "") ?? "unknown"}`
    }
    default: {
      const type = childNode(node, "typeAnnotation")
      const text = type && resolveTypes(type, scope)
      return text && `type ${name}${typeParametersText(node, scope)} = ${withoutParentheses(text)}`
    }
  }
}

function withoutParentheses(type: string): string {
  return /^\([^()]*\)$/.test(type) ? type.slice(1, -1) : type
}

function interfaceText(name: string, node: Node, scope: TypeScope): string {
  const bases: unknown = Reflect.get(node, "extends")
  const list = Array.isArray(bases) ? bases.map((base: Node) => nameableBase(resolveTypes(base, scope))) : []
  const known = list.filter((base) => base !== undefined)
  const body = childNode(node, "body")
  const text = (body && resolveTypes(body, scope)) ?? "{}"
  const head = `interface ${name}${typeParametersText(node, scope)}${known.length > 0 ? ` extends ${known.join(", ")}` : ""}`
  return `${head} ${list.length > known.length ? text.replace(/\}$/, `  ${openMember}\n}`) : text}`
}

/** The members of a base type that cannot be named are not known. */
const openMember = "[member: string]: any"

/** An interface can extend a name, but not `import("pkg").Name`. */
function nameableBase(base: string | undefined): string | undefined {
  return base === undefined || base.startsWith("import(") || base === "unknown" ? undefined : base
}

/** A class that is not bound is shown by the members of its instances. */
function instanceText(name: string, node: Class, scope: TypeScope): string {
  const { text, isCut } = classText(node, name, scope)
  const { generics, members } = readClassText(text)
  const own = members.filter((member) => !member.static && member.form !== "constructor")
  const base = node.superClass && nameableBase(baseText(node, scope))
  const isOpen = isCut || (node.superClass && base === undefined)
  const shown: Member[] = own.map((member) => ({ ...member, abstract: false }))
  const lines = [printMembers(shown, "  ", false), isOpen ? `  ${openMember}` : ""].filter((line) => line)
  return `interface ${name}${generics}${base ? ` extends ${base}` : ""} {${lines.length > 0 ? `\n${lines.join("\n")}\n` : ""}}`
}

function baseText({ superClass, superTypeParameters }: Class, scope: TypeScope): string | undefined {
  if (superClass?.type !== "Identifier") return undefined
  const name = scope.names.nameOf([superClass.name], scope.module)
  if (name === undefined || !superTypeParameters) return name
  return `${name}<${childNodes(superTypeParameters)
    .map((each) => resolveTypes(each, scope) ?? "any")
    .join(", ")}>`
}
