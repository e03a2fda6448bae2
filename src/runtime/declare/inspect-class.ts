// Reads the public members of running classes and instances without running their code.
import { EventEmitter } from "node:events"
import * as stream from "node:stream"
import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { isPrivateName, runningClassSource } from "./class-source.ts"
import { inferredSignature, isNativeFunction, withUnknownOptional } from "./function-signature.ts"
import { accessorMember, anyMember, createMemberList, memberKey, methodMembers } from "./member-list.ts"
import { globalType } from "./parse-signature.ts"
import { memberWithDocTypes } from "./source/doc-types.ts"
import type { SourceTypes } from "./source/source-types.ts"
import { type Member, named, printType, propertyName, type TypeTree } from "./type-tree.ts"

/** Any function with a prototype: a class, a constructor function or a native constructor. */
export type LiveClass = object

/** Infers the types of the values that members hold. */
export interface TypeInspector {
  typeOf(value: unknown, depth: number): TypeTree
  /** What the author wrote in the file of a function or class. */
  sources: SourceTypes
}

export interface ClassShape {
  members: Member[]
  /** Text such as `<T = any>`. */
  generics: string
  /** Text after the name, such as ` extends Light`. */
  extendsClause: string
  abstract: boolean
  /** True if all members come from the author's files. */
  isWritten: boolean
}

/** Returns the public members of a class, including inherited ones up to the first base class that has a name in the
 *  declarations or belongs to the platform. An instance supplies the types of fields. */
export function classMembers(
  type: LiveClass,
  inspector: TypeInspector,
  baseName: (base: LiveClass) => string | undefined,
  instance?: object,
): ClassShape {
  const { sources } = inspector
  const found = createMemberList()
  const inherited = new Set<string>()
  const own = sources.classSource(type)
  let baseArguments = own?.baseArguments
  let extendsClause = ""
  let isWritten = own !== undefined
  for (const current of classChain(type)) {
    const isOwn = current === type
    if (!isOwn && !extendsClause) {
      extendsClause = extendsClauseOf(
        current,
        baseName(current),
        sources.classSource(current)?.generics ? baseArguments : [],
      )
      // The members of a base class that cannot be named are not listed.
      if (isWritten && extendsClause.startsWith(" /*")) found.add([anyMember], true)
    }
    if (!isOwn && (isPlatformClass(current) || sources.referenceTo(current) !== undefined)) break
    const shown = ownMembers(current, inspector, isOwn ? undefined : baseArguments)
    found.hide(shown.hidden)
    if (extendsClause) for (const member of shown.members) inherited.add(memberKey(member))
    else {
      found.add(shown.members, shown.isWritten)
      isWritten &&= shown.isWritten
    }
    if (!isOwn) baseArguments = sources.classSource(current, baseArguments)?.baseArguments
  }
  const fields = instance ? instanceFields(instance, inspector, 2) : []
  for (const field of fields) if (!inherited.has(memberKey(field))) found.refine(field)
  return {
    members: found.list(),
    generics: own?.generics ?? "",
    extendsClause,
    abstract: own?.abstract ?? false,
    isWritten,
  }
}

/** Returns the members of an object for an anonymous type. */
export function instanceMembers(instance: object, inspector: TypeInspector, depth: number): Member[] {
  const found = createMemberList()
  for (const prototype of prototypeChain(instance)) {
    const type = constructorOf(prototype)
    if (type && isPlatformClass(type) && (found.list().length || isGlobalClass(type))) break
    const own = type
      ? ownMembers(type, inspector, anyArguments)
      : { members: prototypeMembers(prototype, inspector), hidden: noNames, isWritten: false }
    found.hide(own.hidden)
    found.add(
      own.members.filter((member) => !member.static && member.form !== "constructor"),
      own.isWritten,
    )
  }
  for (const field of instanceFields(instance, inspector, depth)) found.refine(field)
  return found.list()
}

/** The type parameters of a class are not known for an anonymous type: all become `any`. */
const anyArguments: readonly string[] = []
const noNames: ReadonlySet<string> = new Set()

/** Returns the class of an object without running the object's code. */
export function classOf(value: object): LiveClass | undefined {
  const prototype: unknown = types.isProxy(value) ? null : Object.getPrototypeOf(value)
  if (typeof prototype !== "object" || prototype === null || types.isProxy(prototype)) return undefined
  return constructorOf(prototype)
}

/** Returns the name of a class, unless a static member replaced it. */
export function nameOfClass(type: LiveClass): string | undefined {
  if (types.isProxy(type)) return undefined
  const name: unknown = Object.getOwnPropertyDescriptor(type, "name")?.value
  return typeof name === "string" && name ? name : undefined
}

/** Returns true for a class that any code can name as a global, also one from another realm. */
export function isGlobalClass(type: LiveClass): boolean {
  const known = knownGlobalClasses.get(type)
  if (known !== undefined) return known
  const name = nameOfClass(type)
  const exists = name !== undefined && Object.hasOwn(globalThis, name)
  const isGlobal = exists && (Reflect.get(globalThis, name) === type || isNativeFunction(type))
  knownGlobalClasses.set(type, isGlobal)
  return isGlobal
}

const knownGlobalClasses = new WeakMap<LiveClass, boolean>()

/** Returns true for classes of the language or of Node: their members are well known and many. */
export function isPlatformClass(type: LiveClass): boolean {
  return isGlobalClass(type) || type === EventEmitter || streamClasses.has(type) || isNativeFunction(type)
}

const streamClasses = new Set<unknown>(Object.values(stream))

function extendsClauseOf(base: LiveClass, name: string | undefined, typeArguments: readonly string[] = []): string {
  // A class can extend a name, but not `import("pkg").Name`.
  if (name?.startsWith("import(") && !name.startsWith('import("node:')) return ` /* extends ${name} */`
  if (name !== undefined && !name.startsWith("import(")) {
    return ` extends ${name}${typeArguments.length > 0 ? `<${typeArguments.join(", ")}>` : ""}`
  }
  if (!isPlatformClass(base) && name === undefined) return ""
  const own = nameOfClass(base) ?? "a native class"
  const text = isGlobalClass(base) ? globalType(own) : undefined
  if (!text) return ` /* extends ${own.replaceAll("*/", "")} */`
  return ` extends ${printType(text).replace("any[]", "Array<any>")}`
}

function* classChain(type: LiveClass): Generator<LiveClass> {
  let current: unknown = type
  while (typeof current === "function" && current !== Function.prototype && !types.isProxy(current)) {
    yield current
    current = Object.getPrototypeOf(current)
  }
}

function* prototypeChain(value: object): Generator<object> {
  let current: unknown = types.isProxy(value) ? null : Object.getPrototypeOf(value)
  while (typeof current === "object" && current !== null && !types.isProxy(current)) {
    yield current
    current = Object.getPrototypeOf(current)
  }
}

function constructorOf(prototype: object): LiveClass | undefined {
  const type: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
  if (typeof type !== "function" || types.isProxy(type)) return undefined
  return Object.getOwnPropertyDescriptor(type, "prototype")?.value === prototype ? type : undefined
}

interface OwnMembers {
  members: Member[]
  hidden: ReadonlySet<string>
  /** True if the author's file was found. */
  isWritten: boolean
}

/** Returns the members of one class in the chain, taken from its source where it has one. */
function ownMembers(type: LiveClass, inspector: TypeInspector, typeArguments?: readonly string[]): OwnMembers {
  const prototype: unknown = Object.getOwnPropertyDescriptor(type, "prototype")?.value
  const written = inspector.sources.classSource(type, typeArguments)
  const running = written
    ? undefined
    : runningClassSource(type)?.members.map(withOptionalParameters).map(memberWithDocTypes)
  const fromSource = written?.members ?? running ?? [constructorMember(type)]
  const hasPrototype = typeof prototype === "object" && prototype !== null && !types.isProxy(prototype)
  const listed = new Set(fromSource.map(memberKey))
  const hidden = written?.hidden ?? noNames
  const isMissing = (before: string) => (key: string) => !listed.has(before + propertyName(key)) && !hidden.has(key)
  // Members beyond the limit stay left out.
  const isCut = written && listed.has(anyMember.name)
  const fromRunning = isCut
    ? []
    : [
        ...(hasPrototype ? prototypeMembers(prototype, inspector, isMissing("")) : []),
        ...propertiesOf(type, inspector, 1, staticKeys(type).filter(isMissing("static "))).map((member) => {
          return { ...member, static: true }
        }),
      ]
  const members = [...fromSource, ...fromRunning.filter((member) => !listed.has(memberKey(member)))]
  return { members, hidden, isWritten: written !== undefined }
}

function withOptionalParameters(member: Member): Member {
  const { type } = member
  return type.kind === "function"
    ? { ...member, type: { ...type, signature: withUnknownOptional(type.signature) } }
    : member
}

function constructorMember(type: LiveClass): Member {
  return { name: "constructor", form: "constructor", type: { kind: "function", signature: inferredSignature(type) } }
}

function prototypeMembers(
  prototype: object,
  inspector: TypeInspector,
  isWanted: (key: string) => boolean = () => true,
): Member[] {
  const symbols = symbolMembers.filter(({ symbol }) => Object.hasOwn(prototype, symbol)).map(({ member }) => member)
  return [...propertiesOf(prototype, inspector, 1, Object.getOwnPropertyNames(prototype).filter(isWanted)), ...symbols]
}

const symbolMembers = [
  { symbol: Symbol.iterator, member: symbolMember("[Symbol.iterator]", "Iterator<any>") },
  { symbol: Symbol.asyncIterator, member: symbolMember("[Symbol.asyncIterator]", "AsyncIterator<any>") },
  { symbol: Symbol.dispose, member: symbolMember("[Symbol.dispose]", "void") },
  { symbol: Symbol.asyncDispose, member: symbolMember("[Symbol.asyncDispose]", "Promise<void>") },
]

function symbolMember(name: string, returns: string): Member {
  return { name, form: "method", type: { kind: "function", signature: { parameters: [], returns: named(returns) } } }
}

function instanceFields(instance: object, inspector: TypeInspector, depth: number): Member[] {
  // Elements of arrays and typed arrays are not members.
  if (types.isProxy(instance) || Array.isArray(instance) || ArrayBuffer.isView(instance)) return []
  return propertiesOf(instance, inspector, depth, Object.keys(instance))
}

/** Returns own public properties. Accessors are listed, not read. */
function propertiesOf(
  owner: object,
  inspector: TypeInspector,
  depth: number,
  keys = Object.getOwnPropertyNames(owner),
): Member[] {
  return keys.flatMap((key): Member[] => {
    const property = Object.getOwnPropertyDescriptor(owner, key)
    if (!property || isPrivateName(key) || key === "constructor") return []
    const name = propertyName(key)
    if (!("value" in property)) return [accessorMember(name, property, inspector.sources)]
    if (typeof property.value === "function" && !isClass(property.value)) {
      return methodMembers(name, property.value, inspector.typeOf(property.value, depth), inspector.sources)
    }
    const type = inspector.typeOf(property.value, depth)
    return [{ name, form: "field", type, readonly: property.writable === false }]
  })
}

function staticKeys(type: LiveClass): string[] {
  return Object.getOwnPropertyNames(type).filter((key) => !builtInFunctionKeys.has(key))
}

const builtInFunctionKeys = new Set(["prototype", "length", "name", "arguments", "caller"])
