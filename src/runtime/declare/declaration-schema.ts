// Converts schemas to the JSON Schema that declarations are written from, with marks for values that JSON cannot hold.
import { attempt } from "../../core/attempt.ts"
import type { JsonSchema } from "../../core/json.ts"
import type { SchemaLike } from "../bindings.ts"
import type { StandardSchema } from "../runtime.ts"
import { isStandardSchema } from "../schema.ts"
import { globalType } from "./parse-signature.ts"
import { printType } from "./type-tree.ts"

type Direction = "input" | "output"

/** Returns the JSON Schema of a value before validation ("input") or after it ("output"). Never throws. Unlike
 *  `toJsonSchema`, it marks values that JSON cannot hold, such as dates; `nonJsonTypeOf` and `acceptsUndefined` read
 *  the marks. If the library cannot convert a schema, the result is `{}`, which is the type `unknown`. */
export function declarationSchema(schema: SchemaLike, direction: Direction): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const known = convertedSchemas[direction].get(schema) ?? convert(schema, direction)
  convertedSchemas[direction].set(schema, known)
  return known
}

/** Returns the TypeScript type of a marked schema; undefined without a mark. */
export function nonJsonTypeOf(schema: JsonSchema): string | undefined {
  const type = schema[nonJsonTypeKey]
  if (typeof type !== "string") return undefined
  if (Object.hasOwn(nonJsonTypes, type)) return nonJsonTypes[type]
  // `z.instanceof` names a global class. The name is checked, because the schema may come from another program.
  const found = type.startsWith(classPrefix) ? globalType(type.slice(classPrefix.length)) : undefined
  return found && printType(found)
}

/** Returns true if the schema also accepts `undefined`. */
export function acceptsUndefined(schema: JsonSchema): boolean {
  return schema[acceptsUndefinedKey] === true
}

/** Removes the mark for `undefined` where the declaration shows it otherwise, as in `key?: string`. */
export function withoutUndefinedMark({ [acceptsUndefinedKey]: _, ...schema }: JsonSchema): JsonSchema {
  return schema
}

const convertedSchemas = { input: new WeakMap<object, JsonSchema>(), output: new WeakMap<object, JsonSchema>() }

function convert(schema: StandardSchema, direction: Direction): JsonSchema {
  const options = { target: "draft-2020-12", libraryOptions: zodOptions[direction] } as const
  // The library types the result only as an object.
  return (attempt(() => schema["~standard"].jsonSchema?.[direction](options)) ?? {}) as JsonSchema
}

/** Our marks on a converted schema. */
const nonJsonTypeKey = "x-live-type"
const acceptsUndefinedKey = "x-live-optional"
const classPrefix = "class "

const nonJsonTypes: { [type: string]: string } = {
  date: "Date",
  bigint: "bigint",
  map: "Map<any, any>",
  set: "Set<any>",
  symbol: "symbol",
  undefined: "undefined",
  void: "void",
  nan: "number",
  promise: "Promise<any>",
  file: "File",
  function: "Function",
  never: "never",
}

interface ZodSchema {
  _zod: {
    def: { type: string; values?: readonly unknown[]; coerce?: boolean }
    bag: { Class?: unknown }
    /** Set if the value is optional or has a default. */
    optin?: string | undefined
    optout?: string | undefined
  }
}

const zodOptions = { input: zodOptionsFor("input"), output: zodOptionsFor("output") }

function zodOptionsFor(direction: Direction) {
  return {
    unrepresentable: "any",
    override({ zodSchema: { _zod }, jsonSchema }: { zodSchema: ZodSchema; jsonSchema: JsonSchema }) {
      const { type, values } = _zod.def
      // A default may not be valid JSON, and declarations do not show it.
      delete jsonSchema.default
      if (Object.hasOwn(nonJsonTypes, type)) jsonSchema[nonJsonTypeKey] = type
      if (type === "literal" && values?.some((value) => !isJsonLiteral(value))) {
        delete jsonSchema.const
        delete jsonSchema.enum
        delete jsonSchema.type
        jsonSchema.anyOf = values.map(literalSchema)
      }
      if (direction === "input" && _zod.def.coerce) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
        Object.assign(jsonSchema, coercionInputs[type])
      }
      const { Class } = _zod.bag
      if (typeof Class === "function") jsonSchema[nonJsonTypeKey] = `${classPrefix}${Class.name}`
      if (_zod[direction === "input" ? "optin" : "optout"] !== undefined) jsonSchema[acceptsUndefinedKey] = true
      else delete jsonSchema[acceptsUndefinedKey]
    },
  }
}

/** The inputs that `z.coerce` accepts, by target type. Any value can become a string or boolean. */
const coercionInputs: { [type: string]: JsonSchema } = {
  number: { type: ["number", "string"] },
  bigint: { anyOf: [{ type: ["number", "string"] }, { [nonJsonTypeKey]: "bigint" }] },
  date: { anyOf: [{ type: ["number", "string"] }, { [nonJsonTypeKey]: "date" }] },
}

function isJsonLiteral(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value)
}

function literalSchema(value: unknown): JsonSchema {
  return isJsonLiteral(value) ? { const: value } : { [nonJsonTypeKey]: typeof value }
}
