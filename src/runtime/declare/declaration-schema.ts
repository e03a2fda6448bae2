import type { JsonSchema } from "../../core/json.ts"
import type { SchemaLike } from "../bindings.ts"
import type { StandardSchema } from "../runtime.ts"
import { isStandardSchema } from "../schema.ts"
import { globalType } from "./parse-signature.ts"
import { printType } from "./type-tree.ts"

type Direction = "input" | "output"

/** The JSON Schema of a value before validation ("input") or after it ("output"), for declarations. Never throws. Unlike
 *  `toJsonSchema`, it marks each value that JSON has no form for, such as a Date: `liveTypeOf` and `mayBeUndefined` read
 *  the marks. A schema whose library cannot convert it is shown as `{}`, which is the type `unknown`. */
export function declarationSchema(schema: SchemaLike, direction: Direction): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const known = convertedSchemas[direction].get(schema) ?? convert(schema, direction)
  convertedSchemas[direction].set(schema, known)
  return known
}

/** The TypeScript type that a mark stands for; undefined where the schema has no mark. */
export function nonJsonTypeOf(schema: JsonSchema): string | undefined {
  const type = schema[nonJsonTypeKey]
  if (typeof type !== "string") return undefined
  if (Object.hasOwn(nonJsonTypes, type)) return nonJsonTypes[type]
  // A global class that `z.instanceof` names. The name is checked: a schema may come from another program.
  const found = type.startsWith(classPrefix) ? globalType(type.slice(classPrefix.length)) : undefined
  return found && printType(found)
}

/** Whether the schema accepts `undefined` besides what it describes. */
export function acceptsUndefined(schema: JsonSchema): boolean {
  return schema[acceptsUndefinedKey] === true
}

/** The schema without the mark for `undefined`, for a place that has its own sign for it: `key?: string`. */
export function withoutUndefined({ [acceptsUndefinedKey]: _, ...schema }: JsonSchema): JsonSchema {
  return schema
}

const convertedSchemas = { input: new WeakMap<object, JsonSchema>(), output: new WeakMap<object, JsonSchema>() }

function convert(schema: StandardSchema, direction: Direction): JsonSchema {
  try {
    const options = { target: "draft-2020-12", libraryOptions: zodOptions[direction] } as const
    // The library's own types say only that this is an object.
    return (schema["~standard"].jsonSchema?.[direction](options) ?? {}) as JsonSchema
  } catch {
    return {}
  }
}

/** Keywords of our own on a converted schema. */
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

/** The parts of a zod schema that are read here. */
interface ZodSchema {
  _zod: {
    def: { type: string; values?: readonly unknown[]; coerce?: boolean }
    bag: { Class?: unknown }
    /** Set where the value may be left out, by itself or because there is a default. */
    optin?: string | undefined
    optout?: string | undefined
  }
}

// zod reads these options; other libraries ignore them.
const zodOptions = { input: zodOptionsFor("input"), output: zodOptionsFor("output") }

function zodOptionsFor(direction: Direction) {
  return {
    unrepresentable: "any",
    override({ zodSchema: { _zod }, jsonSchema }: { zodSchema: ZodSchema; jsonSchema: JsonSchema }) {
      const { type, values } = _zod.def
      // A default may be a value that JSON cannot hold, and no declaration shows it.
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

/** The values that `z.coerce` converts, by the type it converts to. It makes a string or boolean of any value. */
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
