// Makes input schemas of function signatures.
import type { Json, JsonSchema } from "../core/json.ts"
import { functionSignature } from "../runtime/declare/function-signature.ts"
import { parseSignature } from "../runtime/declare/parse-signature.ts"
import type { TypeTree } from "../runtime/declare/type-tree.ts"
import type { Validation } from "../runtime/schema.ts"

/** The input of a call as one object, the only form that clients can send. */
export interface CallInput {
  /** The names of its members. */
  names: string[]
  schema: JsonSchema
  /** Validates, and may change, an input that fits the schema. Default: accepts it. */
  accept?(given: unknown): Validation | Promise<Validation>
  /** Converts such an object to arguments. */
  toArguments(input: unknown): unknown[]
}

/** Reads the parameters from the declared signature or, without one, from the function itself, where only default
 *  values have a type. */
export function parametersOf(call: object, signature: string | undefined, name: string): CallInput {
  const { parameters } = signature === undefined ? functionSignature(call) : parseSignature(signature, name)
  const [only] = parameters
  // A function that destructures its only parameter takes the object itself.
  if (only && parameters.length === 1 && only.type.kind === "object") {
    return { names: ["input"], schema: typeSchema(only.type), toArguments: (input) => [input] }
  }
  const last = parameters.at(-1)
  return {
    names: parameters.map((parameter) => parameter.name),
    schema: {
      type: "object",
      properties: Object.fromEntries(parameters.map(({ name, type }) => [name, typeSchema(type)])),
      required: parameters.filter(({ optional, rest }) => !optional && !rest).map((parameter) => parameter.name),
      additionalProperties: false,
    },
    toArguments: argumentsByName(
      parameters.map((parameter) => parameter.name),
      last?.rest,
    ),
  }
}

/** Converts an object to arguments by the parameters' names. With `rest`, the last one contains all further
 *  arguments. */
export function argumentsByName(names: readonly string[], rest = false): (input: unknown) => unknown[] {
  return (input) => {
    const values = names.map((name) => ownMember(input, name))
    return rest ? [...values.slice(0, -1), ...[values.at(-1) ?? []].flat()] : values
  }
}

export function ownMember(input: unknown, name: string): unknown {
  return typeof input === "object" && input !== null && Object.hasOwn(input, name)
    ? Reflect.get(input, name)
    : undefined
}

function typeSchema(tree: TypeTree): JsonSchema {
  switch (tree.kind) {
    case "array":
      return { type: "array", items: typeSchema(tree.element) }
    case "object": {
      const fields = tree.members.filter(({ form }) => form === "field")
      return {
        type: "object",
        properties: Object.fromEntries(fields.map(({ name, type }) => [name, typeSchema(type)])),
        required: fields.filter(({ optional }) => !optional).map(({ name }) => name),
      }
    }
    case "name":
    case "text":
      return textSchema(tree.text.trim())
    default:
      return {}
  }
}

// Handles common types; any other type becomes a description.
function textSchema(text: string): JsonSchema {
  const [, element] = /^(\w+)\[\]$/.exec(text) ?? []
  if (element !== undefined) return { type: "array", items: textSchema(element) }
  if (["string", "number", "boolean", "null", "object"].includes(text)) return { type: text }
  if (text === "any" || text === "unknown") return {}
  const literals = text.split("|").map((part) => parseLiteral(part.trim()))
  if (literals.every((value) => value !== undefined)) return { enum: literals }
  return { description: text }
}

function parseLiteral(text: string): Json | undefined {
  if (/^'[^'\\]*'$/.test(text)) return text.slice(1, -1)
  return /^("[^"\\]*"|-?\d+(\.\d+)?|true|false|null)$/.test(text) ? JSON.parse(text) : undefined
}
