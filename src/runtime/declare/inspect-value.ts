import { types } from "node:util"
import { isClass } from "../bindings.ts"
import { crossingFormOf } from "../handles/codec/crossing-form.ts"
import { functionSignature } from "./function-signature.ts"
import {
  classOf,
  instanceMembers,
  isGlobalClass,
  type LiveClass,
  nameOfClass,
  type TypeInspector,
} from "./inspect-class.ts"
import { attempt, globalType } from "./parse-signature.ts"
import { any, type Member, named, printType, propertyName, type TypeTree, union } from "./type-tree.ts"

/** A look at live values. Nothing of theirs is run: no getter, no proxy trap, no iterator; and no value is kept. */
export interface ValueInspector extends TypeInspector {
  /** The type of a live value, as far as it can be seen. */
  typeOf(value: unknown, depth?: number): TypeTree
}

/** `nameOf` gives the name that instances of a class are shown under; without one, their members are shown in place.
 *  What is too deep, too much or a cycle is shown as `beyond`. */
export function createInspector(
  nameOf: (type: LiveClass, instance: object) => string | undefined,
  beyond: TypeTree = any,
): ValueInspector {
  const look: InspectorState = {
    nameOf,
    fallback: beyond,
    remainingTypes: maxTypes,
    openObjects: new Set(),
    typeOf: (value, depth = maxDepth) => inspectValue(value, look, depth),
  }
  return look
}

/** The type of a live value in a few words, for people: `number[]`, `Light`, `Map<string, Task>`, `(name) => …`. */
export function describeType(value: unknown): string {
  if (typeof value === "function" && !types.isProxy(value)) {
    if (isClass(value)) return `class ${nameOfClass(value) ?? "(anonymous)"}`
    const { parameters } = functionSignature(value)
    return `(${parameters.map(({ name, rest }) => (rest ? `...${name}` : name)).join(", ")}) => …`
  }
  for (const depth of [2, 1]) {
    const text = printType(
      createInspector((type) => nameOfClass(type) ?? "object", named("object")).typeOf(value, depth),
    )
    if (text.length <= maxDescription && !text.includes("\n")) return text
  }
  return Array.isArray(value) ? "object[]" : "object"
}

/** Whether an object is data by its own account: made by `{}`, in any realm, or without a prototype. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  const type = classOf(value)
  return type !== undefined && isGlobalClass(type) && nameOfClass(type) === "Object"
}

/** Whether a value reaches another process as a copy. Everything else is a handle there. */
export function isCopied(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function"
  return (attempt(() => crossingFormOf(value)) ?? "live") !== "live"
}

const maxTypes = 1_000
const maxDepth = 5
const maxDescription = 60
/** Elements that stand for the rest of a collection. */
const sampleSize = 20
/** An object with more keys than this, or keys that are no names, is a dictionary: its keys are data. */
const maxKeys = 20
/** Columns of a table, or functions of a module, that are listed. */
const maxListed = 64
/** More kinds of elements than these are a mixture. */
const maxAlternatives = 4

interface InspectorState extends ValueInspector {
  nameOf(type: LiveClass, instance: object): string | undefined
  fallback: TypeTree
  /** How many more types are made before the rest is `beyond`. */
  remainingTypes: number
  /** Objects being looked at, so that a cycle ends. */
  openObjects: Set<object>
}

function inspectValue(value: unknown, look: InspectorState, depth: number): TypeTree {
  if (typeof value === "function") return inspectFunction(value)
  if (typeof value !== "object" || value === null) return primitiveType(value)
  if (types.isProxy(value) || look.openObjects.has(value) || look.remainingTypes-- <= 0) return look.fallback
  look.openObjects.add(value)
  // Whatever an exotic object does when it is looked at, the declaration of the rest stands.
  const type = attempt(() => inspectObject(value, look, depth)) ?? look.fallback
  look.openObjects.delete(value)
  return type
}

// One tree for each, so that a thousand numbers are seen to be the same at a glance.
const primitiveTypes = new Map<string, TypeTree>()

function primitiveType(value: unknown): TypeTree {
  const text = value === null ? "null" : typeof value
  const tree = primitiveTypes.get(text) ?? named(text)
  primitiveTypes.set(text, tree)
  return tree
}

function inspectFunction(value: object): TypeTree {
  if (types.isProxy(value)) return any
  const signature = functionSignature(value)
  if (!isClass(value)) return { kind: "function", signature }
  return { kind: "function", signature: { parameters: anyArguments, returns: any }, constructs: true }
}

const anyArguments = [{ name: "args", type: named("unknown[]"), rest: true }]

function inspectObject(value: object, look: InspectorState, depth: number): TypeTree {
  const space = globalObjects.get(value)
  if (space) return { kind: "text", text: `typeof ${space}` }
  if (types.isArgumentsObject(value)) return { kind: "array", element: any }
  if (isPlain(value)) return depth > 0 ? dictionaryOrShape(shapeOf(value, look, depth)) : look.fallback
  const type = classOf(value)
  const isGlobal = type !== undefined && isGlobalClass(type)
  if (Array.isArray(value) && (!type || isGlobal)) return arrayType(value, look, depth)
  if (type && !isGlobal) {
    const name = look.nameOf(type, value)
    if (name !== undefined) return named(name)
    return depth > 0 ? { kind: "object", members: instanceMembers(value, look, depth - 1) } : look.fallback
  }
  if (types.isMap(value)) {
    const entries = [...Map.prototype.entries.call(value).take(sampleSize)]
    const [keys, values] = [entries.map(([key]) => key), entries.map(([, held]) => held)]
    return { kind: "generic", name: "Map", parts: [elementType(keys, look, depth), elementType(values, look, depth)] }
  }
  if (types.isSet(value)) {
    const values = [...Set.prototype.values.call(value).take(sampleSize)]
    return { kind: "generic", name: "Set", parts: [elementType(values, look, depth)] }
  }
  if (types.isGeneratorObject(value))
    return named(Symbol.asyncIterator in value ? "AsyncGenerator<any>" : "Generator<any>")
  if (type) return globalType(nameOfClass(type) ?? "") ?? look.fallback
  return depth > 0 ? { kind: "object", members: instanceMembers(value, look, depth - 1) } : look.fallback
}

// The global objects that are neither data nor instances.
const globalObjects = new Map<unknown, string>(
  ["Math", "JSON", "Reflect", "Atomics", "Intl", "console", "process", "globalThis"].map((name) => [
    Reflect.get(globalThis, name),
    name,
  ]),
)

function arrayType(value: unknown[], look: InspectorState, depth: number): TypeTree {
  const length = Math.min(value.length, sampleSize)
  const elements = Array.from({ length }, (_, index) => dataPropertyOf(value, index)).filter(
    (element) => element !== undefined,
  )
  return { kind: "array", element: elementType(elements, look, depth) }
}

/** One type for the elements of a collection: the shapes of plain objects are laid over each other. */
function elementType(values: readonly unknown[], look: InspectorState, depth: number): TypeTree {
  if (!values.length) return emptyElement
  const rows = depth > 0 ? values.filter(isPlainRow) : []
  const others = rows.length === values.length ? [] : values.filter((value) => !rows.length || !isPlainRow(value))
  const table = rows.length ? [rowType(rows, look, depth - 1)] : []
  return mergeTypes([...table, ...others.map((value) => inspectValue(value, look, depth - 1))])
}

// Elements of an empty collection may be anything, and give way to those of a filled one.
const emptyElement: TypeTree = { kind: "name", text: "any" }

function isPlainRow(value: unknown): value is object {
  return typeof value === "object" && value !== null && !types.isProxy(value) && !Array.isArray(value) && isPlain(value)
}

function rowType(rows: readonly object[], look: InspectorState, depth: number): TypeTree {
  const seen = rows.filter((row) => !look.openObjects.has(row))
  if (depth <= 0 || !seen.length) return look.fallback
  const keys = seen.map((row) => new Set(keysOf(row)))
  // What most rows have are columns, whatever their names; a lone object with such keys would be a dictionary.
  const common = keys.reduce((some, more) => some.intersection(more))
  const all = keys.reduce((some, more) => some.union(more))
  const columns = seen.length > 1 && common.size >= all.size / 2
  const shapes: ObjectType[] = []
  for (const row of seen) {
    // A few rows seen whole tell more than many seen in part.
    if (shapes.length && look.remainingTypes < maxTypes / 2) break
    look.openObjects.add(row)
    shapes.push(shapeOf(row, look, depth))
    look.openObjects.delete(row)
  }
  const shape = mergeShapes(shapes)
  return columns ? shape : dictionaryOrShape(shape)
}

type ObjectType = Extract<TypeTree, { kind: "object" }>

function shapeOf(value: object, look: InspectorState, depth: number): ObjectType {
  const keys = keysOf(value)
  const members = keys.slice(0, maxListed).map((key): Member => memberOf(value, key, look, depth - 1))
  // One more key says only that there are more, so that reading it is not refused.
  if (keys.length > maxListed) members.push({ name: "[key: string]", form: "field", type: any })
  return { kind: "object", members }
}

function memberOf(value: object, key: string, look: InspectorState, depth: number): Member {
  const name = propertyName(key)
  const property = attempt(() => Object.getOwnPropertyDescriptor(value, key))
  if (!property || !("value" in property)) {
    return { name, form: property?.set ? "field" : "getter", type: any, isAccessor: true }
  }
  const type = inspectValue(property.value, look, depth)
  if (type.kind === "function" && !type.constructs) return { name, form: "method", type }
  return { name, form: "field", type, readonly: property.writable === false }
}

/** The members of several objects together; what some lack is optional. */
function mergeShapes(shapes: readonly ObjectType[]): ObjectType {
  const [only, more] = shapes
  if (only && !more) return only
  const found = new Map<string, { member: Member; types: TypeTree[] }>()
  for (const member of shapes.flatMap((shape) => shape.members)) {
    const same = found.get(member.name)
    if (same) same.types.push(member.type)
    else found.set(member.name, { member, types: [member.type] })
  }
  const members = [...found.values()].map(({ member: { name, form, readonly, isAccessor: live }, types }): Member => {
    const type = mergeTypes(types)
    const optional = types.length < shapes.length && !name.startsWith("[")
    return { name, form: type.kind === "function" ? form : "field", type, optional, readonly, isAccessor: live }
  })
  return { kind: "object", members }
}

/** An object whose keys are data shows none of them. */
function dictionaryOrShape(shape: ObjectType): TypeTree {
  const names = shape.members.filter(({ name }) => !name.startsWith("["))
  if (shape.members.every(({ form }) => form === "method")) return shape
  if (names.length <= maxKeys && names.every(({ name }) => !name.startsWith('"'))) return shape
  const values = mergeTypes(names.slice(0, sampleSize).map((member) => member.type))
  return { kind: "generic", name: "Record", parts: [named("string"), values] }
}

/** One type for several: shapes laid over each other, arrays joined, the rest as alternatives, a mixture as anything. */
function mergeTypes(types: readonly TypeTree[]): TypeTree {
  const shapes = types.filter((type) => type.kind === "object")
  const arrays = types.filter((type) => type.kind === "array")
  const others = types.filter((type) => type.kind !== "object" && type.kind !== "array")
  const elements = arrays.map((type) => type.element).filter((element) => element !== emptyElement)
  const type = union([
    ...(shapes.length ? [mergeShapes(shapes)] : []),
    ...(arrays.length
      ? [{ kind: "array" as const, element: elements.length ? mergeTypes(elements) : emptyElement }]
      : []),
    ...others,
  ])
  return type.kind === "union" && type.parts.length > maxAlternatives ? any : type
}

function keysOf(value: object): string[] {
  return attempt(() => Object.keys(value)) ?? []
}

function dataPropertyOf(value: object, key: PropertyKey): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key)
  return property && "value" in property ? property.value : undefined
}
