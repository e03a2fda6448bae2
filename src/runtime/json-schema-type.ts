import type { Json, JsonSchema } from "../core/json.ts"
import type { SchemaLike } from "./bindings.ts"
import type { StandardSchema } from "./runtime.ts"
import { isStandardSchema, toJsonSchema } from "./schema.ts"
import { isIdentifier, type Member, named, propertyName, type TypeTree, union, unknown } from "./type-tree.ts"

/** Where the types that a schema names are declared. */
export interface TypeNames {
  /** Declares a type once, under the given name or one close to it if that is taken, and gives the name. `type` may be
   *  asked for more than once, each time with another name. */
  declareType(like: string, type: (name: string) => TypeTree, doc: string | undefined): string
}

/** The JSON Schema of what goes in or comes out, for showing. Unlike `toJsonSchema` it stands for what JSON cannot hold,
 *  such as a Date, with a mark that `schemaType` reads, where the library lets it. */
export function shownSchema(schema: SchemaLike, direction: "input" | "output"): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const known = shown[direction].get(schema) ?? convert(schema, direction)
  shown[direction].set(schema, known)
  return known
}

/** The TypeScript type of what a JSON Schema admits. `like` names the schema itself, should it need a name. */
export function schemaType(schema: JsonSchema, names: TypeNames, like: string): TypeTree {
  const document: SchemaDocument = { root: schema, names, like, known: new Map(), left: maxTypes }
  return isRecursive("#", document) ? refType("#", document, 0) : typeOf(schema, document, 0)
}

interface SchemaDocument {
  root: JsonSchema
  names: TypeNames
  like: string
  /** Names given to places in the document. */
  known: Map<string, string>
  /** How many more types are made before the rest is left unknown. */
  left: number
}

const shown = { input: new WeakMap<object, JsonSchema>(), output: new WeakMap<object, JsonSchema>() }

function convert(schema: StandardSchema, direction: "input" | "output"): JsonSchema {
  try {
    const converted = schema["~standard"].jsonSchema?.[direction]({ target: "draft-2020-12", libraryOptions: lenient })
    // What a library calls JSON Schema is JSON.
    if (converted) return converted as JsonSchema
  } catch {
    // What it cannot say even so, `toJsonSchema` explains.
  }
  return toJsonSchema(schema)
}

/** A keyword of ours, with one of these types, on a schema that stands for what JSON cannot hold. */
const liveType = "x-live-type"

const liveTypes: { [type: string]: string } = {
  date: "Date",
  bigint: "bigint",
  map: "Map<any, any>",
  set: "Set<any>",
  symbol: "symbol",
  undefined: "undefined",
  void: "void",
  nan: "number",
  promise: "Promise<any>",
}

// Understood by zod; others have their own or none.
const lenient = {
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }: { zodSchema: { _zod: { def: { type: string } } }; jsonSchema: JsonSchema }) {
    const { type } = zodSchema._zod.def
    if (Object.hasOwn(liveTypes, type)) jsonSchema[liveType] = type
  },
}

/** Deeper and more than anyone reads, and a stop for a document that contains itself. */
const maxDepth = 24
const maxTypes = 2_000

/** More alternatives than these say no more than their common type. */
const maxLiterals = 60

function typeOf(schema: Json | undefined, document: SchemaDocument, depth: number): TypeTree {
  if (schema === false) return named("never")
  if (!isSchema(schema) || depth > maxDepth || document.left-- <= 0) return unknown
  const below = (inner: Json | undefined) => typeOf(inner, document, depth + 1)
  const parts: TypeTree[] = []
  if (typeof schema.$ref === "string") parts.push(refType(schema.$ref, document, depth))
  const own = ownType(schema, document, depth)
  if (own) parts.push(own)
  for (const choices of [schema.anyOf, schema.oneOf]) if (Array.isArray(choices)) parts.push(union(choices.map(below)))
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(below))
  const telling = parts.filter((part) => part !== unknown)
  const [first = unknown] = telling
  const type: TypeTree = telling.length > 1 ? { kind: "intersection", parts: telling } : first
  return schema.nullable === true ? union([type, named("null")]) : type
}

function ownType(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree | undefined {
  const live = schema[liveType]
  if (typeof live === "string" && Object.hasOwn(liveTypes, live)) return named(liveTypes[live] ?? "unknown")
  if (schema.const !== undefined) return literal(schema.const)
  if (Array.isArray(schema.enum) && schema.enum.length <= maxLiterals) return union(schema.enum.map(literal))
  const combined = [schema.$ref, schema.anyOf, schema.oneOf, schema.allOf].some((part) => part !== undefined)
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? impliedType(schema)]
  const found = types.flatMap((type) => {
    // Beside a choice, `type: "object"` alone says nothing that the choices do not.
    if (combined && !impliedType(schema)) return []
    const tree = keywordType(type, schema, document, depth)
    return tree ? [tree] : []
  })
  return found.length ? union(found) : undefined
}

function impliedType(schema: JsonSchema): string | undefined {
  if (schema.properties || schema.additionalProperties !== undefined || schema.patternProperties) return "object"
  return schema.items !== undefined || schema.prefixItems ? "array" : undefined
}

function keywordType(
  type: Json | undefined,
  schema: JsonSchema,
  document: SchemaDocument,
  depth: number,
): TypeTree | undefined {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return named(type)
    case "integer":
      return named("number")
    case "array":
      return arrayType(schema, document, depth)
    case "object":
      return objectType(schema, document, depth)
    default:
      return undefined
  }
}

function arrayType(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree {
  const below = (inner: Json | undefined) => typeOf(inner, document, depth + 1)
  // Before draft 2020 the places of a tuple were in `items` and what follows them in `additionalItems`.
  const places = schema.prefixItems ?? schema.items
  if (!Array.isArray(places)) return { kind: "array", element: below(schema.items) }
  const following = schema.prefixItems ? schema.items : schema.additionalItems
  const required = typeof schema.minItems === "number" ? schema.minItems : places.length
  return { kind: "tuple", parts: places.map(below), required, rest: following ? below(following) : undefined }
}

function objectType(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree {
  const below = (inner: Json | undefined) => typeOf(inner, document, depth + 1)
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : []
  const members = properties.map(([key, property]): Member => {
    const doc = isSchema(property) && typeof property.description === "string" ? property.description : undefined
    const readonly = isSchema(property) && property.readOnly === true
    return {
      name: propertyName(key),
      form: "field",
      type: below(property),
      optional: !required.includes(key),
      readonly,
      doc,
    }
  })
  const others = otherValues(schema).map(below)
  if (!others.length) {
    if (members.length) return { kind: "object", members }
    return record(named("string"), schema.additionalProperties === false ? named("never") : unknown)
  }
  const keys =
    isSchema(schema.propertyNames) && Array.isArray(schema.propertyNames.enum)
      ? below(schema.propertyNames)
      : named("string")
  const rest = record(keys, union(others))
  const partial = keys.kind !== "name" && !required.length
  const dictionary: TypeTree = partial ? { kind: "generic", name: "Partial", parts: [rest] } : rest
  return members.length ? { kind: "intersection", parts: [{ kind: "object", members }, dictionary] } : dictionary
}

/** Schemas of the values under keys that are not listed. */
function otherValues(schema: JsonSchema): Json[] {
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  const additional = schema.additionalProperties
  return additional === undefined || additional === false ? patterns : [...patterns, additional]
}

function record(keys: TypeTree, values: TypeTree): TypeTree {
  return { kind: "generic", name: "Record", parts: [keys, values] }
}

function literal(value: Json): TypeTree {
  if (Array.isArray(value)) return { kind: "tuple", parts: value.map(literal), required: value.length }
  if (typeof value !== "object" || value === null) return named(Object.is(value, -0) ? "0" : JSON.stringify(value))
  const members = Object.entries(value).map(([key, inner]): Member => {
    return { name: propertyName(key), form: "field", type: literal(inner) }
  })
  return { kind: "object", members }
}

/** What a `$ref` means: a name where its author gave one or it contains itself, else what stands there. */
function refType(pointer: string, document: SchemaDocument, depth: number): TypeTree {
  const known = document.known.get(pointer)
  if (known) return named(known)
  const target = resolve(pointer, document.root)
  if (!isSchema(target)) return unknown
  const like = nameFor(pointer, target, document)
  if (!like) return typeOf(target, document, depth + 1)
  const doc = typeof target.description === "string" ? target.description : undefined
  const make = (name: string) => {
    document.known.set(pointer, name)
    return typeOf(target, document, 0)
  }
  return named(document.names.declareType(like, make, doc))
}

function nameFor(pointer: string, target: JsonSchema, document: SchemaDocument): string | undefined {
  const place = pointer.split("/").at(-1) ?? ""
  // Libraries number the places that nobody named.
  const given = /^#\/(?:\$defs|definitions|components\/schemas)\/(?!_)/.test(pointer) ? typeName(place) : undefined
  if (given) return given
  if (!isRecursive(pointer, document)) return undefined
  const title = typeof target.title === "string" ? typeName(target.title) : undefined
  return title ?? (pointer === "#" ? document.like : `${document.like}Part`)
}

function typeName(text: string): string | undefined {
  const name = text.replace(/[^\p{ID_Continue}$]+(.)?/gu, (_, next: string | undefined) => next?.toUpperCase() ?? "")
  return isIdentifier(name) ? name : undefined
}

function isRecursive(pointer: string, document: SchemaDocument): boolean {
  const seen = new Set<unknown>()
  const reaches = (value: Json | undefined): boolean => {
    if (typeof value !== "object" || value === null || seen.has(value)) return false
    seen.add(value)
    if (Array.isArray(value)) return value.some(reaches)
    if (value.$ref === pointer) return true
    if (typeof value.$ref === "string" && reaches(resolve(value.$ref, document.root))) return true
    // The definitions of a document are not part of what it describes.
    return Object.entries(value).some(([key, inner]) => key !== "$defs" && key !== "definitions" && reaches(inner))
  }
  return reaches(resolve(pointer, document.root))
}

function resolve(pointer: string, root: JsonSchema): Json | undefined {
  if (pointer === "#") return root
  if (!pointer.startsWith("#/")) return undefined
  let place: Json | undefined = root
  for (const step of pointer.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined
    place = Array.isArray(place) ? place[Number(key)] : place[key]
  }
  return place
}

function isSchema(value: Json | undefined): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
