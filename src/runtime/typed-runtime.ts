// Runtimes whose names are known to the compiler, and the factories that create a runtime for each run or session.
import type { Metadata } from "../core/event.ts"
import type { Bindings } from "./bindings.ts"
import type { Runtime, RuntimeLoss, RuntimeSnapshot, SnapshotLimit, StandardSchema } from "./runtime.ts"

/** A runtime with the values `V` under known names. `Bindings` means that no name is known: every name is then allowed,
 *  and its value is `unknown`. */
export interface RuntimeOf<out V extends Bindings> extends Runtime {
  /** For the compiler only; never set. */
  readonly types?: V | undefined
  /** The current value of a known name. For a name that a cell made, give a schema as well, or declare it as an output
   *  of the run. */
  retrieve<K extends keyof V & string>(name: K): Promise<V[K]>
  /** The current value of any name, validated by a Standard Schema. */
  retrieve<T>(name: string, schema: StandardSchema<T>): Promise<T>
}

/** A runtime that knows the types of its bindings and supports snapshots. */
export interface TypedRuntime<B extends Bindings> extends RuntimeOf<ValuesOf<B>> {
  snapshot(options?: SnapshotLimit): Promise<RuntimeSnapshot>
  restore(snapshot: RuntimeSnapshot): Promise<RuntimeLoss[]>
  fork(): Promise<this>
}

/** The values of bindings by name: what `variable`, `fn` and `classType` wrap. Without bindings no name is known. */
export type ValuesOf<B extends Bindings> = [keyof B] extends [never] ? Bindings : { [K in keyof B]: Retrieved<B[K]> }

type Retrieved<T> = T extends { readonly kind: "variable"; readonly value: infer V }
  ? WidenEmptyArray<V>
  : T extends { readonly kind: "function"; readonly call: infer F }
    ? F
    : T extends { readonly kind: "type"; readonly type: infer C }
      ? C
      : WidenEmptyArray<T>

type WidenEmptyArray<T> = T extends never[] ? unknown[] : T

/** An agent's runtime: a shared one, or a factory that creates one for each run or session. */
export type RuntimeSource<V extends Bindings = Bindings> = RuntimeOf<V> | RuntimeFactory<V>

/** Creates the runtime of a run or session. The run or session closes it. */
export type RuntimeFactory<V extends Bindings = Bindings> = (
  context: RuntimeContext,
) => RuntimeOf<V> | Promise<RuntimeOf<V>>

/** The run or session that a runtime is created for. */
export interface RuntimeContext {
  /** The id of the session; undefined for a run outside of sessions. */
  readonly session: string | undefined
  /** The metadata of the run, or of the session if the runtime is for a session. */
  readonly metadata: Metadata
  /** Fires when the run is aborted or, for a session, when the `signal` of its options fires. */
  readonly signal: AbortSignal
}
