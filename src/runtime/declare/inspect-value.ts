// Infers TypeScript types from live values without running any of their code: no getter, proxy trap or iterator.
import { types } from "node:util"
import { attempt } from "../../core/attempt.ts"
import { isClass } from "../bindings.ts"
import { crossingFormOf } from "../handles/codec/crossing-form.ts"
import { functionSignature } from "./function-signature.ts"
import type { LiveClass, TypeInspector } from "./inspect-class.ts"
import { classOf, instanceMembers, isGlobalClass, nameOfClass } from "./inspect-class.ts"
import { accessorMember, methodMembers } from "./member-list.ts"
import { emptyElement, mergeShapes, mergeTypes, type ObjectType } from "./merge-types.ts"
import { globalType } from "./parse-signature.ts"
import { noSourceTypes, type SourceTypes } from "./source/source-types.ts"
import type { TableCounter } from "./table-counts.ts"
import { maxListed, restOfKeys, withCounts } from "./table-type.ts"
import { any, type Member, named, printType, propertyName, type TypeTree } from "./type-tree.ts"

export interface ValueInspector extends TypeInspector {
  /** Returns the type of a live value as far as it is visible. Keeps no reference to the value. */
  typeOf(value: unknown, depth?: number): TypeTree
}

/** `nameOf` returns the name shown for instances of a class; without a name their members are shown. Types that are too
 *  deep, too many, or cyclic are shown as `fallback`. `sources` has the types that the author of a function wrote. With
 *  `tables`, arrays of records are counted whole; otherwise they are judged by their first rows. */
export function createInspector(
  nameOf: (type: LiveClass, instance: object) => string | undefined,
  fallback: TypeTree = any,
  sources: SourceTypes = noSourceTypes,
  tables?: TableCounter,
): ValueInspector {
  const state: InspectorState = {
    nameOf,
    fallback,
    sources,
    tables,
    remainingTypes: maxTypes,
    openObjects: new Set(),
    typeOf: (value, depth = maxDepth) => inspectValue(value, state, depth),
  }
  return state
}

/** Describes the type of a live value briefly for people: `number[]`, `Light`, `Map<string, Task>`, `(name) => …`. */
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

/** Returns true for an object made by `{}` in any realm, or without a prototype. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  const type = classOf(value)
  return type !== undefined && isGlobalClass(type) && nameOfClass(type) === "Object"
}

/** Returns true if a value reaches another process as a copy. Any other value is a handle there. */
export function isCopied(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function"
  return (attempt(() => crossingFormOf(value)) ?? "live") !== "live"
}

const maxTypes = 1_000
const maxDepth = 5
const maxDescription = 60
/** How many elements of a collection are inspected. */
const sampleSize = 20
/** An object with more keys than this, or with keys that are not identifiers, is shown as a dictionary. */
const maxKeys = 20
interface InspectorState extends ValueInspector {
  nameOf(type: LiveClass, instance: object): string | undefined
  fallback: TypeTree
  tables: TableCounter | undefined
  /** The number of types that may still be created before `fallback` is used. */
  remainingTypes: number
  /** The objects being inspected, to detect cycles. */
  openObjects: Set<object>
}

function inspectValue(value: unknown, state: InspectorState, depth: number): TypeTree {
  if (typeof value === "function") return inspectFunction(value, state)
  if (typeof value !== "object" || value === null) return primitiveType(value)
  if (types.isProxy(value) || state.openObjects.has(value) || state.remainingTypes-- <= 0) return state.fallback
  // Collections in collections have no names to show, so they may be deeper than objects.
  if (depth < -maxDepth) return state.fallback
  state.openObjects.add(value)
  // If inspecting an exotic object throws, only its own type falls back.
  const type = attempt(() => inspectObject(value, state, depth)) ?? state.fallback
  state.openObjects.delete(value)
  return type
}

// One shared tree per primitive, so that equal types are found by identity.
const primitiveTypes = new Map<string, TypeTree>()

function primitiveType(value: unknown): TypeTree {
  const text = value === null ? "null" : typeof value
  const tree = primitiveTypes.get(text) ?? named(text)
  primitiveTypes.set(text, tree)
  return tree
}

function inspectFunction(value: object, { sources }: InspectorState): TypeTree {
  if (types.isProxy(value)) return any
  if (!isClass(value)) {
    const [written] = sources.functionSource(value)?.signatures ?? []
    return { kind: "function", signature: written ?? sources.inferredSignature(value) }
  }
  return { kind: "function", signature: { parameters: anyArguments, returns: any }, constructs: true }
}

const anyArguments = [{ name: "args", type: named("unknown[]"), rest: true }]

function inspectObject(value: object, state: InspectorState, depth: number): TypeTree {
  const space = globalObjects.get(value)
  if (space) return { kind: "text", text: `typeof ${space}` }
  if (types.isArgumentsObject(value)) return { kind: "array", element: any }
  if (isPlain(value)) return depth > 0 ? dictionaryOrShape(shapeOf(value, state, depth)) : state.fallback
  const type = classOf(value)
  const isGlobal = type !== undefined && isGlobalClass(type)
  if (Array.isArray(value) && (!type || isGlobal)) return arrayType(value, state, depth)
  if (type && !isGlobal) {
    const name = state.nameOf(type, value)
    if (name !== undefined) return named(name)
    return depth > 0 ? { kind: "object", members: instanceMembers(value, state, depth - 1) } : state.fallback
  }
  if (types.isMap(value)) {
    const entries = [...Map.prototype.entries.call(value).take(sampleSize)]
    const [keys, values] = [entries.map(([key]) => key), entries.map(([, held]) => held)]
    return { kind: "generic", name: "Map", parts: [elementType(keys, state, depth), elementType(values, state, depth)] }
  }
  if (types.isSet(value)) {
    const values = [...Set.prototype.values.call(value).take(sampleSize)]
    return { kind: "generic", name: "Set", parts: [elementType(values, state, depth)] }
  }
  if (types.isGeneratorObject(value))
    return named(Symbol.asyncIterator in value ? "AsyncGenerator<any>" : "Generator<any>")
  if (type) return globalType(nameOfClass(type) ?? "") ?? state.fallback
  return depth > 0 ? { kind: "object", members: instanceMembers(value, state, depth - 1) } : state.fallback
}

// Global objects that are neither data nor instances.
const globalObjects = new Map<unknown, string>(
  ["Math", "JSON", "Reflect", "Atomics", "Intl", "console", "process", "globalThis"].map((name) => [
    Reflect.get(globalThis, name),
    name,
  ]),
)

function arrayType(value: unknown[], state: InspectorState, depth: number): TypeTree {
  const length = Math.min(value.length, sampleSize)
  const elements = Array.from({ length }, (_, index) => dataPropertyOf(value, index)).filter(
    (element) => element !== undefined,
  )
  const element = elementType(elements, state, depth)
  if (!state.tables || element.kind !== "object" || !isCounted(value, state)) return { kind: "array", element }
  const counts = state.tables.count(value, element.members.length)
  const typeOf = (found: unknown) => inspectValue(found, state, depth - 2)
  return { kind: "array", element: withCounts(element, counts, typeOf), rows: counts.rows }
}

/** A variable that is a table is counted, and so are the tables in a plain object. */
function isCounted(value: object, { openObjects }: InspectorState): boolean {
  return openObjects.size <= 2 && openObjects.values().every((each) => each === value || isPlain(each))
}

/** Returns one type for the elements of a collection, merging the shapes of plain objects. */
function elementType(values: readonly unknown[], state: InspectorState, depth: number): TypeTree {
  if (!values.length) return emptyElement
  const rows = depth > 0 ? values.filter(isPlainRow) : []
  const others = rows.length === values.length ? [] : values.filter((value) => !rows.length || !isPlainRow(value))
  const table = rows.length ? [rowType(rows, state, depth - 1)] : []
  return mergeTypes([...table, ...others.map((value) => inspectValue(value, state, depth - 1))])
}

/** Returns true for a value that can be a row of a table. */
export function isPlainRow(value: unknown): value is object {
  return typeof value === "object" && value !== null && !types.isProxy(value) && !Array.isArray(value) && isPlain(value)
}

function rowType(rows: readonly object[], state: InspectorState, depth: number): TypeTree {
  const seen = rows.filter((row) => !state.openObjects.has(row))
  if (depth <= 0 || !seen.length) return state.fallback
  const keys = seen.map((row) => new Set(keysOf(row)))
  // Keys that most rows share are columns, whatever their names. A single object with such keys would be a dictionary.
  const common = keys.reduce((some, more) => some.intersection(more))
  const all = keys.reduce((some, more) => some.union(more))
  const columns = seen.length > 1 && common.size >= all.size / 2
  const shapes: ObjectType[] = []
  for (const row of seen) {
    // A few rows inspected fully say more than many inspected partly.
    if (shapes.length && state.remainingTypes < maxTypes / 2) break
    state.openObjects.add(row)
    shapes.push(shapeOf(row, state, depth))
    state.openObjects.delete(row)
  }
  const shape = mergeShapes(shapes)
  return columns ? shape : dictionaryOrShape(shape)
}

function shapeOf(value: object, state: InspectorState, depth: number): ObjectType {
  const keys = keysOf(value)
  const members = keys.slice(0, maxListed).flatMap((key) => membersOf(value, key, state, depth - 1))
  // The index signature allows reading keys that are not listed.
  if (keys.length > maxListed) members.push(restOfKeys)
  return { kind: "object", members }
}

/** Returns one member; for a function with overloads, several. */
function membersOf(value: object, key: string, state: InspectorState, depth: number): Member[] {
  const name = propertyName(key)
  const property = attempt(() => Object.getOwnPropertyDescriptor(value, key))
  if (!property) return [{ name, form: "getter", type: any, isAccessor: true }]
  if (!("value" in property)) {
    const member = accessorMember(name, property, state.sources)
    return [{ ...member, form: property.set ? "field" : "getter" }]
  }
  const type = inspectValue(property.value, state, depth)
  if (type.kind === "function" && !type.constructs) return methodMembers(name, property.value, type, state.sources)
  return [{ name, form: "field", type, readonly: property.writable === false }]
}

/** Shows an object as a `Record` if its keys are data. */
function dictionaryOrShape(shape: ObjectType): TypeTree {
  const names = shape.members.filter(({ name }) => !name.startsWith("["))
  if (shape.members.every(({ form }) => form === "method")) return shape
  if (names.length <= maxKeys && names.every(({ name }) => !name.startsWith('"'))) return shape
  const values = mergeTypes(names.slice(0, sampleSize).map((member) => member.type))
  return { kind: "generic", name: "Record", parts: [named("string"), values] }
}

function keysOf(value: object): string[] {
  return attempt(() => Object.keys(value)) ?? []
}

function dataPropertyOf(value: object, key: PropertyKey): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key)
  return property && "value" in property ? property.value : undefined
}
