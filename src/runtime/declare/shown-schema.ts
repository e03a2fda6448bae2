import type { JsonSchema } from "../../core/json.ts"
import type { SchemaLike } from "../bindings.ts"
import type { StandardSchema } from "../runtime.ts"
import { isStandardSchema, toJsonSchema } from "../schema.ts"

/** The JSON Schema of what goes in or comes out, for showing. Unlike `toJsonSchema` it stands for what JSON cannot hold,
 *  such as a Date, with a mark that `liveTypeOf` reads, where the library lets it. */
export function shownSchema(schema: SchemaLike, direction: "input" | "output"): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const known = shown[direction].get(schema) ?? convert(schema, direction)
  shown[direction].set(schema, known)
  return known
}

/** The TypeScript type of what the marked schema stands for. */
export function liveTypeOf(schema: JsonSchema): string | undefined {
  const type = schema[liveType]
  return typeof type === "string" && Object.hasOwn(liveTypes, type) ? liveTypes[type] : undefined
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
