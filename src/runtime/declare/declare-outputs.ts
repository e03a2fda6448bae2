import type { SchemaLike } from "../bindings.ts"
import { createDeclarationBlock } from "./declaration-block.ts"
import { declarationSchema } from "./declaration-schema.ts"
import { declareClass } from "./declare-type-binding.ts"
import { schemaType } from "./json-schema-type.ts"
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
