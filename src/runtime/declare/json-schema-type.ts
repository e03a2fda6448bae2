// Converts JSON Schema to TypeScript types.
import type { Json, JsonSchema } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { acceptsUndefined, nonJsonTypeOf, withoutUndefinedMark } from "./declaration-schema.ts"
import { isIdentifier, type Member, named, propertyName, type TypeTree, union, unknown } from "./type-tree.ts"

/** Declares the types that a schema names. */
export interface TypeDeclarer {
  /** Declares a type once, under the suggested name or a similar free one, and returns the name. May call `type`
   *  several times, each time with another name. */
  declareType(suggestedName: string, type: (name: string) => TypeTree, doc: string | undefined): string
}

/** Returns the type of the values a JSON Schema accepts. `suggestedName` is used if the type needs a name. */
export function schemaType(schema: JsonSchema, declarer: TypeDeclarer, suggestedName: string): TypeTree {
  const document: SchemaDocument = {
    root: schema,
    declarer,
    suggestedName,
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
  /** Declared type names by JSON pointer. */
  declaredNames: Map<string, string>
  /** Whether the schema at a JSON pointer contains itself, as far as known. */
  recursive: Map<string, boolean>
  /** The number of types that may still be created; the rest is `unknown`. */
  remainingTypes: number
}

/** Limits for very large documents and for documents that contain themselves. */
const maxDepth = 10
const maxTypes = 1_000
const maxSearchDepth = 1_000

/** With more literals than these, only their common type is shown. */
const maxLiterals = 60

function typeOfSchema(schema: Json | undefined, document: SchemaDocument, depth: number): TypeTree {
  if (schema === false) return named("never")
  if (!isRecord(schema) || depth > maxDepth || document.remainingTypes-- <= 0) return unknown
  const convert = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  const parts: TypeTree[] = []
  if (typeof schema.$ref === "string") parts.push(refType(schema.$ref, document, depth))
  const own = typeOfKeywords(schema, document, depth)
  if (own) parts.push(own)
  for (const choices of [schema.anyOf, schema.oneOf])
    if (Array.isArray(choices)) parts.push(union(choices.map(convert)))
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(convert))
  const known = parts.filter((part) => part !== unknown)
  const [first = unknown] = known
  const type: TypeTree = known.length > 1 ? { kind: "intersection", parts: known } : first
  const absent = [...(schema.nullable === true ? ["null"] : []), ...(acceptsUndefined(schema) ? ["undefined"] : [])]
  return type === unknown || absent.length === 0 ? type : union([type, ...absent.map(named)])
}

function typeOfKeywords(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree | undefined {
  const live = nonJsonTypeOf(schema)
  if (live) return named(live)
  if (isRecord(schema.not) && Object.keys(schema.not).length === 0) return named("never")
  if (schema.const !== undefined) return literalType(schema.const)
  if (Array.isArray(schema.enum) && schema.enum.length <= maxLiterals)
    return union(schema.enum.map((value) => literalType(value)))
  const combined = [schema.$ref, schema.anyOf, schema.oneOf, schema.allOf].some((part) => part !== undefined)
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? impliedType(schema)]
  const found = types.flatMap((type) => {
    // Next to a choice, a bare `type: "object"` adds nothing.
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
  const convert = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  // Before draft 2020-12, tuple elements were in `items` and the rest in `additionalItems`.
  const elementSchemas = schema.prefixItems ?? schema.items
  if (!Array.isArray(elementSchemas)) return { kind: "array", element: convert(schema.items) }
  const following = schema.prefixItems ? schema.items : schema.additionalItems
  const required = typeof schema.minItems === "number" ? schema.minItems : elementSchemas.length
  const parts = elementSchemas.map((item, index) => convert(index < required ? item : optionalSchema(item)))
  return { kind: "tuple", parts, required, rest: following ? convert(following) : undefined }
}

function objectType(schema: JsonSchema, document: SchemaDocument, depth: number): TypeTree {
  const convert = (inner: Json | undefined) => typeOfSchema(inner, document, depth + 1)
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : []
  const members = properties.map(([key, property]): Member => {
    const doc = isRecord(property) && typeof property.description === "string" ? property.description : undefined
    const readonly = isRecord(property) && property.readOnly === true
    const optional = !required.includes(key)
    return {
      name: propertyName(key),
      form: "field",
      type: convert(optional ? optionalSchema(property) : property),
      optional,
      readonly,
      doc,
    }
  })
  const others = unlistedValueSchemas(schema).map(convert)
  if (!others.length) {
    if (members.length) return { kind: "object", members }
    return recordType(named("string"), schema.additionalProperties === false ? named("never") : unknown)
  }
  const listed = isRecord(schema.propertyNames) && Array.isArray(schema.propertyNames.enum)
  const rest = recordType(listed ? convert(schema.propertyNames) : named("string"), union(others))
  const partial = listed && !required.length
  const dictionary: TypeTree = partial ? { kind: "generic", name: "Partial", parts: [rest] } : rest
  return members.length ? { kind: "intersection", parts: [{ kind: "object", members }, dictionary] } : dictionary
}

/** Drops the `undefined` mark of an optional member, which is declared with `?`. */
function optionalSchema(schema: Json): Json {
  return isRecord(schema) ? withoutUndefinedMark(schema) : schema
}

/** Returns the schemas of values whose keys are not listed. */
function unlistedValueSchemas(schema: JsonSchema): Json[] {
  const patterns = isRecord(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  const additional = schema.additionalProperties
  return additional === undefined || additional === false ? patterns : [...patterns, additional]
}

function recordType(keys: TypeTree, values: TypeTree): TypeTree {
  return { kind: "generic", name: "Record", parts: [keys, values] }
}

function literalType(value: Json, depth = 0): TypeTree {
  if (depth > maxDepth) return unknown
  const convert = (inner: Json) => literalType(inner, depth + 1)
  if (Array.isArray(value)) return { kind: "tuple", parts: value.map(convert), required: value.length }
  if (typeof value !== "object" || value === null) return named(Object.is(value, -0) ? "0" : JSON.stringify(value))
  const members = Object.entries(value).map(([key, inner]): Member => {
    return { name: propertyName(key), form: "field", type: convert(inner) }
  })
  return { kind: "object", members }
}

/** Resolves a `$ref`: to a type name if its author named it or it contains itself, otherwise to the type itself. */
function refType(pointer: string, document: SchemaDocument, depth: number): TypeTree {
  const known = document.declaredNames.get(pointer)
  if (known) return named(known)
  const target = resolvePointer(pointer, document.root)
  if (!isRecord(target)) return unknown
  const suggestedName = nameFor(pointer, target, document)
  if (!suggestedName) return typeOfSchema(target, document, depth + 1)
  const doc = typeof target.description === "string" ? target.description : undefined
  const make = (name: string) => {
    document.declaredNames.set(pointer, name)
    return typeOfSchema(target, document, 0)
  }
  return named(document.declarer.declareType(suggestedName, make, doc))
}

function nameFor(pointer: string, target: JsonSchema, document: SchemaDocument): string | undefined {
  const lastStep = pointer.split("/").at(-1) ?? ""
  // Libraries give generated definitions names that start with an underscore.
  const given = /^#\/(?:\$defs|definitions|components\/schemas)\/(?!_)/.test(pointer) ? typeName(lastStep) : undefined
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
    // Schemas this deep are never shown.
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
    // Definitions are not part of what the schema describes.
    return Object.entries(value).some(([key, inner]) => key !== "$defs" && key !== "definitions" && reaches(inner))
  }
  return reaches(resolvePointer(pointer, document.root))
}

function resolvePointer(pointer: string, root: JsonSchema): Json | undefined {
  if (pointer === "#") return root
  if (!pointer.startsWith("#/")) return undefined
  let current: Json | undefined = root
  for (const step of pointer.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined
    current = Array.isArray(current) ? current[Number(key)] : current[key]
  }
  return current
}
