// Makes tools of functions, methods and agents.

import type { Agent } from "../core/agent.ts"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json, JsonSchema } from "../core/json.ts"
import { findMember } from "../runtime/bindings/method-guards.ts"
import type { AnyFunction, FunctionOptions, SchemaLike } from "../runtime/bindings.ts"
import { isAgent, isBinding, isClass } from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { isTuple, toJsonSchema, type Validation, validateMaybeSync } from "../runtime/schema.ts"
import { agentTool } from "../tools/delegate/agent-tool.ts"
import { isTool, type Tool, tool } from "../tools/tool.ts"
import type { ToolSources } from "./mcp-types.ts"
import { argumentsByName, type CallInput, ownMember, parametersOf } from "./signature-schema.ts"

/** Options of a method or function that clients call. */
export type MethodOptions = Omit<FunctionOptions, "sync" | "source">

/** Makes tools of an object's methods; all calls work on the same object. A string is a description. With `input`, a
 *  schema of the single argument or of all arguments as a tuple, calls are validated. Without it, arguments are
 *  passed by the names of the parameters. */
export function methods<T extends object>(
  object: T,
  declared: { readonly [K in keyof T & string]?: string | MethodOptions | undefined },
  options: { prefix?: string | undefined } = {},
): Tool[] {
  checkOptionNames("methods()", options, "prefix")
  const { prefix } = options
  return Object.entries<string | MethodOptions | undefined>(declared).flatMap(([name, about]) => {
    if (about === undefined) return []
    const method: unknown = findMember(object, name)?.value
    if (typeof method !== "function" || isClass(method)) {
      throw new ConfigError(`methods(): the object has no method "${name}". Name one that it has.`)
    }
    const described = typeof about === "string" ? { description: about } : about
    checkOptionNames<MethodOptions>("methods()", described, ...methodOptionNames)
    return functionTool(prefix ? `${prefix}_${name}` : name, method as AnyFunction, described, object)
  })
}

const methodOptionNames = [
  ...(["description", "signature", "input", "output"] as const),
  ...(["approve", "maxCalls", "timeoutMs", "idempotent", "unknown", "journal"] as const),
]

/** Converts tools in every form to tools. */
export function toTools(sources: ToolSources): Tool[] {
  const tools = isList(sources)
    ? sources.flatMap((each) => (isList(each) ? each : [toTool(each)]))
    : Object.entries(sources).map(([name, source]) => toTool(source, name))
  const names = new Set<string>()
  for (const { name } of tools) {
    if (names.has(name)) throw new ConfigError(`tools: there are two with the name "${name}". Rename one.`)
    names.add(name)
  }
  return tools
}

function toTool(source: unknown, name?: string): Tool {
  if (isTool(source)) return name === undefined || name === source.name ? source : { ...source, name }
  // An object with all methods of an agent is one.
  if (isAgent(source)) return agentTool(source as Agent, { name })
  if (isBinding(source) && source.kind === "function" && name !== undefined) {
    return functionTool(name, source.call, source.options)
  }
  if (typeof source === "function" && !isClass(source)) {
    return functionTool(name ?? source.name, source as AnyFunction, {})
  }
  const where = name === undefined ? "tools" : `tools.${name}`
  throw new ConfigError(
    `${where}: this is no tool. Give one made by tool({ … }), a function, fn(…), an agent, or methods(object, { … }).`,
  )
}

function functionTool(name: string, call: AnyFunction, options: MethodOptions, self?: object): Tool {
  const { description, signature, input, output, approve, maxCalls, timeoutMs, idempotent, unknown, journal } = options
  const parameters = parametersOf(call, signature, name)
  const taken = input === undefined ? parameters : declaredInput(input, parameters)
  return tool({
    name,
    description: description ?? `Calls ${name}(${parameters.names.join(", ")}).`,
    input: standardSchema(taken),
    output,
    approve,
    maxCalls,
    timeoutMs,
    idempotent,
    unknown,
    journal,
    run: (given) => call.apply(self, taken.toArguments(given)),
  })
}

/** Makes the input of a schema, which describes the single argument or all arguments as a tuple. */
function declaredInput(input: SchemaLike, { names }: CallInput): CallInput {
  const { $schema: _, ...schema } = toJsonSchema(input)
  if (schema.type === "object") {
    return {
      names: ["input"],
      schema,
      accept: (given) => validateMaybeSync(input, given),
      toArguments: (given) => [given],
    }
  }
  if (!isTuple(input)) {
    const [name = "value"] = names
    const accept = (given: unknown) =>
      mapValidation(validateMaybeSync(input, ownMember(given, name)), (value) => ({ [name]: value }))
    return { names: [name], schema: objectSchema([[name, schema]], 1), accept, toArguments: argumentsByName([name]) }
  }
  const elements = [schema.prefixItems ?? schema.items].flat().filter((element) => element !== undefined)
  const requiredCount = typeof schema.minItems === "number" ? schema.minItems : elements.length
  const named = elements.map((element, index) => [names[index] ?? `arg${index + 1}`, element] as const)
  const memberNames = named.map(([name]) => name)
  return {
    names: memberNames,
    schema: objectSchema(named, requiredCount),
    accept: (given) =>
      mapValidation(
        validateMaybeSync<unknown[]>(input, trimTrailingUndefined(argumentsByName(memberNames)(given))),
        (values) => Object.fromEntries(memberNames.map((name, index) => [name, values[index]])),
      ),
    toArguments: argumentsByName(memberNames),
  }
}

function objectSchema(elements: readonly (readonly [string, Json])[], requiredCount: number): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(elements),
    required: elements.slice(0, requiredCount).map(([name]) => name),
    additionalProperties: false,
  }
}

// A missing optional element at the end of a tuple must be absent, not undefined.
function trimTrailingUndefined(values: readonly unknown[]): unknown[] {
  return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1)
}

function mapValidation<T>(
  validation: Validation<T> | Promise<Validation<T>>,
  change: (value: T) => unknown,
): Validation | Promise<Validation> {
  if (validation instanceof Promise) return validation.then((settled) => mapValidation(settled, change))
  return validation.ok ? { ok: true, value: change(validation.value) } : validation
}

// Checks the schema that the client sees first, then the author's schema.
function standardSchema({ schema, accept }: CallInput): StandardSchema {
  const shown = () => schema
  return {
    "~standard": {
      version: 1,
      vendor: "karst",
      async validate(given) {
        const first = await validateMaybeSync(schema, given)
        const validation = first.ok && accept ? await accept(given) : first
        return validation.ok ? { value: validation.value } : { issues: [{ message: validation.message }] }
      },
      jsonSchema: { input: shown, output: shown },
    },
  }
}

// `Array.isArray` does not narrow readonly arrays.
function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value)
}
