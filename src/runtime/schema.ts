// Validates values against schemas of any library (Standard Schema) or plain JSON Schema.
import { AgentError, ConfigError } from "../core/errors.ts"
import type { JsonSchema } from "../core/json.ts"
import type { SchemaLike } from "./bindings.ts"
import type { StandardResult, StandardSchema } from "./runtime.ts"
import { findMismatches } from "./schema/json-schema-validator.ts"
import { problemsText } from "./schema/problem-text.ts"

export type Validation<T = unknown> = { ok: true; value: T } | { ok: false; message: string }

/** The JSON Schema of a schema's input. Throws a `ConfigError` if the schema's library cannot convert it. */
export function toJsonSchema(schema: SchemaLike, options?: Record<string, unknown>): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const { vendor, jsonSchema } = schema["~standard"]
  if (!jsonSchema) {
    throw new ConfigError(
      `The ${vendor} schema cannot give its JSON Schema. ${vendorCures[vendor] ?? "Pass plain JSON Schema instead."}`,
      { details: { vendor } },
    )
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12", libraryOptions: { ...zodOptions, ...options } }) as JsonSchema
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`The ${vendor} schema has no JSON Schema: ${reason}. Change it, or pass plain JSON Schema.`, {
      cause,
      details: { vendor },
    })
  }
}

// zod reads these options; other libraries ignore them.
const zodOptions = {
  /** `z.coerce.date()` and `z.coerce.bigint()` accept the texts that JSON has for a date and a large number. */
  unrepresentable({ zodSchema: { _zod } }: { zodSchema: { _zod: { def: { type: string; coerce?: boolean } } } }) {
    const { type, coerce } = _zod.def
    return (coerce && coercedTextSchemas[type]) || "throw"
  },
  /** Leaves out a default that JSON cannot represent. */
  override({ jsonSchema }: { jsonSchema: { default?: unknown } }) {
    if (typeof jsonSchema.default === "bigint") delete jsonSchema.default
  },
}

const coercedTextSchemas: { [type: string]: JsonSchema } = {
  date: { type: "string", format: "date-time" },
  bigint: { type: "string", pattern: "^-?[0-9]+$" },
}

/** Returns true if a schema describes all arguments of a call as a tuple, and not a single argument. */
export function isTuple(schema: SchemaLike): boolean {
  const known = tupleCache.get(schema)
  if (known !== undefined) return known
  const tuple = isTupleSchema(schema)
  tupleCache.set(schema, tuple)
  return tuple
}

/** The result of `retrieve`: the value, or with a schema the validated value. */
export async function validateRetrieved(
  name: string,
  value: unknown,
  schema: SchemaLike | undefined,
): Promise<unknown> {
  if (schema === undefined) return value
  const validation = await validate(schema, value)
  if (validation.ok) return validation.value
  const message = `"${name}" is not what the schema asks for: ${validation.message}`
  throw new AgentError(message, { code: "invalid-value" })
}

/** Validates a value. The error message has the path of each problem. */
export async function validate<T = unknown>(schema: SchemaLike, value: unknown): Promise<Validation<T>> {
  return await validateMaybeSync<T>(schema, value)
}

/** Validates synchronously if the schema allows it; otherwise returns a Promise. */
export function validateMaybeSync<T = unknown>(
  schema: SchemaLike,
  value: unknown,
): Validation<T> | Promise<Validation<T>> {
  if (!isStandardSchema(schema)) {
    const problems = findMismatches(schema, value)
    // Plain JSON Schema has no static type: the caller states it as T.
    return problems.length === 0 ? { ok: true, value: value as T } : { ok: false, message: problemsText(problems) }
  }
  const result = schema["~standard"].validate(value)
  return result instanceof Promise ? result.then((settled) => toValidation<T>(settled)) : toValidation<T>(result)
}

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // Some vendors' schemas are functions.
  return schema !== null && (typeof schema === "object" || typeof schema === "function") && "~standard" in schema
}

const tupleCache = new WeakMap<SchemaLike, boolean>()

const vendorCures: { [vendor: string]: string } = {
  zod: "Update to zod 4.2 or later, or pass z.toJSONSchema(schema).",
  valibot: "Wrap it with toStandardJsonSchema() of @valibot/to-json-schema.",
  effect: "Pass JSONSchema.make(schema) of effect.",
  arktype: "Update to arktype 2.1.28 or later, or pass schema.toJsonSchema().",
}

function isTupleSchema(schema: SchemaLike): boolean {
  try {
    // `unrepresentable` is for zod: a Date among the items must not hide that the schema is a tuple.
    const { prefixItems, items } = toJsonSchema(schema, { unrepresentable: "any" })
    return Array.isArray(prefixItems ?? items)
  } catch {
    // A schema without JSON Schema describes a single argument.
    return false
  }
}

function toValidation<T>(result: StandardResult<unknown>): Validation<T> {
  if (result.issues === undefined) return { ok: true, value: result.value as T }
  return {
    ok: false,
    message: problemsText(result.issues.map(({ message, path = [] }) => ({ message, path: path.map(pathKey) }))),
  }
}

// A path step is the key or an object that has it.
function pathKey(step: unknown): PropertyKey {
  const bare = typeof step === "object" && step !== null && "key" in step ? step.key : step
  return typeof bare === "number" || typeof bare === "symbol" ? bare : String(bare)
}
