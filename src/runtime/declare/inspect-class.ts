import { EventEmitter } from "node:events"
import * as stream from "node:stream"
import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { isPrivateName, runningClassSource, sortMembers } from "./class-source.ts"
import { functionSignature, isNativeFunction } from "./function-signature.ts"
import { globalType } from "./parse-signature.ts"
import { any, type Member, named, printType, propertyName, type TypeTree } from "./type-tree.ts"

/** Anything with a prototype that instances have: a class, a constructor function or a native constructor. */
export type LiveClass = object

/** What looks at the values that members hold. */
export interface TypeInspector {
  typeOf(value: unknown, depth: number): TypeTree
}

export interface ClassShape {
  members: Member[]
  /** Text after the name, such as ` extends Light`. */
  extendsClause: string
}

/** The public members of a class. Those of the classes it extends are among them, up to one that has a name of its own or
 *  is not the user's. An instance tells the types of the fields. */
export function classMembers(
  type: LiveClass,
  look: TypeInspector,
  baseName: (base: LiveClass) => string | undefined,
  instance?: object,
): ClassShape {
  const members = new Map<string, Member>()
  const inherited = new Set<string>()
  let heritage = ""
  for (const current of classChain(type)) {
    if (current !== type && !heritage) heritage = extendsClauseOf(current, baseName(current))
    if (current !== type && isPlatformClass(current)) break
    for (const member of ownMembers(current, look)) {
      if (heritage) inherited.add(memberKey(member))
      else addIfMissing(members, member)
    }
  }
  const fields = instance ? instanceFields(instance, look, 2) : []
  for (const field of fields) if (!inherited.has(memberKey(field))) refineField(members, field)
  return { members: sortMembers([...members.values()]), extendsClause: heritage }
}

/** What an object offers, as members of an anonymous type. */
export function instanceMembers(instance: object, look: TypeInspector, depth: number): Member[] {
  const members = new Map<string, Member>()
  for (const prototype of prototypeChain(instance)) {
    const type = constructorOf(prototype)
    if (type && isPlatformClass(type) && (members.size || isGlobalClass(type))) break
    const own = type ? ownMembers(type, look) : prototypeMembers(prototype, look)
    for (const member of own) if (!member.static && member.form !== "constructor") addIfMissing(members, member)
  }
  for (const field of instanceFields(instance, look, depth)) refineField(members, field)
  return sortMembers([...members.values()])
}

/** The class of an object, found without asking the object. */
export function classOf(value: object): LiveClass | undefined {
  const prototype: unknown = types.isProxy(value) ? null : Object.getPrototypeOf(value)
  if (typeof prototype !== "object" || prototype === null || types.isProxy(prototype)) return undefined
  return constructorOf(prototype)
}

/** The name a class calls itself by, unless it has replaced it by something else. */
export function nameOfClass(type: LiveClass): string | undefined {
  if (types.isProxy(type)) return undefined
  const name: unknown = Object.getOwnPropertyDescriptor(type, "name")?.value
  return typeof name === "string" && name ? name : undefined
}

/** Whether a class is one of the language or the platform that any code can name; that of another realm counts. */
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

/** Classes that are no user's: what they bring is known, and long. */
export function isPlatformClass(type: LiveClass): boolean {
  return isGlobalClass(type) || type === EventEmitter || streamClasses.has(type) || isNativeFunction(type)
}

const streamClasses = new Set<unknown>(Object.values(stream))

function extendsClauseOf(base: LiveClass, name: string | undefined): string {
  if (name !== undefined) return ` extends ${name}`
  if (!isPlatformClass(base)) return ""
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

/** Members of one class of a chain: those it has, told by its source where it has one. */
function ownMembers(type: LiveClass, look: TypeInspector): Member[] {
  const prototype: unknown = Object.getOwnPropertyDescriptor(type, "prototype")?.value
  const source = runningClassSource(type)?.members ?? [constructorMember(type)]
  const hasPrototype = typeof prototype === "object" && prototype !== null && !types.isProxy(prototype)
  const live = [
    ...(hasPrototype ? prototypeMembers(prototype, look) : []),
    ...propertiesOf(type, look, 1, staticKeys(type)).map((member) => ({ ...member, static: true })),
  ]
  const told = new Set(source.map(memberKey))
  return [...source, ...live.filter((member) => !told.has(memberKey(member)))]
}

function constructorMember(type: LiveClass): Member {
  return { name: "constructor", form: "constructor", type: { kind: "function", signature: functionSignature(type) } }
}

function prototypeMembers(prototype: object, look: TypeInspector): Member[] {
  const symbols = symbolMembers.filter(({ symbol }) => Object.hasOwn(prototype, symbol)).map(({ member }) => member)
  return [...propertiesOf(prototype, look, 1), ...symbols]
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

function instanceFields(instance: object, look: TypeInspector, depth: number): Member[] {
  // The elements of an array or of a typed one are no members.
  if (types.isProxy(instance) || Array.isArray(instance) || ArrayBuffer.isView(instance)) return []
  return propertiesOf(instance, look, depth, Object.keys(instance))
}

/** Own public properties, accessors among them, none of them read. */
function propertiesOf(
  owner: object,
  look: TypeInspector,
  depth: number,
  keys = Object.getOwnPropertyNames(owner),
): Member[] {
  return keys.flatMap((key): Member[] => {
    const property = Object.getOwnPropertyDescriptor(owner, key)
    if (!property || isPrivateName(key) || key === "constructor") return []
    const name = propertyName(key)
    if (!("value" in property)) {
      return [
        { name, form: property.get ? (property.set ? "field" : "getter") : "setter", type: any, isAccessor: true },
      ]
    }
    const type = look.typeOf(property.value, depth)
    if (type.kind === "function" && !isClass(property.value)) return [{ name, form: "method", type }]
    return [{ name, form: "field", type, readonly: property.writable === false }]
  })
}

function staticKeys(type: LiveClass): string[] {
  return Object.getOwnPropertyNames(type).filter((key) => !builtInFunctionKeys.has(key))
}

const builtInFunctionKeys = new Set(["prototype", "length", "name", "arguments", "caller"])

function addIfMissing(members: Map<string, Member>, member: Member): void {
  const key = memberKey(member)
  if (!members.has(key)) members.set(key, member)
}

/** What an instance holds is truer than what the source lets one guess. */
function refineField(members: Map<string, Member>, field: Member): void {
  const key = memberKey(field)
  const known = members.get(key)
  if (known?.form === "getter" || known?.form === "method") return
  members.set(key, { ...field, type: typeOfField(field.type, known?.type), doc: known?.doc })
}

/** A field that is empty now may be filled later. */
function typeOfField(type: TypeTree, written: TypeTree | undefined): TypeTree {
  const empty = type.kind === "name" && (type.text === "null" || type.text === "undefined")
  return empty ? (written ?? any) : type
}

function memberKey(member: Member): string {
  return `${member.static ? "static " : ""}${member.name}`
}
