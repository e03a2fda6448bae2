import type { Agent } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json, JsonSchema } from "../core/json.ts"
import { findMember } from "../runtime/bindings/method-guards.ts"
import {
  type AnyFunction,
  type FunctionOptions,
  isAgent,
  isBinding,
  isClass,
  type SchemaLike,
} from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { isTuple, toJsonSchema, type Validation, validateMaybeSync } from "../runtime/schema.ts"
import { agentTool } from "../tools/delegate/agent-tool.ts"
import { isTool, type Tool, tool } from "../tools/tool.ts"
import type { ToolSources } from "./mcp-types.ts"
import { argumentsByName, type CallInput, ownMember, parametersOf } from "./signature-schema.ts"

/** How a method or function is called by a client. */
export type MethodOptions = Omit<FunctionOptions, "sync" | "source">

/** Methods of an object with state, as tools: each call works on the same object. A text is a description. With `input`, a schema of
 *  its single argument or of all as a tuple, calls are validated; without, arguments go by the names of the parameters. */
export function methods<T extends object>(
  object: T,
  declared: { readonly [K in keyof T & string]?: string | MethodOptions | undefined },
  { prefix }: { prefix?: string | undefined } = {},
): Tool[] {
  return Object.entries<string | MethodOptions | undefined>(declared).flatMap(([name, about]) => {
    if (about === undefined) return []
    const method: unknown = findMember(object, name)?.value
    if (typeof method !== "function" || isClass(method)) {
      throw new ConfigError(`methods(): the object has no method "${name}". Name one that it has.`)
    }
    const options = typeof about === "string" ? { description: about } : about
    return functionTool(prefix ? `${prefix}_${name}` : name, method as AnyFunction, options, object)
  })
}

/** Tools in every form, as tools. */
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
  // What has all of an agent's methods is one.
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

/** What a schema of the argument, or of all of them as a tuple, makes of the parameters. */
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
  const places = [schema.prefixItems ?? schema.items].flat().filter((place) => place !== undefined)
  const least = typeof schema.minItems === "number" ? schema.minItems : places.length
  const named = places.map((place, index) => [names[index] ?? `arg${index + 1}`, place] as const)
  const words = named.map(([name]) => name)
  return {
    names: words,
    schema: objectSchema(named, least),
    accept: (given) =>
      mapValidation(
        validateMaybeSync<unknown[]>(input, trimTrailingUndefined(argumentsByName(words)(given))),
        (values) => Object.fromEntries(words.map((name, index) => [name, values[index]])),
      ),
    toArguments: argumentsByName(words),
  }
}

function objectSchema(places: readonly (readonly [string, Json])[], least: number): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(places),
    required: places.slice(0, least).map(([name]) => name),
    additionalProperties: false,
  }
}

// An optional place at the end of a tuple is one that is not there.
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

// What the client is shown is what is checked first; then the author's own schema has the word.
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

// `Array.isArray` does not narrow a readonly array.
function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value)
}
