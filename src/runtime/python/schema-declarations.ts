// Writes functions with schemas, and bound schemas, as Python declarations. Objects inside a schema are declared as
// classes of their own, with the descriptions of their fields.
import type { JsonSchema } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { oneLine } from "../../core/text/tagged-text.ts"
import type { FunctionBinding } from "../bindings.ts"
import { declarationSchema } from "../declare/declaration-schema.ts"
import { functionSignature } from "../declare/function-signature.ts"
import { parseSignature } from "../declare/parse-signature.ts"
import { any, capitalize } from "../declare/type-tree.ts"
import type { StandardSchema } from "../runtime.ts"
import { isTuple } from "../schema.ts"
import { commentText, docText, functionBlock } from "./doc-text.ts"
import {
  pythonSignature,
  type RecordNaming,
  schemaMembers,
  schemaParameter,
  schemaParameters,
  schemaPythonType,
} from "./python-types.ts"

/** The declarations of classes by name, to which nested objects are added. */
export type ClassDeclarations = Map<string, string>

export function functionText(name: string, { call, options }: FunctionBinding, classes: ClassDeclarations): string {
  const { description, signature, input, output } = options
  const naming = recordNaming(capitalize(name), classes)
  if (signature !== undefined) {
    return functionBlock(`def ${name}${pythonSignature(parseSignature(signature, name))}`, description)
  }
  const result = output ? ` -> ${schemaPythonType(declarationSchema(output, "output"), 0, naming.inner("Output"))}` : ""
  if (input) {
    const { parameters, docs } = inputParameters(declarationSchema(input, "input"), isTuple(input), naming)
    const doc = [description, ...docs].filter((line) => line).join("\n")
    return functionBlock(`def ${name}(${parameters.join(", ")})${result}`, doc || undefined)
  }
  const ownSignature = functionSignature(call)
  const shownSignature = output ? { ...ownSignature, returns: any, awaited: any } : ownSignature
  return functionBlock(`def ${name}${pythonSignature(shownSignature)}${result}`, description)
}

/** Describes a schema: an object schema as a class with members, any other as a type alias. */
export function schemaText(
  name: string,
  schema: StandardSchema,
  description: string | undefined,
  classes: ClassDeclarations,
): string {
  const shown = declarationSchema(schema, "output")
  const naming = recordNaming(name, classes)
  const members = shown.type === "object" ? schemaMembers(shown, naming) : []
  if (members.length === 0) return `${name} = ${schemaPythonType(shown, 0, naming)}${commentText(description)}`
  return recordText(name, members, description)
}

/** Returns the parameters that a schema describes, and a line about each that has a description. */
function inputParameters(
  schema: JsonSchema,
  tuple: boolean,
  naming: RecordNaming,
): { parameters: string[]; docs: string[] } {
  if (schema.type === "object") {
    const fields = isRecord(schema.properties) ? Object.entries(schema.properties) : []
    return {
      parameters: schemaParameters(schema, naming),
      docs: fields.flatMap(([key, field]) => fieldDoc(key, field)),
    }
  }
  const places = schema.prefixItems ?? schema.items
  if (!tuple || !Array.isArray(places)) {
    return { parameters: [schemaParameter("input", schema, false, naming)], docs: [] }
  }
  const required = typeof schema.minItems === "number" ? schema.minItems : places.length
  return {
    parameters: places.map((place, at) => schemaParameter(`arg${at + 1}`, place, at >= required, naming)),
    docs: places.flatMap((place, at) => fieldDoc(`arg${at + 1}`, place)),
  }
}

function fieldDoc(name: string, schema: unknown): string[] {
  const text = isRecord(schema) && typeof schema.description === "string" ? oneLine(schema.description) : ""
  return text ? [`${oneLine(name)}: ${text}`] : []
}

/** Declares objects under this name, or a numbered variant if another class has it. */
function recordNaming(name: string, classes: ClassDeclarations): RecordNaming {
  const naming: RecordNaming = {
    inner: (part) => recordNaming(`${name}${capitalize(part.replaceAll(/\W/g, ""))}`, classes),
    declare(schema) {
      const description = typeof schema.description === "string" ? schema.description : undefined
      for (let count = 1; ; count++) {
        const own = count === 1 ? name : `${name}${count}`
        const known = classes.get(own)
        // Reserve the name: the members may declare other classes.
        if (known === undefined) classes.set(own, "")
        const text = recordText(own, schemaMembers(schema, naming), description)
        if (known !== undefined && known !== text) continue
        // Classes of members come first.
        classes.delete(own)
        classes.set(own, text)
        return own
      }
    },
  }
  return naming
}

function recordText(name: string, members: readonly string[], description: string | undefined): string {
  const doc = description === undefined ? [] : [docText(description, "    ")]
  return [`class ${name}(TypedDict):`, ...doc, ...members.map((member) => `    ${member}`)].join("\n")
}
