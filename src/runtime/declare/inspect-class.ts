// Reads the public members of running classes and instances without running their code.
import { EventEmitter } from "node:events"
import * as stream from "node:stream"
import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { isPrivateName, runningClassSource, sortMembers } from "./class-source.ts"
import { functionSignature, isNativeFunction } from "./function-signature.ts"
import { globalType } from "./parse-signature.ts"
import { any, type Member, named, printType, propertyName, type TypeTree } from "./type-tree.ts"

/** Any function with a prototype: a class, a constructor function or a native constructor. */
export type LiveClass = object

/** Infers the types of the values that members hold. */
export interface TypeInspector {
  typeOf(value: unknown, depth: number): TypeTree
}

export interface ClassShape {
  members: Member[]
  /** Text after the name, such as ` extends Light`. */
  extendsClause: string
}

/** Returns the public members of a class, including inherited ones up to the first base class that has a name in the
 *  declarations or belongs to the platform. An instance supplies the types of fields. */
export function classMembers(
  type: LiveClass,
  inspector: TypeInspector,
  baseName: (base: LiveClass) => string | undefined,
  instance?: object,
): ClassShape {
  const members = new Map<string, Member>()
  const inherited = new Set<string>()
  let extendsClause = ""
  for (const current of classChain(type)) {
    if (current !== type && !extendsClause) extendsClause = extendsClauseOf(current, baseName(current))
    if (current !== type && isPlatformClass(current)) break
    for (const member of ownMembers(current, inspector)) {
      if (extendsClause) inherited.add(memberKey(member))
      else addIfMissing(members, member)
    }
  }
  const fields = instance ? instanceFields(instance, inspector, 2) : []
  for (const field of fields) if (!inherited.has(memberKey(field))) refineField(members, field)
  return { members: sortMembers([...members.values()]), extendsClause }
}

/** Returns the members of an object for an anonymous type. */
export function instanceMembers(instance: object, inspector: TypeInspector, depth: number): Member[] {
  const members = new Map<string, Member>()
  for (const prototype of prototypeChain(instance)) {
    const type = constructorOf(prototype)
    if (type && isPlatformClass(type) && (members.size || isGlobalClass(type))) break
    const own = type ? ownMembers(type, inspector) : prototypeMembers(prototype, inspector)
    for (const member of own) if (!member.static && member.form !== "constructor") addIfMissing(members, member)
  }
  for (const field of instanceFields(instance, inspector, depth)) refineField(members, field)
  return sortMembers([...members.values()])
}

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

/** Returns the members of one class in the chain, taken from its source where it has one. */
function ownMembers(type: LiveClass, inspector: TypeInspector): Member[] {
  const prototype: unknown = Object.getOwnPropertyDescriptor(type, "prototype")?.value
  const fromSource = runningClassSource(type)?.members ?? [constructorMember(type)]
  const hasPrototype = typeof prototype === "object" && prototype !== null && !types.isProxy(prototype)
  const fromRunning = [
    ...(hasPrototype ? prototypeMembers(prototype, inspector) : []),
    ...propertiesOf(type, inspector, 1, staticKeys(type)).map((member) => ({ ...member, static: true })),
  ]
  const listed = new Set(fromSource.map(memberKey))
  return [...fromSource, ...fromRunning.filter((member) => !listed.has(memberKey(member)))]
}

function constructorMember(type: LiveClass): Member {
  return { name: "constructor", form: "constructor", type: { kind: "function", signature: functionSignature(type) } }
}

function prototypeMembers(prototype: object, inspector: TypeInspector): Member[] {
  const symbols = symbolMembers.filter(({ symbol }) => Object.hasOwn(prototype, symbol)).map(({ member }) => member)
  return [...propertiesOf(prototype, inspector, 1), ...symbols]
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
    if (!("value" in property)) {
      return [
        { name, form: property.get ? (property.set ? "field" : "getter") : "setter", type: any, isAccessor: true },
      ]
    }
    const type = inspector.typeOf(property.value, depth)
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

/** Prefers the field type found in an instance to the type guessed from the source. */
function refineField(members: Map<string, Member>, field: Member): void {
  const key = memberKey(field)
  const known = members.get(key)
  if (known?.form === "getter" || known?.form === "method") return
  members.set(key, { ...field, type: typeOfField(field.type, known?.type), doc: known?.doc })
}

/** Uses the written type for a field that is empty now, because it may be filled later. */
function typeOfField(type: TypeTree, written: TypeTree | undefined): TypeTree {
  const empty = type.kind === "name" && (type.text === "null" || type.text === "undefined")
  return empty ? (written ?? any) : type
}

function memberKey(member: Member): string {
  return `${member.static ? "static " : ""}${member.name}`
}
