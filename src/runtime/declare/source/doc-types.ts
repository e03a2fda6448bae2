// Reads the types in JSDoc comments of JavaScript: `@param {string} [name]`, `@returns {number}`, `@type {Date}`.

import { attempt } from "../../../core/attempt.ts"
import { parseCell } from "../../compiler/parse-cell.ts"
import { childNode, parseType } from "../parse-signature.ts"
import { type Member, type Signature, type TypeTree, unknown } from "../type-tree.ts"
import { languageType } from "./find-type.ts"
import { resolveTypes, type TypeNames } from "./resolve-types.ts"
import { parseModule } from "./source-module.ts"

/** Adds the types of a comment to a signature that was read from running code. Types that are not of the language stay
 *  unknown. */
export function withDocTypes(signature: Signature, doc: string | undefined): Signature {
  if (!doc?.includes("{")) return signature
  const described = new Map(
    [...doc.matchAll(parameterTag)].map(([, type = "", bracket, name = ""]) => [
      name,
      { type, optional: bracket === "[" },
    ]),
  )
  const [, result = ""] = resultTag.exec(doc) ?? []
  return {
    ...signature,
    parameters: signature.parameters.map((parameter) => {
      const { type: text = "", optional } = described.get(parameter.name) ?? {}
      const type = parameter.type === unknown && !parameter.rest ? docType(text.replace(/=$/, "")) : undefined
      return type ? { ...parameter, type, optional: optional === true || text.endsWith("=") } : parameter
    }),
    returns: docType(result) ?? signature.returns,
  }
}

/** Adds the types of its comment to a member that was read from running code. */
export function memberWithDocTypes(member: Member): Member {
  const { type, doc } = member
  if (type.kind === "function") return { ...member, type: { ...type, signature: withDocTypes(type.signature, doc) } }
  const isUnknown = type.kind === "name" && type.text === "any"
  const [, text = ""] = (isUnknown && doc && (fieldTag.exec(doc) ?? resultTag.exec(doc))) || []
  return { ...member, type: docType(text) ?? type }
}

const braces = String.raw`\{((?:[^{}]|\{[^{}]*\})*)\}`
const parameterTag = new RegExp(String.raw`@param\s+${braces}\s*(\[)?([\w$]+)(?![\w$.])`, "g")
const resultTag = new RegExp(String.raw`@returns?\s+${braces}`)
const fieldTag = new RegExp(String.raw`@type\s+${braces}`)

function docType(text: string): TypeTree | undefined {
  if (text.trim() === "" || text.trim() === "*") return undefined
  const code = `declare let x: ${text.trim().replace(/^\?(.*)$/s, "$1 | null")}`
  const resolved = attempt(() => {
    const module = parseModule("", code)
    const [statement] = parseCell(code).program.body
    const id = statement?.type === "VariableDeclaration" ? statement.declarations[0]?.id : undefined
    const annotation = id && childNode(id, "typeAnnotation")
    const type = annotation && childNode(annotation, "typeAnnotation")
    return module && type && resolveTypes(type, { module, names: languageNames, typeParameters: new Map() })
  })
  return resolved === undefined ? undefined : attempt(() => parseType(resolved, "a comment"))
}

const languageNames: TypeNames = {
  nameOf: (path) => languageType(path),
  importedName: () => undefined,
  aliasedType: () => undefined,
}
