// Validates a value against a JSON Schema. Supports the keywords that schema libraries generate.
import { isDeepStrictEqual } from "node:util"
import { createContext, Script } from "node:vm"
import type { Json, JsonSchema } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { isStackOverflow } from "../../core/values/nesting-depth.ts"
import { checkSchema, compilePattern, resolveReference } from "./check-json-schema.ts"

export interface Mismatch {
  message: string
  path: readonly PropertyKey[]
}

/** Returns the mismatches; empty if the value is valid. Throws a `ConfigError` for a mistake in the schema. Ignores
 *  `format` and unknown keywords. */
export function findMismatches(schema: JsonSchema, value: unknown): Mismatch[] {
  checkSchema(schema, "The schema of a value")
  const found: Mismatch[] = []
  try {
    validateNode({ schema, value, path: [], root: schema, found })
  } catch (error) {
    if (!isStackOverflow(error)) throw error
    return [{ message: "is nested too deeply to be checked; send it flatter", path: [] }]
  }
  return found
}

interface ValidationStep {
  schema: Json
  value: unknown
  path: readonly PropertyKey[]
  root: JsonSchema
  found: Mismatch[]
}

function validateNode(step: ValidationStep): void {
  const { schema, value, found, path } = step
  if (schema === false) found.push({ message: "must not be there", path })
  if (!isRecord(schema)) return
  if (typeof schema.$ref === "string")
    validateNode({ ...step, schema: resolveReference(schema.$ref, step.root) ?? true })
  const wrong = typeMismatch(schema, value)
  if (wrong) {
    found.push({ message: wrong, path })
    return
  }
  for (const message of valueMismatches(schema, value)) found.push({ message, path })
  validateCombinators(step, schema)
  if (Array.isArray(value)) validateItems(step, schema, value)
  else if (isRecord(value)) validateProperties(step, schema, value)
}

function typeMismatch({ type }: JsonSchema, value: unknown): string | undefined {
  if (type === undefined) return undefined
  const types = (Array.isArray(type) ? type : [type]).map(String)
  if (types.some((name) => isOfType(name, value))) return undefined
  return `expected ${types.join(" or ")}, received ${typeName(value)}`
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value)
    case "number":
      return typeof value === "number" && Number.isFinite(value)
    case "object":
      return isRecord(value)
    default:
      return typeName(value) === type
  }
}

function valueMismatches(schema: JsonSchema, value: unknown): string[] {
  const wrong: string[] = []
  const { enum: options, const: constant } = schema
  if (Array.isArray(options) && !options.some((option) => isDeepStrictEqual(option, value))) {
    wrong.push(`expected one of ${options.map((option) => JSON.stringify(option)).join(", ")}`)
  }
  if (constant !== undefined && !isDeepStrictEqual(constant, value)) wrong.push(`expected ${JSON.stringify(constant)}`)
  if (typeof value === "string") wrong.push(...stringMismatches(schema, value))
  if (typeof value === "number") wrong.push(...numberMismatches(schema, value))
  return wrong
}

function stringMismatches(schema: JsonSchema, value: string): string[] {
  const { pattern } = schema
  const wrong = sizeMismatches(schema, "Length", [...value].length, "characters")
  if (typeof pattern === "string" && !matchesPattern(pattern, value)) wrong.push(`expected to match ${pattern}`)
  return wrong
}

/** A pattern may come from a server and the text from a model, so the match runs with a time limit. A timeout counts
 *  as no match. */
function matchesPattern(pattern: string, text: string): boolean {
  patternRunner ??= { script: new Script("expression.test(text)"), context: createContext({}) }
  const { script, context } = patternRunner
  Object.assign(context, { expression: compilePattern(pattern), text })
  try {
    return script.runInContext(context, { timeout: patternTimeoutMs }) === true
  } catch (error) {
    // The error belongs to the other context, so `instanceof` does not work.
    if (Object(error).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false
    throw error
  } finally {
    Object.assign(context, { expression: undefined, text: "" })
  }
}

let patternRunner: { script: Script; context: object } | undefined
const patternTimeoutMs = 250

function numberMismatches(schema: JsonSchema, value: number): string[] {
  const wrong: string[] = []
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === "number" && value < minimum) wrong.push(`expected at least ${minimum}`)
  if (typeof maximum === "number" && value > maximum) wrong.push(`expected at most ${maximum}`)
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    wrong.push(`expected more than ${exclusiveMinimum}`)
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    wrong.push(`expected less than ${exclusiveMaximum}`)
  if (typeof multipleOf === "number" && !isMultiple(value, multipleOf))
    wrong.push(`expected a multiple of ${multipleOf}`)
  return wrong
}

function sizeMismatches(
  schema: JsonSchema,
  of: "Length" | "Items" | "Properties",
  size: number,
  unit: string,
): string[] {
  const wrong: string[] = []
  const least = schema[`min${of}`]
  const most = schema[`max${of}`]
  if (typeof least === "number" && size < least) wrong.push(`expected at least ${least} ${unit}`)
  if (typeof most === "number" && size > most) wrong.push(`expected at most ${most} ${unit}`)
  return wrong
}

function validateCombinators(step: ValidationStep, schema: JsonSchema): void {
  const { found, path } = step
  const isValid = (option: Json) => mismatchesWith(step, option).length === 0
  for (const option of arrayOrEmpty(schema.allOf)) validateNode({ ...step, schema: option })
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some(isValid)) found.push(...closestAlternative(step, schema.anyOf))
  if (Array.isArray(schema.oneOf)) {
    const count = schema.oneOf.filter(isValid).length
    if (count === 0) found.push(...closestAlternative(step, schema.oneOf))
    if (count > 1) found.push({ message: "matches more than one of the alternatives", path })
  }
  if (schema.not !== undefined && isValid(schema.not)) found.push({ message: "is of an excluded form", path })
  if (schema.if === undefined) return
  const branch = isValid(schema.if) ? schema.then : schema.else
  if (branch !== undefined) validateNode({ ...step, schema: branch })
}

function validateItems(step: ValidationStep, schema: JsonSchema, value: readonly unknown[]): void {
  const { found, path } = step
  const first = arrayOrEmpty(schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined))
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  for (const [index, item] of value.entries()) {
    const itemSchema = index < first.length ? first[index] : rest
    if (itemSchema !== undefined) validateNode({ ...step, schema: itemSchema, value: item, path: [...path, index] })
  }
  for (const message of sizeMismatches(schema, "Items", value.length, "items")) found.push({ message, path })
  if (schema.uniqueItems === true && hasDuplicateItems(value)) found.push({ message: "expected no item twice", path })
}

/** Groups items by the sorted characters of their JSON, to avoid comparing all pairs; key order may differ. */
function hasDuplicateItems(items: readonly unknown[]): boolean {
  const alike = Map.groupBy(items, (item) => duplicateKey(item))
  return alike
    .values()
    .some((group) => group.some((item, index) => group.slice(0, index).some((other) => isDeepStrictEqual(other, item))))
}

function duplicateKey(item: unknown): string {
  if (typeof item !== "object" || item === null) return `${typeof item} ${String(item)}`
  const text = JSON.stringify(item, (_, value) => (typeof value === "bigint" ? `${value}n` : value)) ?? ""
  return [...text].sort().join("")
}

function validateProperties(step: ValidationStep, schema: JsonSchema, value: { [key: string]: unknown }): void {
  const { found, path } = step
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  for (const name of arrayOrEmpty(schema.required)) {
    if (value[String(name)] === undefined) found.push({ message: "is missing", path: [...path, String(name)] })
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const memberStep = { ...step, value: member, path: [...path, name] }
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    const matching = patterns.filter(([pattern]) => matchesPattern(pattern, name))
    if (own !== undefined) validateNode({ ...memberStep, schema: own })
    for (const [, patternSchema] of matching) validateNode({ ...memberStep, schema: patternSchema })
    if (schema.propertyNames !== undefined) validateNode({ ...memberStep, schema: schema.propertyNames, value: name })
    const { additionalProperties: rest } = schema
    if (own !== undefined || matching.length > 0) continue
    if (rest === false) found.push({ message: "is not expected", path: memberStep.path })
    else if (isRecord(rest)) validateNode({ ...memberStep, schema: rest })
  }
  const size = Object.keys(value).length
  for (const message of sizeMismatches(schema, "Properties", size, "properties")) found.push({ message, path })
}

function mismatchesWith(step: ValidationStep, schema: Json): Mismatch[] {
  const found: Mismatch[] = []
  validateNode({ ...step, schema, found })
  return found
}

// If no alternative fits, report the one that came closest: it failed deepest in the value, then with the fewest
// problems.
function closestAlternative(step: ValidationStep, alternatives: readonly Json[]): Mismatch[] {
  const attempts = alternatives.map((option) => mismatchesWith(step, option))
  const depth = (problems: Mismatch[]) => Math.max(...problems.map((problem) => problem.path.length))
  const best = attempts.sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
  if (attempts.length === 1 || best.some((problem) => problem.path.length > step.path.length)) return best
  const messages = attempts.flatMap((problems) => problems.map((problem) => problem.message))
  return [{ message: [...new Set(messages)].join(", or "), path: step.path }]
}

function arrayOrEmpty(list: Json | undefined): readonly Json[] {
  return Array.isArray(list) ? list : []
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return Math.abs(times - Math.round(times)) < 1e-9
}

function typeName(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}
