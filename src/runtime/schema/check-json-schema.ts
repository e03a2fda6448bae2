// Finds the mistakes of a JSON Schema (references, patterns, types), so that no value is blamed for them.
import { attempt } from "../../core/attempt.ts"
import { describeValue, type OptionCheck } from "../../core/checks/check-options.ts"
import { isFiniteNumber, isString, type ShapeCheck } from "../../core/checks/check-shape.ts"
import { ConfigError } from "../../core/errors.ts"
import type { Json, JsonSchema } from "../../core/json.ts"
import { isObject, isRecord } from "../../core/object.ts"
import { isStackOverflow } from "../../core/values/nesting-depth.ts"

/** Throws a `ConfigError` with the place of the first mistake. Schemas of a library are left to the library. */
export function checkSchema(schema: unknown, name: string): void {
  const problem = mustBeSchema(schema, name)
  if (problem !== undefined) throw new ConfigError(`${name} ${problem}.`)
}

export const mustBeSchema: OptionCheck = (schema) => {
  if ((isObject(schema) && "~standard" in schema) || soundSchemas.has(Object(schema))) return undefined
  if (!isRecord(schema))
    return `is no schema: it is ${describeValue(schema)}. Use zod, a Standard Schema or JSON Schema`
  try {
    // Only values that JSON has are read from it.
    const [place, problem] = findProblem(schema as JsonSchema) ?? []
    if (place !== undefined) return `is a JSON Schema with a mistake at ${place}: ${problem}. Correct the schema`
    if (attempt(() => JSON.stringify(schema)) === undefined)
      return "is no JSON Schema: it contains itself or a value that JSON does not have. Refer to schemas by $ref"
    soundSchemas.add(schema)
    return undefined
  } catch (error) {
    if (!isStackOverflow(error)) throw error
    return "is a JSON Schema that is nested too deeply. Make it flatter"
  }
}

const soundSchemas = new WeakSet<object>()

type Problem = [place: string, problem: string]

function findProblem(root: JsonSchema): Problem | undefined {
  const places = new Map<object, string>()
  const problem = collectSchemas(root, "#", root, places)
  if (problem) return problem
  const finished = new Set<unknown>()
  const endless = [...places].find(([schema]) => leadsToItself(schema, root, new Set(), finished))
  return endless && [endless[1], "it refers to itself without end"]
}

/** Collects all schemas inside a schema, with their places. Stops at the first problem. */
function collectSchemas(
  schema: unknown,
  place: string,
  root: JsonSchema,
  places: Map<object, string>,
): Problem | undefined {
  if (schema === undefined || typeof schema === "boolean" || places.has(Object(schema))) return undefined
  if (!isRecord(schema)) return [place, `this is no schema: it is ${describeValue(schema)}`]
  places.set(schema, place)
  for (const [keyword, [check, what]] of Object.entries(keywordChecks)) {
    const given = schema[keyword]
    if (given !== undefined && !check(given))
      return [`${place}/${keyword}`, `this must be ${what}, and it is ${describeValue(given)}`]
  }
  const { $ref, type, pattern, patternProperties } = schema
  const target = typeof $ref === "string" ? resolveReference($ref, root) : true
  if (target === undefined) return [`${place}/$ref`, `there is nothing at ${JSON.stringify($ref)}`]
  const unknownType = [type ?? []].flat().find((name) => !typeNames.includes(String(name)))
  if (unknownType !== undefined) return [`${place}/type`, `${describeValue(unknownType)} is not a type`]
  const patterns = Object.keys(Object(patternProperties)).map((key) => [`${place}/patternProperties`, key] as const)
  for (const [at, text] of [...patterns, [`${place}/pattern`, pattern] as const]) {
    const problem = typeof text === "string" ? patternProblem(text) : undefined
    if (problem !== undefined) return [at, problem]
  }
  for (const [at, inner] of [...subschemas(schema, place), [String($ref), target] as const]) {
    const problem = collectSchemas(inner, at, root, places)
    if (problem) return problem
  }
  return undefined
}

function subschemas(schema: object, place: string): (readonly [place: string, schema: unknown])[] {
  return Object.entries(schema).flatMap(([keyword, given]) => {
    const isKeyed = keyedKeywords.includes(keyword) && isRecord(given)
    if (!isKeyed && !schemaKeywords.includes(keyword)) return []
    if (!isKeyed && !Array.isArray(given)) return [[`${place}/${keyword}`, given]]
    return Object.entries(given).map(([name, inner]) => [`${place}/${keyword}/${escapeStep(name)}`, inner])
  })
}

/** Returns true if a schema applies itself again to the same value. */
function leadsToItself(schema: unknown, root: JsonSchema, chain: Set<unknown>, finished: Set<unknown>): boolean {
  if (!isRecord(schema) || finished.has(schema)) return false
  if (chain.has(schema)) return true
  chain.add(schema)
  const { $ref } = schema
  const next = sameValueKeywords.flatMap((keyword): unknown[] => [schema[keyword]].flat())
  if (typeof $ref === "string") next.push(resolveReference($ref, root))
  const isEndless = next.some((inner) => leadsToItself(inner, root, chain, finished))
  chain.delete(schema)
  finished.add(schema)
  return isEndless
}

/** Returns the schema that a `$ref` points to in `root`; undefined if there is nothing. References to other documents
 *  and to anchors are not followed: they accept everything. */
export function resolveReference(reference: string, root: JsonSchema): Json | undefined {
  if (!/^#(\/|$)/.test(reference)) return true
  let current: Json | undefined = root
  for (const step of reference.split("/").slice(1)) {
    const name = step
      .replace(/(%[0-9a-f]{2})+/gi, decodeBytes)
      .replaceAll("~1", "/")
      .replaceAll("~0", "~")
    current = isObject(current) && Object.hasOwn(current, name) ? (current as JsonSchema)[name] : undefined
  }
  return current
}

const decodeBytes = (bytes: string): string => String(Buffer.from(bytes.replaceAll("%", ""), "hex"))
const escapeStep = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")

/** Returns a pattern as a regular expression, with the flag "u" unless only the older syntax accepts it, as `[\w-.]`.
 *  Throws a `SyntaxError`. */
export function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u")
  } catch {
    return new RegExp(pattern)
  }
}

function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0

/** What the value of a keyword must be. */
const keywordChecks: { [keyword: string]: [check: ShapeCheck, what: string] } = {
  ...forAll(["properties", "patternProperties", "$defs", "definitions"], isRecord, "an object of schemas"),
  ...forAll(["allOf", "anyOf", "oneOf"], (value) => Array.isArray(value) && value.length > 0, "a list of schemas"),
  ...forAll(["required"], (value) => Array.isArray(value) && value.every(isString), "a list of names"),
  ...forAll(["enum"], Array.isArray, "a list of values"),
  ...forAll(["minimum", "maximum", "multipleOf"], isFiniteNumber, "a number"),
  ...forAll(["minLength", "maxLength", "minItems", "maxItems"], isCount, "a whole number of 0 or more"),
  ...forAll(["pattern", "$ref"], isString, "a text"),
}

function forAll(keywords: readonly string[], check: ShapeCheck, what: string) {
  return Object.fromEntries(keywords.map((keyword) => [keyword, [check, what] as [ShapeCheck, string]]))
}

const typeNames = ["string", "number", "integer", "boolean", "object", "array", "null"]
const keyedKeywords = ["properties", "patternProperties", "$defs", "definitions"]
const sameValueKeywords = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"]
const schemaKeywords = [
  ...sameValueKeywords,
  ...["items", "prefixItems", "additionalItems", "additionalProperties", "propertyNames"],
]
