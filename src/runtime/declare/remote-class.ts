// Declares the host's classes for cells that run in another process.
import { types } from "node:util"
import type { TypeBinding } from "../bindings.ts"
import { readAuthorSource } from "./author-source.ts"
import type { DeclarationBlock } from "./declaration-block.ts"
import { classMembers, isPlatformClass, type LiveClass, nameOfClass } from "./inspect-class.ts"
import { handleMembers, receivedType } from "./remote-type.ts"
import { jsDoc, type Member, named, printMembers, printType, type TypeTree } from "./type-tree.ts"

/** Declares instances of a class as an interface, because cells cannot construct a class that is not bound. */
export function declareRemoteClass(name: string, type: LiveClass, block: DeclarationBlock): string {
  const { members, generics, extendsClause, isWritten } = classMembers(
    type,
    block.inspector("any"),
    block.referToClass,
    block.instanceOf(type),
  )
  const base = /^ extends (\w+)(?:<.*>)?$/.exec(extendsClause)?.[1]
  const extended = base !== undefined && !(base in globalThis) ? extendsClause : ""
  const head = `${name}${generics}${extended}`
  return jsDoc(block.sources.docOf(type)) + printRemoteInterface(head, members, block, isWritten ? "" : " // inferred")
}

/** Declares a bound class, whose constructor is awaited: `await new Light()`. Returns undefined if it is not shown. */
export function declareRemoteType(
  name: string,
  { type, options }: TypeBinding,
  block: DeclarationBlock,
): string | undefined {
  const { schema = true, doc = true, description, source: text } = options
  if (!schema || typeof type !== "function" || types.isProxy(type)) return undefined
  const reference = text === undefined ? block.sources.referenceTo(type) : undefined
  if (reference !== undefined) {
    const parameters = `...args: ConstructorParameters<typeof ${reference}>`
    const instance = printType(receivedType(named(reference), block))
    const comment = doc ? jsDoc(description) : ""
    return `${comment}type ${name} = ${instance}\ndeclare const ${name}: { new (${parameters}): Promise<${name}> }`
  }
  const source = text === undefined ? undefined : readAuthorSource(text)
  const written = source?.classNamed([nameOfClass(type) ?? name, name])
  const inferred = written
    ? undefined
    : classMembers(type, block.inspector("any"), block.referToClass, block.instanceOf(type))
  const members = written?.type.members ?? inferred?.members ?? []
  const { generics = "", abstract = false } = written?.type ?? inferred ?? {}
  const { base, baseArguments = "" } = written?.type ?? {}
  if (source)
    block.declareMentionedTypes(source, `${printMembers(members, "", true)} ${generics} ${base ?? ""}${baseArguments}`)
  const parent: unknown = Object.getPrototypeOf(type)
  const bound = typeof parent === "function" ? block.referToClass(parent) : undefined
  const extended = bound ?? (base !== undefined && source?.declares(base) ? base : undefined)
  const extendsClause = extended === undefined ? "" : ` extends ${extended}${baseArguments}`
  const comment = doc ? jsDoc(description ?? written?.doc ?? (written ? "" : block.sources.docOf(type))) : ""
  const instances = printRemoteInterface(
    `${name}${generics}${extendsClause}`,
    members,
    block,
    written || inferred?.isWritten ? "" : " // inferred",
  )
  const own = members.some(({ form }) => form === "constructor")
  const constructors = own ? [] : inheritedConstructors(parent, block)
  const all = [...constructors, ...members, ...inheritedStatics(parent, members, block)]
  return `${comment}${instances}\ndeclare const ${name}: ${printType(constructorType(name, generics, all, abstract, block))}`
}

/** Returns the constructors that a class without its own constructor inherits. */
function inheritedConstructors(parent: unknown, block: DeclarationBlock): readonly Member[] {
  if (typeof parent !== "function" || parent === Function.prototype || types.isProxy(parent)) return []
  const found = classMembers(parent, block.inspector("any"), block.referToClass).members.filter(
    ({ form }) => form === "constructor",
  )
  return found.length > 0 ? found : inheritedConstructors(Object.getPrototypeOf(parent), block)
}

/** Returns inherited static members, because the constant that represents the class cannot extend anything. */
function inheritedStatics(parent: unknown, known: readonly Member[], block: DeclarationBlock): readonly Member[] {
  if (typeof parent !== "function" || parent === Function.prototype || types.isProxy(parent) || isPlatformClass(parent))
    return []
  const isKnown = ({ name }: Member) => known.some((member) => member.static && member.name === name)
  const own = classMembers(parent, block.inspector("any"), block.referToClass).members.filter((member) => member.static)
  const found = own.filter((member) => !isKnown(member))
  return [...found, ...inheritedStatics(Object.getPrototypeOf(parent), [...known, ...found], block)]
}

/** Returns the type of the class object: `new` and the static members. */
function constructorType(
  name: string,
  generics: string,
  members: readonly Member[],
  abstract: boolean,
  block: DeclarationBlock,
): TypeTree {
  const instance = named(`${name}${generics && `<${parameterNames(generics).join(", ")}>`}`)
  const returns: TypeTree = { kind: "generic", name: "Promise", parts: [instance] }
  const makers = members.filter(({ form }) => form === "constructor").map(({ type }) => type)
  const lists = makers.map((maker) => (maker.kind === "function" ? maker.signature.parameters : []))
  const constructSignatures = (lists.length > 0 ? lists : [[]]).map((parameters): Member => {
    // The space keeps the printer from quoting `new` as a method name.
    return { name: "new ", form: "method", type: { kind: "function", signature: { generics, parameters, returns } } }
  })
  const statics = members.filter((member) => member.static).map(({ static: _, ...member }) => member)
  return { kind: "object", members: [...(abstract ? [] : constructSignatures), ...handleMembers(statics, block)] }
}

/** Returns the parameter names in text such as `<T extends Row, K = string>`. */
function parameterNames(generics: string): string[] {
  let depth = 0
  let isName = true
  const names: string[] = []
  for (const [word] of generics.slice(1, -1).matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]*|=>|[<>(){}[\],]/gu)) {
    if ("<({[".includes(word)) depth++
    else if (">)}]".includes(word)) depth--
    else if (word === "," && depth === 0) isName = true
    else if (isName && word !== "const" && word !== "in" && word !== "out") {
      names.push(word)
      isName = false
    }
  }
  return names
}

function printRemoteInterface(head: string, members: readonly Member[], block: DeclarationBlock, note: string): string {
  const own = members.filter((member) => !member.static && member.form !== "constructor")
  if (own.length === 0) return `interface ${head} {}${note}`
  return `interface ${head} {${note}\n${printMembers(handleMembers(own, block), "  ", false)}\n}`
}
