// Checks what a client answered to a question, for the MCP SDK. The SDK's own validator is ajv, which `npm run build`
// leaves out of dist (scripts/bundled.ts).
import type { ServerOptions } from "@modelcontextprotocol/server"
import type { JsonSchema } from "../../core/json.ts"
import { findMismatches } from "../../runtime/schema/json-schema-validator.ts"
import { problemsText } from "../../runtime/schema/problem-text.ts"

export const schemaValidator: NonNullable<ServerOptions["jsonSchemaValidator"]> = {
  getValidator: (schema) => (value) => {
    const mismatches = findMismatches(schema as JsonSchema, value)
    if (mismatches.length === 0) return { valid: true, data: value as never, errorMessage: undefined }
    return { valid: false, data: undefined, errorMessage: problemsText(mismatches) }
  },
}
