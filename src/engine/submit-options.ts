// Encodes the options of `submit` for the store and decodes them for the agent.
import { type Outputs, outputOptions } from "../agent/outputs.ts"
import type { Limits } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { toJsonSchema } from "../runtime/schema.ts"
import { decodeValue, encodeValue, type StoredValue } from "../sessions/value-codec.ts"
import { checkInitialState } from "../tools/tool-state.ts"

/** Options of `agent.run` that `submit` also takes: plain data, because another process may execute the run. */
export interface SubmittedRunOptions {
  /** Limits of this run, beside those of the agent. */
  limits?: Limits | undefined
  /** Variables that the run must fill. Their schemas are stored as JSON Schema, without the refinements and
   *  transformations of a schema library. */
  outputs?: Outputs | undefined
  /** Values for names of the runtime, set before the run begins: anything that `structuredClone` can copy. */
  values?: Readonly<Record<string, unknown>> | undefined
  /** Values for the `state` of tools, set before the run begins. */
  state?: Readonly<Record<string, Json>> | undefined
}

export interface StoredRunOptions {
  /** Limits whose `Infinity` is null, because JSON has no number for it. */
  limits?: Json
  outputs?: { [name: string]: Json }
  values?: { [name: string]: StoredValue }
  state?: { [key: string]: Json }
}

/** Returns undefined if no option is given. */
export function encodeRunOptions(options: SubmittedRunOptions): StoredRunOptions | undefined {
  const { limits, outputs, values, state } = options
  if (!limits && !outputs && !values && !state) return undefined
  checkInitialState(state, "state")
  return {
    ...(limits && { limits: JSON.parse(JSON.stringify(limits)) }),
    ...(outputs && { outputs: mapRecord(outputs, encodeOutput) }),
    ...(values && { values: mapRecord(values, encodeOrThrow) }),
    ...(state && { state: { ...state } }),
  }
}

export function decodeRunOptions({ limits, outputs, values, state }: StoredRunOptions) {
  return {
    ...(limits && { limits: JSON.parse(JSON.stringify(limits), (_name, limit) => limit ?? Infinity) as Limits }),
    // The stored schemas are JSON Schema.
    ...(outputs && { outputs: outputs as unknown as Outputs }),
    ...(values && { values: mapRecord(values, decodeValue) }),
    ...(state && { state }),
  }
}

function encodeOutput(output: Outputs[string]): Json {
  const { schema, stale } = outputOptions(output)
  const stored = toJsonSchema(schema) as Json
  return stale === undefined ? stored : { schema: stored, stale }
}

function encodeOrThrow(value: unknown, name: string): StoredValue {
  const stored = encodeValue(value)
  if (stored) return stored
  throw new ConfigError(
    `submit: values.${name} cannot be stored: it is or holds a function or an instance, or is nested too deeply. Give plain data.`,
  )
}

function mapRecord<T, R>(record: Readonly<Record<string, T>>, map: (value: T, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}
