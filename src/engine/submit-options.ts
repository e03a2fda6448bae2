import { type Outputs, outputOptions } from "../agent/outputs.ts"
import type { Limits } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { toJsonSchema } from "../runtime/schema.ts"
import { decodeValue, encodeValue, type StoredValue } from "../sessions/value-codec.ts"
import { checkInitialState } from "../tools/tool-state.ts"

/** Options of `agent.run` that `submit` takes too: plain data, because another process may work on the run. */
export interface SubmittedRunOptions {
  /** Limits of this run, beside those of the agent. */
  limits?: Limits | undefined
  /** Variables that the run must fill. Their schemas are stored as JSON Schema: refinements and transformations of a schema
   *  library do not count. */
  outputs?: Outputs | undefined
  /** New values for names of the runtime, before the run begins: what `structuredClone` can copy. */
  values?: Readonly<Record<string, unknown>> | undefined
  /** Values for the `state` of tools, set before the run begins. */
  state?: Readonly<Record<string, Json>> | undefined
}

export interface StoredRunOptions {
  limits?: Limits
  outputs?: { [name: string]: Json }
  values?: { [name: string]: StoredValue }
  state?: { [key: string]: Json }
}

/** The options as they are stored; undefined where there are none. */
export function encodeRunOptions(options: SubmittedRunOptions): StoredRunOptions | undefined {
  const { limits, outputs, values, state } = options
  if (!limits && !outputs && !values && !state) return undefined
  checkInitialState(state, "state")
  return {
    ...(limits && { limits }),
    ...(outputs && { outputs: mapRecord(outputs, encodeOutput) }),
    ...(values && { values: mapRecord(values, encodeOrThrow) }),
    ...(state && { state: { ...state } }),
  }
}

/** The options for the agent. */
export function decodeRunOptions({ limits, outputs, values, state }: StoredRunOptions) {
  return {
    ...(limits && { limits }),
    // Only JSON Schema is stored there.
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
    `submit: values.${name} cannot be stored: it is or holds a function or an instance. Give plain data.`,
  )
}

function mapRecord<T, R>(record: Readonly<Record<string, T>>, map: (value: T, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}
