// Declares the output variables a run must fill, one line each, with the types their schemas accept.
import type { SchemaLike } from "../bindings.ts"
import { createDeclarationBlock } from "./declaration-block.ts"
import { declarationSchema } from "./declaration-schema.ts"
import { declareClass } from "./declare-type-binding.ts"
import { schemaType } from "./json-schema-type.ts"
import { capitalize, printType } from "./type-tree.ts"

export function declareOutputs(schemas: Record<string, SchemaLike>): string {
  const block = createDeclarationBlock(new Map(), new Map(), { declareClass })
  const lines = Object.entries(schemas).map(([name, schema]) => {
    return `let ${name}: ${printType(schemaType(declarationSchema(schema, "input"), block, capitalize(name)))}`
  })
  return [...block.lines, ...lines].join("\n")
}
