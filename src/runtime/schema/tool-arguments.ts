// Validates the arguments of a tool call against the tool's schema, and repairs arguments that arrive as JSON text.
import { attempt } from "../../core/attempt.ts"
import type { Json, JsonSchema } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import type { SchemaLike } from "../bindings.ts"
import { type Validation, validateMaybeSync } from "../schema.ts"
import { resolveReference } from "./check-json-schema.ts"

/** Validates tool arguments. `shown` is the schema as JSON Schema. An unknown argument is reported together with the
 *  accepted ones. If validation fails, a list or object that was sent as JSON text is decoded where the schema accepts
 *  no text, and the result is validated again. */
export function validateArguments<T = unknown>(
  schema: SchemaLike,
  shown: JsonSchema,
  args: unknown,
): Validation<T> | Promise<Validation<T>> {
  const first = validateOnce<T>(schema, shown, args)
  if (!(first instanceof Promise) && first.ok) return first
  const decoded = decodeJsonTexts({ schema: shown, root: shown, depth: 0 }, args)
  if (decoded === args) return first
  const again = (validation: Validation<T>) => (validation.ok ? validation : validateOnce<T>(schema, shown, decoded))
  return first instanceof Promise ? first.then(again) : again(first)
}

/** Decodes arguments that the model sent as JSON text of the object, encoded up to twice, instead of the object
 *  itself. */
export function decodeArguments(input: Json): Json {
  let decoded: Json | undefined = input
  for (let count = 0; count < 2 && typeof decoded === "string"; count++) decoded = tryParseJson(decoded)
  return isRecord(decoded) ? decoded : input
}

function validateOnce<T>(schema: SchemaLike, shown: JsonSchema, args: unknown): Validation<T> | Promise<Validation<T>> {
  const undeclared = findUndeclaredArgument({ schema: shown, root: shown, depth: 0 }, args, "")
  return undeclared === undefined ? validateMaybeSync<T>(schema, args) : { ok: false, message: undeclared }
}

/** One schema inside a tool's schema (`root`), into which its references point. */
interface SchemaNode {
  schema: Json | undefined
  root: JsonSchema
  depth: number
}

// Recursive schemas and deeper data are left to the validation itself.
const maxDepth = 20

function findUndeclaredArgument(node: SchemaNode, value: unknown, path: string): string | undefined {
  const schema = resolveSchema(node)
  if (!schema || node.depth > maxDepth) return undefined
  const childOf = (inner: Json | undefined): SchemaNode => ({ ...node, schema: inner, depth: node.depth + 1 })
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findUndeclaredArgument(childOf(schema.items), item, `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  const { properties, additionalProperties, patternProperties } = schema
  if (!isRecord(value) || !isRecord(properties)) return undefined
  for (const [name, member] of Object.entries(value)) {
    const memberPath = path === "" ? name : `${path}.${name}`
    if (Object.hasOwn(properties, name)) {
      const found = findUndeclaredArgument(childOf(properties[name]), member, memberPath)
      if (found !== undefined) return found
    } else if (additionalProperties === false && patternProperties === undefined && member !== undefined) {
      return `unknown argument ${JSON.stringify(memberPath)}. Accepted: ${Object.keys(properties).join(", ") || "none"}.`
    }
  }
  return undefined
}

/** Decodes texts where the schema wants a list or an object; returns the same value if there is nothing to decode. */
function decodeJsonTexts(node: SchemaNode, value: unknown): unknown {
  if (node.depth > maxDepth) return value
  if (typeof value === "string") {
    const decoded = acceptsType(node, "string") ? undefined : tryParseJson(value)
    if (!acceptsType(node, Array.isArray(decoded) ? "array" : "object")) return value
    return typeof decoded === "object" && decoded !== null ? decodeJsonTexts(node, decoded) : value
  }
  const schema = resolveSchema(node)
  if (!schema) return value
  const childOf = (inner: Json | undefined): SchemaNode => ({ ...node, schema: inner, depth: node.depth + 1 })
  if (Array.isArray(value)) {
    const items = value.map((item) => decodeJsonTexts(childOf(schema.items), item))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const { properties } = schema
  if (!isRecord(value) || !isRecord(properties)) return value
  const changed = Object.entries(value).flatMap(([name, member]) => {
    const decoded = Object.hasOwn(properties, name) ? decodeJsonTexts(childOf(properties[name]), member) : member
    return decoded === member ? [] : [[name, decoded] as const]
  })
  return changed.length > 0 ? { ...value, ...Object.fromEntries(changed) } : value
}

// A schema that says nothing about the type accepts every type.
function acceptsType(node: SchemaNode, type: "string" | "array" | "object"): boolean {
  const schema = resolveSchema(node)
  if (!schema || node.depth > maxDepth) return true
  const { type: types, anyOf, oneOf, enum: options, const: constant } = schema
  if (types !== undefined) return [types].flat().includes(type)
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (alternatives)
    return alternatives.some((each) => acceptsType({ ...node, schema: each, depth: node.depth + 1 }, type))
  if (Array.isArray(options)) return options.some((option) => typeof option === "string") === (type === "string")
  return constant === undefined || (typeof constant === "string") === (type === "string")
}

function resolveSchema({ schema, root }: SchemaNode): JsonSchema | undefined {
  let found = schema
  for (let attempt = 0; attempt < maxDepth && isRecord(found) && typeof found.$ref === "string"; attempt++) {
    found = resolveReference(found.$ref, root)
  }
  return isRecord(found) ? found : undefined
}

function tryParseJson(text: string): Json | undefined {
  return attempt(() => JSON.parse(text))
}
