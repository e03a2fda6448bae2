// Writes TypeScript types, signatures and JSON Schemas as Python declarations for the model.
import { inspect } from "node:util"
import type { Json, JsonSchema } from "../../core/json.ts"
import { isRecord } from "../../core/object.ts"
import { oneLine } from "../../core/text/tagged-text.ts"
import { acceptsUndefined, nonJsonTypeOf } from "../declare/declaration-schema.ts"
import { type Parameter, printType, type Signature, type TypeTree } from "../declare/type-tree.ts"
import { commentText } from "./doc-text.ts"

/** Returns a TypeScript type in Python's notation; `Any` if Python has no equivalent. */
export function pythonType(tree: TypeTree): string {
  return pythonTypeOfText(printType(tree))
}

/** `(name: str, count: float = ...) -> Task`. Python calls wait for the result, so a promise is shown as its value. */
export function pythonSignature({ parameters, returns, awaited = returns }: Signature, first: string[] = []): string {
  const result = pythonType(awaited)
  return `(${[...first, ...parameters.map(parameter)].join(", ")})${result === "Any" ? "" : ` -> ${result}`}`
}

/** Names the classes that are declared for objects inside a schema. */
export interface RecordNaming {
  /** Returns the naming for a part of the schema. */
  inner(part: string): RecordNaming
  /** Declares an object schema and returns the name of its class. */
  declare(schema: JsonSchema): string
}

/** Returns the type of a schema. Objects are `dict` unless `naming` declares them. */
export function schemaPythonType(schema: Json | undefined, depth = 0, naming?: RecordNaming): string {
  if (!isRecord(schema) || depth > maxDepth) return "Any"
  const type = definedType(schema, depth, naming)
  return acceptsUndefined(schema) ? union([type, "None"]) : type
}

function definedType(schema: JsonSchema, depth = 0, naming?: RecordNaming): string {
  const innerType = (inner: Json | undefined, part = "") =>
    schemaPythonType(inner, depth + 1, part ? naming?.inner(part) : naming)
  const { type, enum: options, const: constant, items, prefixItems, anyOf, oneOf, allOf } = schema
  const live = nonJsonTypeOf(schema)
  if (live !== undefined) {
    const word = pythonTypeOfText(live)
    return word in globalThis ? "Any" : word
  }
  if (schema.$ref !== undefined) return "Any"
  if (Array.isArray(allOf)) return "dict"
  if (Array.isArray(options)) return `Literal[${options.map(pythonLiteral).join(", ")}]`
  if (constant !== undefined) return `Literal[${pythonLiteral(constant)}]`
  const alternatives = anyOf ?? oneOf
  if (Array.isArray(alternatives)) return union(alternatives.map((each) => innerType(each)))
  if (Array.isArray(type)) return union(type.map((each) => innerType({ ...schema, type: each })))
  if (type === "array") return Array.isArray(prefixItems ?? items) ? "list" : `list[${innerType(items, "Item")}]`
  if (type === "object" && naming && propertiesOf(schema).length > 0) return naming.declare(schema)
  return schemaTypes[String(type)] ?? "Any"
}

/** Returns the properties of an object schema as keyword parameters, the required ones first. */
export function schemaParameters(schema: JsonSchema, naming?: RecordNaming): string[] {
  const all = propertiesOf(schema)
  return [...all.filter(({ optional }) => !optional), ...all.filter(({ optional }) => optional)].map((each) =>
    schemaParameter(each.name, each.schema, each.optional, naming),
  )
}

/** Returns the properties of an object schema as members of a `TypedDict`, with their descriptions. */
export function schemaMembers(schema: JsonSchema, naming?: RecordNaming): string[] {
  return propertiesOf(schema).map(({ name, schema: own, optional }) => {
    const inner = naming?.inner(name)
    const type = optional && isRecord(own) ? definedType(own, 0, inner) : schemaPythonType(own, 0, inner)
    const comment = isRecord(own) && typeof own.description === "string" ? commentText(own.description, 500) : ""
    const member = `${memberName(name)}: ${optional ? `NotRequired[${type}]` : type}${comment}`
    return isName(name) ? member : `# ${member}`
  })
}

/** `at: datetime`, or `at: datetime = ...` for an optional argument. */
export function schemaParameter(name: string, schema: Json, optional = false, naming?: RecordNaming): string {
  const inner = naming?.inner(name)
  const isOptional = isRecord(schema) && acceptsUndefined(schema)
  const type = isOptional ? definedType(schema, 0, inner) : schemaPythonType(schema, 0, inner)
  if (!isName(name)) return `**{${memberName(name)}: ${type}}`
  return `${name}: ${type}${optional || isOptional ? " = ..." : ""}`
}

function isName(name: string): boolean {
  return /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)
}

/** The name as it is, or quoted if it is not valid in Python. */
function memberName(name: string): string {
  return isName(name) ? name : JSON.stringify(oneLine(name))
}

function propertiesOf({ properties, required }: JsonSchema): { name: string; schema: Json; optional: boolean }[] {
  if (!isRecord(properties)) return []
  const requiredNames = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, optional: !requiredNames.includes(name) }))
}

const schemaTypes: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict",
}

const pythonNames: Record<string, string> = {
  string: "str",
  number: "float",
  boolean: "bool",
  bigint: "int",
  void: "None",
  undefined: "None",
  null: "None",
  never: "None",
  object: "dict",
  Date: "datetime",
  Uint8Array: "bytes",
  Buffer: "bytes",
  ArrayBuffer: "bytes",
  Function: "Callable",
}

function pythonTypeOfText(text: string): string {
  const trimmed = text.trim()
  const parts = splitOutsideBrackets(trimmed, "|")
  if (parts.length > 1) return union(parts.map(pythonTypeOfText))
  if (splitOutsideBrackets(trimmed, "&").length > 1) return "dict"
  const word = pythonNames[trimmed] ?? literal(trimmed)
  if (word) return word
  if (trimmed.endsWith("[]")) return `list[${pythonTypeOfText(trimmed.slice(0, -2))}]`
  if (/^readonly\s/.test(trimmed)) return pythonTypeOfText(trimmed.slice(8))
  if (trimmed.startsWith("{")) return "dict"
  if (trimmed.startsWith("["))
    return `tuple[${splitOutsideBrackets(trimmed.slice(1, -1), ",").map(pythonTypeOfText).join(", ")}]`
  if (trimmed.startsWith("(")) return closesAtEnd(trimmed) ? pythonTypeOfText(trimmed.slice(1, -1)) : "Callable"
  const [, name = "", inner] = /^(\w+)(?:<(.*)>)?$/s.exec(trimmed) ?? []
  if (inner !== undefined) return generic(name, splitOutsideBrackets(inner, ",").map(pythonTypeOfText))
  if (/^(?:Float|Big|Int|Uint)\w*Array$/.test(name)) return "numpy.ndarray"
  return /^[A-Z]/.test(name) ? name : "Any"
}

function generic(name: string, [first = "Any", second = "Any"]: readonly string[]): string {
  if (/^(?:Promise|Readonly|Required|Awaited)$/.test(name)) return first
  if (/^(?:Array|ReadonlyArray|Iterable)$/.test(name)) return `list[${first}]`
  if (/^(?:Generator|Iterator|IterableIterator|IteratorObject)$/.test(name)) return `Iterator[${first}]`
  if (/^(?:Readonly)?Set$/.test(name)) return `set[${first}]`
  if (/^(?:Map|ReadonlyMap|Record)$/.test(name)) return `dict[${first}, ${second}]`
  if (/^(?:Partial|Pick|Omit)$/.test(name)) return "dict"
  return name === "AsyncGenerator" || name in globalThis ? "Any" : name
}

/** Splits a type at the separators that are not inside brackets or quotes. */
function splitOutsideBrackets(text: string, separator: string): string[] {
  const parts = [""]
  let depth = 0
  let quote = ""
  for (const [at, character] of [...text].entries()) {
    if (quote) quote = character === quote ? "" : quote
    else if (/["'`]/.test(character)) quote = character
    else if (/[<([{]/.test(character)) depth++
    else if (/[)\]}]/.test(character) || (character === ">" && text[at - 1] !== "=")) depth--
    if (character === separator && depth === 0 && !quote) parts.push("")
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part.trim() !== "")
}

function closesAtEnd(text: string): boolean {
  return splitOutsideBrackets(text.slice(1, -1), ")").length === 1 && text.endsWith(")")
}

function literal(text: string): string | undefined {
  if (/^(["'])[^"'\\]*\1$|^-?\d+(?:\.\d+)?$/.test(text)) return `Literal[${text}]`
  if (text === "true" || text === "false") return `Literal[${text === "true" ? "True" : "False"}]`
  return undefined
}

function pythonLiteral(value: Json): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  // Python's `Literal` allows no list or dict; a model understands them anyway.
  return typeof value === "object" ? inspect(value, { depth: maxDepth, breakLength: Infinity }) : JSON.stringify(value)
}

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)]
  if (distinct.includes("Any")) return "Any"
  const literals = distinct.filter((part) => part.startsWith("Literal["))
  const joined = literals.length > 0 ? [`Literal[${literals.map((part) => part.slice(8, -1)).join(", ")}]`] : []
  const rest = distinct.filter((part) => !part.startsWith("Literal[") && part !== "None")
  return [...joined, ...rest, ...(distinct.includes("None") ? ["None"] : [])].join(" | ")
}

function parameter({ name, type, optional, rest }: Parameter): string {
  const typeText = rest ? pythonType(type).replace(/^list\[(.*)\]$/, "$1") : pythonType(type)
  const typed = typeText === "Any" ? name : `${name}: ${typeText}`
  if (rest) return `*${typed}`
  return optional ? `${typed}${typeText === "Any" ? "=" : " = "}...` : typed
}

const maxDepth = 10
