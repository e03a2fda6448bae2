// Declared outputs: variables that a run must assign before it may end, checked by their schemas.
import { types } from "node:util"
import type { RunResult } from "../core/agent.ts"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent, Status } from "../core/event.ts"
import { type PromptLanguage, textsIn } from "../core/prompt-texts.ts"
import { codeBlock, indentFurtherLines, oneLine, taggedText } from "../core/text/tagged-text.ts"
import { digest } from "../core/values/digest.ts"
import { nameProblem } from "../runtime/bindings/binding-names.ts"
import type { Bindings, SchemaLike } from "../runtime/bindings.ts"
import { finishName } from "../runtime/finish-text.ts"
import type { Runtime, StandardSchema } from "../runtime/runtime.ts"
import { checkSchema } from "../runtime/schema/check-json-schema.ts"
import { toJsonSchema, validate } from "../runtime/schema.ts"

/** Variables that a run must assign, each with the schema of its value. */
export type Outputs = Record<string, SchemaLike | OutputOptions>

export interface OutputOptions {
  schema: SchemaLike
  /** `allow`: a value from before the run counts. Default: the run must assign the variable or change its value. */
  stale?: "allow" | undefined
}

/** The types of declared outputs: from each schema, `unknown` for plain JSON Schema. */
export type ObjectsOf<O extends Outputs> = {
  [K in keyof O]: O[K] extends StandardSchema<infer T> | { schema: StandardSchema<infer T> } ? T : unknown
}

/** The values `V` of a runtime, and the declared outputs as cells assign them: before their schemas convert them. */
export type ValuesWith<V extends Bindings, O extends Outputs> = string extends keyof O
  ? V
  : Omit<V, keyof O> & { [K in keyof O]: InputOf<O[K]> }

type InputOf<S> = S extends TypedInput<infer I> | { schema: TypedInput<infer I> } ? I : unknown

interface TypedInput<I> {
  readonly "~standard": { readonly types?: { readonly input: I } | undefined }
}

/** The result of an agent made by createAgent: it always has the state of its tools and its todos. */
export type AgentResult = RunResult & Required<Pick<RunResult, "state" | "todos">>

/** A result with typed outputs: all of them if the run is done, otherwise those that were valid at its end. */
export type ResultWith<O extends Outputs> = string extends keyof O
  ? AgentResult
  : AgentResult &
      ({ status: "done"; objects: ObjectsOf<O> } | { status: Exclude<Status, "done">; objects: Partial<ObjectsOf<O>> })

export interface DeclaredOutputs {
  /** Takes the fingerprints of the values that exist before the run. */
  recordInitialValues(): Promise<InitialFingerprints>
  /** Continues with the fingerprints from the start of the run. If the run was done, its outputs are read again. */
  resume(old: InitialFingerprints | undefined, end: Status | undefined): Promise<void>
  /** Notes the names that a cell of the run assigned. */
  noteAssignments(event: AgentEvent): void
  /** The outputs that were valid at the last check. */
  readonly objects: Record<string, unknown>
  /** Checks the outputs and returns what is missing or wrong, one line each. */
  findProblems(): Promise<string[]>
  /** Checks the outputs of a run that ended early, and returns the valid ones. */
  collectAtEnd(status: Status): Promise<Record<string, unknown>>
}

/** The fingerprints of values from before the run, until it changes them. Part of the stored run state. */
export interface InitialFingerprints {
  [name: string]: string
}

/** How often the model is reminded of missing outputs before the run stops. */
export const maxOutputReminders = 3

/** Throws for names that no variable can have, and for an agent without variables. */
export function checkOutputs(outputs: Outputs | undefined, usesCode: boolean): void {
  if (outputs && !usesCode) {
    throw new ConfigError(
      "outputs: this agent has tools and no runtime, so it has no variables to fill. Give it one: runtime: () => jsRuntime().",
    )
  }
  for (const [name, given] of Object.entries(outputs ?? {})) {
    const problem = nameProblem(name, reservedNames)
    if (problem !== undefined)
      throw new ConfigError(`outputs: "${name}" cannot be the name of a variable: it ${problem}.`)
    const options = outputOptions(given)
    checkOptionNames(`outputs.${name}`, options, "schema", "stale")
    const { schema, stale } = options
    if (stale !== undefined && stale !== "allow")
      throw new ConfigError(`outputs.${name}.stale: ${JSON.stringify(stale)} is unknown. Use "allow", or leave it out.`)
    checkSchema(schema, `outputs.${name}`)
  }
}

const reservedNames: ReadonlySet<string> = new Set([finishName])

/** Returns the options of an output, which may be a schema only. JSON Schema has no keyword `schema`. */
export function outputOptions(output: SchemaLike | OutputOptions): OutputOptions {
  const hasOptions = typeof output === "object" && output !== null && "schema" in output && !("~standard" in output)
  return hasOptions ? (output as OutputOptions) : { schema: output as SchemaLike }
}

export function declaredOutputs(outputs: Outputs, runtime: Runtime, run: string): DeclaredOutputs {
  const declared = Object.entries(outputs).map(([name, output]) => ({ name, ...outputOptions(output) }))
  let objects: Record<string, unknown> = {}
  let old: InitialFingerprints = {}

  async function findProblems(): Promise<string[]> {
    objects = {}
    const known = new Set((await runtime.names()).map(({ name }) => name))
    const problems: string[] = []
    for (const { name, schema } of declared) {
      const problem = known.has(name) ? await problemOf(name, schema) : "is not assigned"
      if (problem) problems.push(`${name}: ${problem}`)
    }
    return problems
  }

  async function problemOf(name: string, schema: SchemaLike): Promise<string | undefined> {
    try {
      const value = await runtime.retrieve(name)
      if (old[name] !== undefined && old[name] === fingerprint(value)) return unchangedText
      delete old[name]
      const validation = await validate(schema, value)
      if (!validation.ok) return validation.message
      objects[name] = validation.value
      return undefined
    } catch (error) {
      return oneLine(error instanceof Error ? error.message : String(error))
    }
  }

  return {
    get objects() {
      return objects
    },
    async recordInitialValues() {
      const known = new Set((await runtime.names()).map(({ name }) => name))
      old = {}
      for (const { name, stale } of declared) {
        if (stale !== "allow" && known.has(name)) old[name] = await fingerprintVariable(runtime, name)
      }
      return old
    },
    async resume(before = {}, end) {
      old = before
      if (end === "done") await findProblems()
    },
    noteAssignments(event) {
      if (event.type !== "code-end" || event.run !== run) return
      const { created, reassigned, removed } = event.changes
      for (const name of [...created, ...reassigned, ...removed]) delete old[name]
    },
    findProblems,
    async collectAtEnd(status) {
      objects = {}
      // The runtime of a failed or aborted run may be gone.
      if (status === "stopped" || status === "waiting") await findProblems()
      return objects
    },
  }
}

const unchangedText = "has the value that it had before this run: assign it in this run, or change its fields"

// A value that cannot be read must be assigned again.
async function fingerprintVariable(runtime: Runtime, name: string): Promise<string> {
  try {
    return fingerprint(await runtime.retrieve(name))
  } catch {
    return ""
  }
}

/** The same in every process: functions count by their source, remote objects are ignored. */
function fingerprint(value: unknown): string {
  const { text } = digest(value, (opaque) => (types.isProxy(opaque) ? "" : sourceOf(opaque)), { instances: true })
  return text
}

function sourceOf(opaque: object | symbol): string {
  return typeof opaque === "function" ? Function.prototype.toString.call(opaque) : String(typeof opaque)
}

/** The message that asks the model to assign the outputs. */
export async function outputsPrompt(
  outputs: Outputs,
  { language }: Runtime,
  tag: string,
  promptLanguage?: PromptLanguage,
): Promise<string> {
  const declared = language === "python" ? pythonVariables(outputs) : await typescriptVariables(outputs)
  return `${textsIn(promptLanguage).assignOutputs}\n\n${codeBlock(tag, declared)}`
}

/** The message for a model that answers before the outputs are assigned. */
export function missingOutputsPrompt(problems: readonly string[], language?: PromptLanguage): string {
  const list = problems.map((problem) => `- ${indentFurtherLines(problem)}`).join("\n")
  return `${textsIn(language).outputsMissing}\n${taggedText("output", list)}`
}

async function typescriptVariables(outputs: Outputs): Promise<string> {
  const { declareOutputs } = await import("../runtime/declare/declare-outputs.ts")
  return declareOutputs(schemasOf(outputs))
}

function pythonVariables(outputs: Outputs): string {
  const lines = Object.entries(schemasOf(outputs)).map(([name, schema]) => {
    const { $schema: _dialect, ...shape } = toJsonSchema(schema, { unrepresentable: "any" })
    return `${name}  # JSON Schema: ${JSON.stringify(shape)}`
  })
  return lines.join("\n")
}

function schemasOf(outputs: Outputs): Record<string, SchemaLike> {
  return Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, outputOptions(output).schema]))
}
