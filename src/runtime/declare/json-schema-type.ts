import type { Json, JsonSchema } from "../../core/json.ts"
import { acceptsUndefined, nonJsonTypeOf, withoutUndefined } from "./declaration-schema.ts"
import { isIdentifier, type Member, named, propertyName, type TypeTree, union, unknown } from "./type-tree.ts"

/** Where the types that a schema names are declared. */
export interface TypeDeclarer {
  /** Declares a type once, under the given name or one close to it if that is taken, and gives the name. `type` may be
   *  asked for more than once, each time with another name. */
  declareType(like: string, type: (name: string) => TypeTree, doc: string | undefined): string
}

/** The TypeScript type of what a JSON Schema admits. `like` names the schema itself, should it need a name. */
export function schemaType(schema: JsonSchema, names: TypeDeclarer, like: string): TypeTree {
  const document: SchemaDocument = {
    root: schema,
    declarer: names,
    suggestedName: like,
    declaredNames: new Map(),
    recursive: new Map(),
    remainingTypes: maxTypes,
  }
  return isRecursive("#", document) ? refType("#", document, 0) : typeOfSchema(schema, document, 0)
}

interface SchemaDocument {
  root: JsonSchema
  declarer: TypeDeclarer
  suggestedName: string
  /** Names given to places in the document. */
  declaredNames: Map<string, string>
  /** Places of which it is known whether they contain themselves. */
  recursive: Map<string, boolean>
  /** How many more types are made before the rest is left unknown. */
  remainingTypes: number
}

/** Deeper and more than anyone reads, and a stop for a document that contains itself. */
const maxDepth = 10
const maxTypes = 1_000
const maxSearchDepth = 1_000

/** More alternatives than these say no more than their common type. */
const maxLiterals = 60

function typeOfSchema(schema: Json | undefined, document: SchemaDocument, depth: number): TypeTree {
  if (schema === false) return named("never")
  if (!isSchema(schema) || depth > maxDepth || document.remainingTypes-- <= 0) return unknown
  const below = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  const parts: TypeTree[] = []
  if (typeof schema.$ref === "string") parts.push(refType(schema.$ref, document, depth))
  const own = typeOfKeywords(schema, document, depth)
  if (own) parts.push(own)
  for (const choices of [schema.anyOf, schema.oneOf]) if (Array.isArray(choices)) parts.push(union(choices.map(below)))
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(below))
  const telling = parts.filter((part) => part !== unknown)
  const [first = unknown] = telling
  const type: TypeTree = telling.length > 1 ? { kind: "intersection", parts: telling } : first
  const absent = [...(schema.nullable === true ? ["null"] : []), ...(acceptsUndefined(schema) ? ["undefined"] : [])]
  return type === unknown || absent.length === 0 ? type : union([type, ...absent.map(named)])
}

function typeOfKeywords(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree | undefined {
  const live = nonJsonTypeOf(schema)
  if (live) return named(live)
  if (isSchema(schema.not) && Object.keys(schema.not).length === 0) return named("never")
  if (schema.const !== undefined) return literalType(schema.const)
  if (Array.isArray(schema.enum) && schema.enum.length <= maxLiterals)
    return union(schema.enum.map((value) => literalType(value)))
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
  const below = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  // Before draft 2020 the places of a tuple were in `items` and what follows them in `additionalItems`.
  const places = schema.prefixItems ?? schema.items
  if (!Array.isArray(places)) return { kind: "array", element: below(schema.items) }
  const following = schema.prefixItems ? schema.items : schema.additionalItems
  const required = typeof schema.minItems === "number" ? schema.minItems : places.length
  const parts = places.map((place, index) => below(index < required ? place : optionalSchema(place)))
  return { kind: "tuple", parts, required, rest: following ? below(following) : undefined }
}

function objectType(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree {
  const below = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : []
  const members = properties.map(([key, property]): Member => {
    const doc = isSchema(property) && typeof property.description === "string" ? property.description : undefined
    const readonly = isSchema(property) && property.readOnly === true
    const optional = !required.includes(key)
    return {
      name: propertyName(key),
      form: "field",
      type: below(optional ? optionalSchema(property) : property),
      optional,
      readonly,
      doc,
    }
  })
  const others = unlistedValueSchemas(schema).map(below)
  if (!others.length) {
    if (members.length) return { kind: "object", members }
    return recordType(named("string"), schema.additionalProperties === false ? named("never") : unknown)
  }
  const listed = isSchema(schema.propertyNames) && Array.isArray(schema.propertyNames.enum)
  const rest = recordType(listed ? below(schema.propertyNames) : named("string"), union(others))
  const partial = listed && !required.length
  const dictionary: TypeTree = partial ? { kind: "generic", name: "Partial", parts: [rest] } : rest
  return members.length ? { kind: "intersection", parts: [{ kind: "object", members }, dictionary] } : dictionary
}

/** The schema of a member or place that may be left out, which is said by a `?` beside its name. */
function optionalSchema(schema: Json): Json {
  return isSchema(schema) ? withoutUndefined(schema) : schema
}

/** Schemas of the values under keys that are not listed. */
function unlistedValueSchemas(schema: JsonSchema): Json[] {
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  const additional = schema.additionalProperties
  return additional === undefined || additional === false ? patterns : [...patterns, additional]
}

function recordType(keys: TypeTree, values: TypeTree): TypeTree {
  return { kind: "generic", name: "Record", parts: [keys, values] }
}

function literalType(value: Json, depth = 0): TypeTree {
  if (depth > maxDepth) return unknown
  const below = (inner: Json) => literalType(inner, depth + 1)
  if (Array.isArray(value)) return { kind: "tuple", parts: value.map(below), required: value.length }
  if (typeof value !== "object" || value === null) return named(Object.is(value, -0) ? "0" : JSON.stringify(value))
  const members = Object.entries(value).map(([key, inner]): Member => {
    return { name: propertyName(key), form: "field", type: below(inner) }
  })
  return { kind: "object", members }
}

/** What a `$ref` means: a name where its author gave one or it contains itself, else what stands there. */
function refType(pointer: string, document: SchemaDocument, depth: number): TypeTree {
  const known = document.declaredNames.get(pointer)
  if (known) return named(known)
  const target = resolvePointer(pointer, document.root)
  if (!isSchema(target)) return unknown
  const like = nameFor(pointer, target, document)
  if (!like) return typeOfSchema(target, document, depth + 1)
  const doc = typeof target.description === "string" ? target.description : undefined
  const make = (name: string) => {
    document.declaredNames.set(pointer, name)
    return typeOfSchema(target, document, 0)
  }
  return named(document.declarer.declareType(like, make, doc))
}

function nameFor(pointer: string, target: JsonSchema, document: SchemaDocument): string | undefined {
  const place = pointer.split("/").at(-1) ?? ""
  // Libraries number the places that nobody named.
  const given = /^#\/(?:\$defs|definitions|components\/schemas)\/(?!_)/.test(pointer) ? typeName(place) : undefined
  if (given) return given
  if (!isRecursive(pointer, document)) return undefined
  const title = typeof target.title === "string" ? typeName(target.title) : undefined
  return title ?? (pointer === "#" ? document.suggestedName : `${document.suggestedName}Part`)
}

function typeName(text: string): string | undefined {
  const name = text.replace(/[^\p{ID_Continue}$]+(.)?/gu, (_, next: string | undefined) => next?.toUpperCase() ?? "")
  return isIdentifier(name) ? name : undefined
}

function isRecursive(pointer: string, document: SchemaDocument): boolean {
  const known = document.recursive.get(pointer) ?? containsItself(pointer, document)
  document.recursive.set(pointer, known)
  return known
}

function containsItself(pointer: string, document: SchemaDocument): boolean {
  const seen = new Set<unknown>()
  let levels = 0
  const reaches = (value: Json | undefined): boolean => {
    if (typeof value !== "object" || value === null || seen.has(value)) return false
    seen.add(value)
    // So deep, nothing of it is shown.
    if (levels > maxSearchDepth) return false
    levels++
    const found = isReached(value)
    levels--
    return found
  }
  const isReached = (value: Json[] | JsonSchema): boolean => {
    if (Array.isArray(value)) return value.some(reaches)
    if (value.$ref === pointer) return true
    if (typeof value.$ref === "string" && reaches(resolvePointer(value.$ref, document.root))) return true
    // The definitions of a document are not part of what it describes.
    return Object.entries(value).some(([key, inner]) => key !== "$defs" && key !== "definitions" && reaches(inner))
  }
  return reaches(resolvePointer(pointer, document.root))
}

function resolvePointer(pointer: string, root: JsonSchema): Json | undefined {
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
