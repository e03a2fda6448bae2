import {
  checkOptions,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeOneOf,
  type OptionChecks,
} from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { copyIfJson, type Json, type JsonSchema } from "../core/json.ts"
import type { ImagePart, Message } from "../core/message.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import { callOptionChecks } from "../runtime/bindings/method-guards.ts"
import { asBinding, type CallOptions, type FunctionBinding, type SchemaLike } from "../runtime/bindings.ts"
import type { StandardSchema } from "../runtime/runtime.ts"
import { validateArguments } from "../runtime/schema/tool-arguments.ts"
import { toJsonSchema, type Validation } from "../runtime/schema.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import { cellFunction } from "./cell-tool.ts"
import { checkResultFields, InvalidResult } from "./check-tool-result.ts"

/** A named action with a JSON schema: what a model can ask for by a tool call, and a cell by a function call. */
export interface Tool {
  readonly [toolMark]: true
  /** What it is in a runtime: a function that passes the same gate. */
  [asBinding](): FunctionBinding
  readonly name: string
  readonly description: string
  /** What the model is shown of its input: always an object. */
  readonly input: JsonSchema
  readonly options: ToolOptions
  /** Validates an input, before approval and before any effect. */
  accept(input: unknown): Validation | Promise<Validation>
  /** Does it. Called with an input that `accept` gave. What it throws becomes a result the model sees. */
  run(input: unknown, context: ToolContext): unknown
}

export interface ToolOptions extends CallOptions {
  /** May run beside other parallel tools of the same answer. Default false: one after the other, in the model's order. */
  parallel?: boolean | undefined
  /** Whether it changes something outside. If not, a durable run does not record its calls unless `journal` is true.
   *  Default true. */
  sideEffect?: boolean | undefined
  /** What becomes of its old results when memory is cleared: cleared as any (`clear`), or kept (`keep`). Default `clear`. */
  retention?: "clear" | "keep" | undefined
  /** Characters of its result that the model sees; the rest is kept. Default: the agent's `maxOutputChars`. */
  maxChars?: number | undefined
  /** Does not count against `limits.calls`: what ends the work must be possible when nothing else is. Default false. */
  free?: boolean | undefined
}

/** What a tool works with. */
export interface ToolContext {
  /** The id of this call. */
  readonly call: string
  /** Fires when the run is aborted or the call is out of time. */
  readonly signal: AbortSignal
  /** The agent's files; a tool that needs them is only offered where there are some. */
  readonly workspace: Workspace
  /** JSON that the tools of a conversation share, by key. It is part of every checkpoint and of every archived cycle. */
  readonly state: ToolState
  /** The conversation, up to the answer that this call is part of; absent outside of a run. */
  messages?(): Message[]
  /** Tells how far it is: streamed to who watches, never to the model. */
  progress(text: string): void
}

export interface ToolState {
  /** The value, frozen: give `set` a changed copy to change it. */
  get(key: string): Json | undefined
  /** Stores a copy. Throws a `TypeError` for what is not JSON. */
  set(key: string, value: Json): void
}

/** What a tool may give beside a plain value, which is shown to the model as text or JSON. */
export interface ToolResult {
  readonly [resultMark]: true
  /** What the model sees. */
  readonly text: string
  readonly ok: boolean
  /** A stable word to branch on, where it is not ok. */
  readonly code?: string | undefined
  readonly images?: readonly ImagePart[] | undefined
  /** What a cell gets that calls the tool as a function. Default: the text. */
  readonly value?: unknown
  /** How the run goes on. Default: it continues. One of a failure, or of a call in a cell, changes nothing. */
  readonly directive?: Directive | undefined
}

/** What a tool's result may say about the run: it is finished, or waits for an answer. */
export type Directive =
  | { kind: "finish"; message: string; files?: string[] /** The agent whose message it is. */; handedTo?: string }
  | { kind: "ask"; question: string; options?: string[]; multiple?: boolean; custom?: boolean }
  | { kind: "continue" }

export interface ToolDefinition<I extends SchemaLike = JsonSchema> extends ToolOptions {
  name: string
  description: string
  /** zod, another Standard Schema that gives JSON Schema, or JSON Schema; of an object. Default: no input. */
  input?: I | undefined
  /** A schema of what it gives, for its declaration in a cell. */
  output?: SchemaLike | undefined
  run(input: InputOf<I>, context: ToolContext): unknown
}

const toolChecks: OptionChecks<ToolOptions> = {
  ...callOptionChecks,
  parallel: mustBeBoolean,
  sideEffect: mustBeBoolean,
  retention: mustBeOneOf("clear", "keep"),
  maxChars: mustBeAtLeast(0),
  free: mustBeBoolean,
}

/** The type a schema gives; plain JSON Schema says nothing to TypeScript. */
export type InputOf<I> = I extends StandardSchema<infer T> ? T : Record<string, unknown>

const toolMark: unique symbol = Symbol.for("karst.tool")
const resultMark: unique symbol = Symbol.for("karst.tool-result")

export function tool<I extends SchemaLike = JsonSchema>(definition: ToolDefinition<I>): Tool {
  const { name, description, input, output, run, ...options } = definition
  if (!/^[\p{ID_Start}_][\p{ID_Continue}-]{0,63}$/u.test(name)) {
    throw new ConfigError(`tool "${name}": a name is a word of at most 64 letters, digits, "_" and "-".`)
  }
  if (typeof run !== "function") throw new ConfigError(`tool "${name}": \`run\` is missing.`)
  checkOptions<ToolOptions>(`tool "${name}"`, options, toolChecks)
  const schema: SchemaLike = input ?? { type: "object", properties: {}, additionalProperties: false }
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
    // What `accept` gave is what the schema describes.
    run: (given, context) => run(given as InputOf<I>, context),
  }
  return made
}

const shownSchemas = new WeakMap<SchemaLike, JsonSchema>()

// Made once for each schema: tools may be made anew for every run.
function shownSchema(schema: SchemaLike): JsonSchema {
  const known = shownSchemas.get(schema)
  if (known) return known
  const { $schema: _, ...given } = toJsonSchema(schema)
  // A copy: hooks and models are given it, and the schema is the caller's.
  const shown = deepFreeze(copyIfJson(given) ?? given)
  shownSchemas.set(schema, shown)
  return shown
}

/** What a cell sees of a result that is a failure. */
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

/** A copy of a result that a tool or a hook returned. Throws `InvalidResult` where a field is wrong or unknown. */
export function checkToolResult(given: ToolResult, tool: string): ToolResult {
  try {
    return toolResult(checkResultFields(given))
  } catch (error) {
    if (!(error instanceof InvalidResult)) throw error
    const cure = 'Return a string, another value, or toolResult({ text: "…" }).'
    throw new InvalidResult(`The tool "${tool}" returned an invalid result: ${error.message}. ${cure}`)
  }
}

/** A result with more than a value: images, a failure with a code, a directive. */
export function toolResult(
  result: Omit<ToolResult, typeof resultMark | "ok"> & { ok?: boolean | undefined },
): ToolResult {
  return { [resultMark]: true, ...result, ok: result.ok ?? result.code === undefined }
}

/** A failure the model can act on. */
export function toolFailure(code: string, text: string): ToolResult {
  return toolResult({ text, code, ok: false })
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && toolMark in value
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && resultMark in value
}
