// Declares bound types: classes, enums and objects used as enums, and schemas.
import { types } from "node:util"
import type { TypeBinding } from "../bindings.ts"
import { isStandardSchema } from "../schema.ts"
import { type AuthorSource, readAuthorSource } from "./author-source.ts"
import type { ClassSource } from "./class-source.ts"
import { type DeclarationBlock, printTypeDeclaration } from "./declaration-block.ts"
import { declarationSchema } from "./declaration-schema.ts"
import { classMembers, type LiveClass, nameOfClass } from "./inspect-class.ts"
import { schemaType } from "./json-schema-type.ts"
import { globalType } from "./parse-signature.ts"
import { maxClassMembers } from "./source/declaration-text.ts"
import { inferredFrom } from "./table-counts.ts"
import {
  addNote,
  jsDoc,
  type Member,
  printClass,
  printMembers,
  printType,
  propertyName,
  type TableRows,
  type TypeTree,
} from "./type-tree.ts"

/** Marks a type that was inferred from a live value instead of written by its author. */
export const inferredNote = " // inferred"

/** Declares a type in full, by name with or without documentation, or not at all, as its options say. */
export function declareTypeBinding(name: string, { type, options }: TypeBinding, block: DeclarationBlock): string {
  const { schema = true, doc = true, description, source: text } = options
  const source = text === undefined ? undefined : readAuthorSource(text)
  const written = source?.classNamed([nameOfClass(type) ?? name, name])
  const isUndeclared = !written && typeof type === "function" && !types.isProxy(type)
  const comment = doc ? jsDoc(description ?? written?.doc ?? (isUndeclared ? block.sources.docOf(type) : "")) : ""
  if (!schema && !doc) return ""
  if (!schema || types.isProxy(type)) {
    return comment + (typeof type === "function" ? `declare class ${name} {}` : `declare const ${name}: any`)
  }
  if (isStandardSchema(type)) {
    return comment + printTypeDeclaration(name, schemaType(declarationSchema(type, "output"), block, name))
  }
  if (typeof type !== "function") return comment + declareEnumOrObject(name, type, block)
  if (source && written) {
    const shown = doc ? written.type : { ...written.type, members: written.type.members.map(withoutDoc) }
    return comment + declareSourceClass(name, type, shown, source, block)
  }
  const reference = block.sources.referenceTo(type)
  if (reference !== undefined) {
    return `${comment}declare const ${name}: typeof ${reference}\ntype ${name} = ${reference}`
  }
  return comment + writeClass(name, type, block, doc)
}

/** Declares the class of an injected instance. */
export function declareClass(name: string, type: LiveClass, block: DeclarationBlock): string {
  return jsDoc(block.sources.docOf(type)) + writeClass(name, type, block, true)
}

/** Writes a class as its file declares it, or from what inspection of the running class finds. */
function writeClass(name: string, type: LiveClass, block: DeclarationBlock, doc: boolean): string {
  const shape = classMembers(type, block.inspector("any"), block.referToClass, block.instanceOf(type))
  const { members, generics, extendsClause, abstract, isWritten } = shape
  return printClass(
    `declare ${abstract ? "abstract " : ""}class ${name}${generics}${extendsClause}`,
    limitMembers(doc ? members : members.map(withoutDoc), isWritten ? maxClassMembers : maxMembers),
    isWritten ? "" : inferredNote,
  )
}

/** Declares a class from its author's source. */
function declareSourceClass(
  name: string,
  type: LiveClass,
  written: ClassSource,
  source: AuthorSource,
  block: DeclarationBlock,
): string {
  const { generics, base, baseArguments, abstract, members } = written
  const parent: unknown = Object.getPrototypeOf(type)
  const bound = typeof parent === "function" ? block.referToClass(parent) : undefined
  const known = bound ?? (base !== undefined && globalType(base) ? base : undefined)
  const extendsClause = known ? ` extends ${known}${baseArguments}` : ""
  const lines = [printClass(`declare ${abstract ? "abstract " : ""}class ${name}${generics}${extendsClause}`, members)]
  block.declareMentionedTypes(
    source,
    `${printMembers(members.map(withoutDoc), "", true)} ${generics} ${base ?? ""}${baseArguments}`,
  )
  // The base class is not bound, but its members are known: merge them in through an interface of the same name.
  if (base && !known && source.declares(base))
    lines.push(`interface ${name}${generics} extends ${base}${baseArguments} {}`)
  return lines.join("\n")
}

/** Declares an enum, or an object used as one, with names and values. Declares any other object by its shape. */
function declareEnumOrObject(name: string, value: object, block: DeclarationBlock): string {
  const entries = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(
    ([key, { enumerable }]) => enumerable && !isReverseEnumKey(value, key),
  )
  const values = entries.map(([key, property]) => [key, property.value] as const)
  const isEnum = values.length > 0 && values.every(([key, member]) => isEnumValue(member) && !/^-?\d/.test(key))
  if (!isEnum) return `declare const ${name}: ${markInferred(printType(block.inspector().typeOf(value)))}`
  const members = values.map(([key, member]) => `${propertyName(key)} = ${JSON.stringify(member)}`)
  const line = members.join(", ")
  return line.length <= 80
    ? `declare enum ${name} { ${line} }`
    : `declare enum ${name} {\n  ${members.join(",\n  ")}\n}`
}

/** Appends the mark to the first line, with the rows that the type was read from. */
export function markInferred(text: string, rows?: TableRows): string {
  return addNote(text, `inferred${rows ? inferredFrom(rows) : ""}`)
}

/** Members beyond this number are not listed. */
const maxMembers = 80

function limitMembers(members: Member[], limit: number): Member[] {
  const names = [...new Set(members.map(({ name }) => name))].filter((name) => !name.startsWith("[member"))
  if (names.length <= limit) return members
  const kept = new Set(names.slice(0, limit))
  const rest: TypeTree = { kind: "name", text: "any" }
  return [...members.filter(({ name }) => kept.has(name)), { name: "[member: string]", form: "field", type: rest }]
}

function withoutDoc({ doc: _, ...member }: Member): Member {
  return member
}

/** Returns true if a key of a compiled enum only maps a number back to its name. */
function isReverseEnumKey(value: object, key: string): boolean {
  const name: unknown = Object.getOwnPropertyDescriptor(value, key)?.value
  if (!/^-?\d/.test(key) || typeof name !== "string") return false
  return Object.getOwnPropertyDescriptor(value, name)?.value === Number(key)
}

function isEnumValue(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value))
}
