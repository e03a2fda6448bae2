import type { SchemaLike } from "../bindings.ts"
import { openBlock } from "./block.ts"
import { declareClass } from "./bound-type.ts"
import { schemaType } from "./json-schema-type.ts"
import { shownSchema } from "./shown-schema.ts"
import { printType } from "./type-tree.ts"

/** Variables to be filled, one line each, with the types their schemas admit. */
export function declareVariables(schemas: Record<string, SchemaLike>): string {
  const block = openBlock(new Map(), new Map(), { declareClass })
  const lines = Object.entries(schemas).map(([name, schema]) => {
    const like = name.charAt(0).toUpperCase() + name.slice(1)
    return `let ${name}: ${printType(schemaType(shownSchema(schema, "input"), block, like))}`
  })
  return [...block.lines, ...lines].join("\n")
}
