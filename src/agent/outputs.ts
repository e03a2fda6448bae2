import type { RunResult } from "../core/agent.ts"
import { ConfigError, thrownText } from "../core/errors.ts"
import type { Status } from "../core/event.ts"
import { codeBlock, indented, taggedText } from "../core/tagged-text.ts"
import type { SchemaLike } from "../runtime/bindings.ts"
import { nameProblem } from "../runtime/names.ts"
import type { Runtime, StandardSchema } from "../runtime/runtime.ts"
import { toJsonSchema, validate } from "../runtime/schema.ts"

/** Variables that a run must fill, each with the schema of its value. */
export type Outputs = Record<string, SchemaLike>

/** What declared outputs come to: the type each schema gives, `unknown` for plain JSON Schema. */
export type ObjectsOf<O extends Outputs> = {
  [K in keyof O]: O[K] extends StandardSchema<infer T> ? T : unknown
}

/** The result of an agent of ours: it always has the state of its tools and its todos. */
export type AgentResult = RunResult & Required<Pick<RunResult, "state" | "todos">>

/** A result whose declared outputs are typed: all of them when the run is done, else those that were valid at its end. */
export type ResultWith<O extends Outputs> = string extends keyof O
  ? AgentResult
  : AgentResult &
      ({ status: "done"; objects: ObjectsOf<O> } | { status: Exclude<Status, "done">; objects: Partial<ObjectsOf<O>> })

/** The declared outputs of one run. */
export interface DeclaredOutputs {
  /** Those that were valid when last looked at. */
  readonly objects: Record<string, unknown>
  /** Looks: what is missing or wrong, one line each. */
  unfilled(): Promise<string[]>
  /** Looks once more for a run that ended before its time. */
  lastly(status: Status): Promise<Record<string, unknown>>
}

/** How often a run that ends without its outputs is sent back, before it stops. */
export const maxReturns = 3

/** Refuses names that no variable can have, and an agent that can fill none. */
export function checkOutputs(outputs: Outputs | undefined, usesCode: boolean): void {
  if (outputs && !usesCode) {
    throw new ConfigError(
      "outputs: this agent has tools and no runtime, so it has no variables to fill. Give it one: runtime: () => jsRuntime().",
    )
  }
  for (const [name, schema] of Object.entries(outputs ?? {})) {
    const problem = nameProblem(name, noNames)
    if (problem !== undefined)
      throw new ConfigError(`outputs: "${name}" cannot be the name of a variable: it ${problem}.`)
    if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) {
      throw new ConfigError(`outputs.${name}: this is not a schema. Use zod, another Standard Schema, or JSON Schema.`)
    }
  }
}

const noNames: ReadonlySet<string> = new Set()

export function declaredOutputs(outputs: Outputs, runtime: Runtime): DeclaredOutputs {
  let objects: Record<string, unknown> = {}

  async function unfilled(): Promise<string[]> {
    objects = {}
    const known = new Set((await runtime.names()).map(({ name }) => name))
    const problems: string[] = []
    for (const [name, schema] of Object.entries(outputs)) {
      const problem = known.has(name) ? await readOutput(name, schema, runtime, objects) : "is not assigned"
      if (problem) problems.push(`${name}: ${problem}`)
    }
    return problems
  }

  return {
    get objects() {
      return objects
    },
    unfilled,
    async lastly(status) {
      objects = {}
      // A run that failed or was aborted may have no runtime to ask any more.
      if (status === "stopped" || status === "waiting") await unfilled()
      return objects
    },
  }
}

async function readOutput(
  name: string,
  schema: SchemaLike,
  runtime: Runtime,
  objects: Record<string, unknown>,
): Promise<string | undefined> {
  let value: unknown
  try {
    value = await runtime.retrieve(name)
  } catch (error) {
    return error instanceof Error ? error.message : thrownText(error)
  }
  const validation = await validate(schema, value)
  if (!validation.ok) return validation.message
  objects[name] = validation.value
  return undefined
}

/** What the model is told to fill. */
export async function outputsAsked(outputs: Outputs, { language }: Runtime, tag: string): Promise<string> {
  const declared = language === "python" ? pythonVariables(outputs) : await typescriptVariables(outputs)
  return `Before you give your answer, assign these variables, at the top level of a cell. They are checked and handed over; your answer need not repeat them.\n\n${codeBlock(tag, declared)}`
}

/** What the model is told when it answers too early. */
export function outputsMissing(problems: readonly string[]): string {
  const list = problems.map((problem) => `- ${indented(problem)}`).join("\n")
  return `(You are not done: not all declared variables are assigned and valid. Mend this in a cell, then give your answer.)\n${taggedText("output", list)}`
}

async function typescriptVariables(outputs: Outputs): Promise<string> {
  const { declareVariables } = await import("../runtime/declare/variables.ts")
  return declareVariables(outputs)
}

function pythonVariables(outputs: Outputs): string {
  const lines = Object.entries(outputs).map(([name, schema]) => {
    const { $schema: _dialect, ...shape } = toJsonSchema(schema, { unrepresentable: "any" })
    return `${name}  # JSON Schema: ${JSON.stringify(shape)}`
  })
  return lines.join("\n")
}
