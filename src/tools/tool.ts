// The Tool contract, and `tool()`, which makes tools.
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { copyIfJson, type Json, type JsonSchema } from "../core/json.ts"
import type { ImagePart, Message } from "../core/message.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import { callOptionChecks } from "../runtime/bindings/method-guards.ts"
import { asBinding, type CallOptions, type FunctionBinding, type SchemaLike } from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { checkSchema } from "../runtime/schema/check-json-schema.ts"
import { validateArguments } from "../runtime/schema/tool-arguments.ts"
import { toJsonSchema, type Validation } from "../runtime/schema.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import { cellFunction } from "./cell-tool.ts"
import { checkResultFields, InvalidResult } from "./check-tool-result.ts"

/** A named action with a JSON schema. A model calls it by a tool call, a cell by a function call. */
export interface Tool {
  readonly [toolMark]: true
  /** The tool as a function binding of a runtime, which passes the same call gate. */
  [asBinding](): FunctionBinding
  readonly name: string
  readonly description: string
  /** The schema of the input that the model sees; always an object. */
  readonly input: JsonSchema
  readonly options: ToolOptions
  /** Validates an input, before approval and before any effect. */
  accept(input: unknown): Validation | Promise<Validation>
  /** Runs the tool with an input that `accept` returned. Errors it throws become results that the model sees. */
  run(input: unknown, context: ToolContext): unknown
}

export interface ToolOptions extends CallOptions {
  /** True: may run concurrently with other parallel tools of the same answer. Default false: one after another, in
   *  the model's order. */
  parallel?: boolean | undefined
  /** True if it changes something outside of the run. If false, a durable run does not journal its calls unless
   *  `journal` is true. Default true. */
  sideEffect?: boolean | undefined
  /** What happens to old results when memory is cleared: they are cleared or kept. Default `clear`. */
  retention?: "clear" | "keep" | undefined
  /** How many characters of the result the model sees; the rest is stored as an artifact. Default: the agent's
   *  `maxOutputChars`. */
  maxOutputChars?: number | undefined
  /** True: does not count against `limits.calls`. For tools that end the work, which must be possible at the limit.
   *  Default false. */
  ignoresCallLimit?: boolean | undefined
}

/** What a tool gets with each call. */
export interface ToolContext {
  readonly call: string
  /** Fires when the run is aborted or the call times out. */
  readonly signal: AbortSignal
  /** The agent's files. A tool that needs files is offered only if there are some. */
  readonly workspace: Workspace
  /** JSON values by key, shared by the tools of a conversation. Part of every checkpoint and archived cycle. */
  readonly state: ToolState
  /** The conversation up to the answer with this call; absent outside of a run. */
  messages?(): Message[]
  /** Reports progress to observers; the model does not see it. */
  progress(text: string): void
}

export interface ToolState {
  /** Returns the frozen value. To change it, pass a changed copy to `set`. */
  get(key: string): Json | undefined
  /** Stores a copy. Throws a `TypeError` if the value is not JSON. */
  set(key: string, value: Json): void
}

/** A result with more than a plain value. (A plain value is shown to the model as text or JSON.) */
export interface ToolResult {
  readonly [resultMark]: true
  /** The text that the model sees. */
  readonly text: string
  readonly ok: boolean
  /** A stable word for the kind of failure. */
  readonly code?: string | undefined
  readonly images?: readonly ImagePart[] | undefined
  /** What a cell gets that calls the tool as a function. Default: the text. */
  readonly value?: unknown
  /** How the run continues. Default: with the next cycle. Ignored in failures and in calls from cells. */
  readonly directive?: Directive | undefined
}

/** What a result can say about the run: it is finished, or waits for an answer. */
export type Directive =
  | { kind: "finish"; message: string; files?: string[] /** The agent whose message it is. */; handedTo?: string }
  | { kind: "ask"; question: string; options?: string[]; multiple?: boolean; custom?: boolean }
  | { kind: "continue" }

export interface ToolDefinition<I extends SchemaLike = JsonSchema> extends ToolOptions {
  /** A word of at most 64 letters, digits, `_` and `-`. */
  name: string
  /** What it does, for the model. */
  description: string
  /** A zod schema, another Standard Schema with JSON Schema, or JSON Schema, of an object. Default: no input. */
  input?: I | undefined
  /** The schema of the result, for its declaration in cells. */
  output?: SchemaLike | undefined
  /** Called with the validated input. Returns a text, another value or a `toolResult`. */
  run(input: InputOf<I>, context: ToolContext): unknown
}

export const toolChecks: check.OptionChecks<ToolOptions> = {
  ...callOptionChecks,
  parallel: check.mustBeBoolean,
  sideEffect: check.mustBeBoolean,
  retention: check.mustBeOneOf("clear", "keep"),
  maxOutputChars: check.mustBeLimit(0),
  ignoresCallLimit: check.mustBeBoolean,
}

/** The type that a schema describes. Plain JSON Schema has no TypeScript type. */
export type InputOf<I> = I extends StandardSchema<infer T> ? T : Record<string, unknown>

const toolMark: unique symbol = Symbol.for("karst.tool")
const resultMark: unique symbol = Symbol.for("karst.tool-result")

/** Makes a tool that the model calls and that cells call as a function. */
export function tool<I extends SchemaLike = JsonSchema>(definition: ToolDefinition<I>): Tool {
  const { name, description, input, output, run, ...options } = definition
  if (!/^[\p{ID_Start}_][\p{ID_Continue}-]{0,63}$/u.test(name)) {
    throw new ConfigError(`tool "${name}": a name is a word of at most 64 letters, digits, "_" and "-".`)
  }
  if (typeof run !== "function") throw new ConfigError(`tool "${name}": \`run\` is missing.`)
  check.checkOptions<ToolOptions>(`tool "${name}"`, options, toolChecks)
  const schema: SchemaLike = input ?? { type: "object", properties: {}, additionalProperties: false }
  checkSchema(schema, `tool "${name}": its input`)
  if (output !== undefined) checkSchema(output, `tool "${name}": its output`)
  const shown = shownSchema(schema)
  if (shown.type !== "object") {
    throw new ConfigError(`tool "${name}": its input must be an object. Wrap it: z.object({ value: … }).`)
  }
  let binding: FunctionBinding | undefined
  const made: Tool = {
    [toolMark]: true,
    [asBinding]() {
      binding ??= cellFunction(made, output, (given) => toCellValue(given, name))
      return binding
    },
    name,
    description,
    input: shown,
    options,
    accept: (given) => validateArguments(schema, shown, given),
    // `accept` returned this value, so the schema describes it.
    run: (given, context) => run(given as InputOf<I>, context),
  }
  return made
}

const shownSchemas = new WeakMap<SchemaLike, JsonSchema>()

// Cached per schema, because tools may be created anew for every run.
function shownSchema(schema: SchemaLike): JsonSchema {
  const known = shownSchemas.get(schema)
  if (known) return known
  const { $schema: _, ...given } = toJsonSchema(schema)
  // A copy, because hooks and models get it while the schema belongs to the caller.
  const shown = deepFreeze(copyIfJson(given) ?? given)
  shownSchemas.set(schema, shown)
  return shown
}

/** The error that a cell gets if a tool returns a failure. */
export class ToolFailed extends Error {
  override name = "ToolFailed"
  readonly code: string
  constructor(message: string, code = "tool-failed") {
    super(message)
    this.code = code
  }
}

function toCellValue(given: unknown, tool: string): unknown {
  if (!isToolResult(given)) return given
  const { ok, text, code, value } = checkToolResult(given, tool)
  if (!ok) throw new ToolFailed(text, code)
  return value === undefined ? text : value
}

/** Returns a copy of a result that a tool or hook returned. Throws `InvalidResult` if a field is wrong or unknown. */
export function checkToolResult(given: ToolResult, tool: string): ToolResult {
  try {
    return toolResult(checkResultFields(given))
  } catch (error) {
    if (!(error instanceof InvalidResult)) throw error
    const cure = 'Return a string, another value, or toolResult({ text: "…" }).'
    throw new InvalidResult(`The tool "${tool}" returned an invalid result: ${error.message}. ${cure}`)
  }
}

/** Makes a result with images, a code or a directive. Its fields are checked when the tool has returned it: the tool
 *  has done its work, so the model gets an error of that call. */
export function toolResult(
  result: Omit<ToolResult, typeof resultMark | "ok"> & { ok?: boolean | undefined },
): ToolResult {
  return { [resultMark]: true, ...result, ok: result.ok ?? result.code === undefined }
}

/** Makes a failure that the model can act on. */
export function toolFailure(code: string, text: string): ToolResult {
  return toolResult({ text, code, ok: false })
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && toolMark in value
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && resultMark in value
}
