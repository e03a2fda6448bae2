import type { SchemaLike } from "../bindings.ts"
import { createDeclarationBlock } from "./block.ts"
import { declareClass } from "./bound-type.ts"
import { schemaType } from "./json-schema-type.ts"
import { declarationSchema } from "./shown-schema.ts"
import { printType } from "./type-tree.ts"

/** Variables to be filled, one line each, with the types their schemas admit. */
export function declareOutputs(schemas: Record<string, SchemaLike>): string {
  const block = createDeclarationBlock(new Map(), new Map(), { declareClass })
  const lines = Object.entries(schemas).map(([name, schema]) => {
    const like = name.charAt(0).toUpperCase() + name.slice(1)
    return `let ${name}: ${printType(schemaType(declarationSchema(schema, "input"), block, like))}`
  })
  return [...block.lines, ...lines].join("\n")
}
