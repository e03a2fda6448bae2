import { EventEmitter } from "node:events"
import * as stream from "node:stream"
import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { isHidden, ordered, ownSource } from "./class-source.ts"
import { functionSignature, isNative } from "./function-head.ts"
import { globalType } from "./signatures.ts"
import { any, type Member, named, printType, propertyName, type TypeTree } from "./type-tree.ts"

/** Anything with a prototype that instances have: a class, a constructor function or a native constructor. */
export type LiveClass = object

/** What looks at the values that members hold. */
export interface Looking {
  typeOf(value: unknown, depth: number): TypeTree
}

export interface ClassShape {
  members: Member[]
  /** Text after the name, such as ` extends Light`. */
  heritage: string
}

/** The public members of a class. Those of the classes it extends are among them, up to one that has a name of its own or
 *  is not the user's. An instance tells the types of the fields. */
export function classMembers(
  type: LiveClass,
  look: Looking,
  baseName: (base: LiveClass) => string | undefined,
  instance?: object,
): ClassShape {
  const members = new Map<string, Member>()
  const inherited = new Set<string>()
  let heritage = ""
  for (const current of ancestry(type)) {
    if (current !== type && !heritage) heritage = heritageOf(current, baseName(current))
    if (current !== type && isPlatform(current)) break
    for (const member of ownMembers(current, look)) {
      if (heritage) inherited.add(memberKey(member))
      else add(members, member)
    }
  }
  const fields = instance ? instanceFields(instance, look, 2) : []
  for (const field of fields) if (!inherited.has(memberKey(field))) refine(members, field)
  return { members: ordered([...members.values()]), heritage }
}

/** What an object offers, as members of an anonymous type. */
export function instanceMembers(instance: object, look: Looking, depth: number): Member[] {
  const members = new Map<string, Member>()
  for (const prototype of prototypes(instance)) {
    const type = constructorOf(prototype)
    if (type && isPlatform(type) && (members.size || isGlobalClass(type))) break
    const own = type ? ownMembers(type, look) : prototypeMembers(prototype, look)
    for (const member of own) if (!member.static && member.form !== "constructor") add(members, member)
  }
  for (const field of instanceFields(instance, look, depth)) refine(members, field)
  return ordered([...members.values()])
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
  const known = globals.get(type)
  if (known !== undefined) return known
  const name = nameOfClass(type)
  const exists = name !== undefined && Object.hasOwn(globalThis, name)
  const isGlobal = exists && (Reflect.get(globalThis, name) === type || isNative(type))
  globals.set(type, isGlobal)
  return isGlobal
}

const globals = new WeakMap<LiveClass, boolean>()

/** Classes that are no user's: what they bring is known, and long. */
export function isPlatform(type: LiveClass): boolean {
  return isGlobalClass(type) || type === EventEmitter || streams.has(type) || isNative(type)
}

const streams = new Set<unknown>(Object.values(stream))

function heritageOf(base: LiveClass, name: string | undefined): string {
  if (name !== undefined) return ` extends ${name}`
  if (!isPlatform(base)) return ""
  const own = nameOfClass(base) ?? "a native class"
  const text = isGlobalClass(base) ? globalType(own) : undefined
  if (!text) return ` /* extends ${own.replaceAll("*/", "")} */`
  return ` extends ${printType(text).replace("any[]", "Array<any>")}`
}

function* ancestry(type: LiveClass): Generator<LiveClass> {
  let current: unknown = type
  while (typeof current === "function" && current !== Function.prototype && !types.isProxy(current)) {
    yield current
    current = Object.getPrototypeOf(current)
  }
}

function* prototypes(value: object): Generator<object> {
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
function ownMembers(type: LiveClass, look: Looking): Member[] {
  const prototype: unknown = Object.getOwnPropertyDescriptor(type, "prototype")?.value
  const source = ownSource(type)?.members ?? [madeBy(type)]
  const hasPrototype = typeof prototype === "object" && prototype !== null && !types.isProxy(prototype)
  const live = [
    ...(hasPrototype ? prototypeMembers(prototype, look) : []),
    ...propertiesOf(type, look, 1, staticKeys(type)).map((member) => ({ ...member, static: true })),
  ]
  const told = new Set(source.map(memberKey))
  return [...source, ...live.filter((member) => !told.has(memberKey(member)))]
}

function madeBy(type: LiveClass): Member {
  return { name: "constructor", form: "constructor", type: { kind: "function", signature: functionSignature(type) } }
}

function prototypeMembers(prototype: object, look: Looking): Member[] {
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

function instanceFields(instance: object, look: Looking, depth: number): Member[] {
  // The elements of an array or of a typed one are no members.
  if (types.isProxy(instance) || Array.isArray(instance) || ArrayBuffer.isView(instance)) return []
  return propertiesOf(instance, look, depth, Object.keys(instance))
}

/** Own public properties, accessors among them, none of them read. */
function propertiesOf(owner: object, look: Looking, depth: number, keys = Object.getOwnPropertyNames(owner)): Member[] {
  return keys.flatMap((key): Member[] => {
    const property = Object.getOwnPropertyDescriptor(owner, key)
    if (!property || isHidden(key) || key === "constructor") return []
    const name = propertyName(key)
    if (!("value" in property)) {
      return [{ name, form: property.get ? (property.set ? "field" : "getter") : "setter", type: any, live: true }]
    }
    const type = look.typeOf(property.value, depth)
    if (type.kind === "function" && !isClass(property.value)) return [{ name, form: "method", type }]
    return [{ name, form: "field", type, readonly: property.writable === false }]
  })
}

function staticKeys(type: LiveClass): string[] {
  return Object.getOwnPropertyNames(type).filter((key) => !ownedByFunctions.has(key))
}

const ownedByFunctions = new Set(["prototype", "length", "name", "arguments", "caller"])

function add(members: Map<string, Member>, member: Member): void {
  const key = memberKey(member)
  if (!members.has(key)) members.set(key, member)
}

/** What an instance holds is truer than what the source lets one guess. */
function refine(members: Map<string, Member>, field: Member): void {
  const key = memberKey(field)
  const known = members.get(key)
  if (known?.form === "getter" || known?.form === "method") return
  members.set(key, { ...field, type: keepOpen(field.type, known?.type), doc: known?.doc })
}

/** A field that is empty now may be filled later. */
function keepOpen(type: TypeTree, written: TypeTree | undefined): TypeTree {
  const empty = type.kind === "name" && (type.text === "null" || type.text === "undefined")
  return empty ? (written ?? any) : type
}

function memberKey(member: Member): string {
  return `${member.static ? "static " : ""}${member.name}`
}
