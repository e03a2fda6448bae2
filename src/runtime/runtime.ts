import type { ActionError, NameChanges } from "../core/event.ts"
import type { ImagePart } from "../core/message.ts"
import type { Bindings, UnknownPolicy } from "./bindings.ts"
import type { CellEnv } from "./js/ambient/cell-env.ts"

/** Where live objects live: a persistent namespace that code is run in. One cell runs at a time, first come first
 *  served; a cell started from within a running cell is let in. Every method rejects once the runtime is closed. */
export interface Runtime extends AsyncDisposable {
  readonly language: "typescript" | "python"
  /** What keeps generated code from its host: nothing, a process, or the operating system. */
  readonly isolation: "none" | "process" | "os"
  /** What its owner should know, such as less isolation than was asked for; an agent's run tells each as a warning. */
  readonly warnings?: readonly string[] | undefined
  /** Puts things in, all or none. A name that exists, is reserved or is not an identifier is a `ConfigError`. */
  inject(bindings: Bindings): Promise<void>
  /** Runs a module file where cells run and puts in what it exports, all or none; gives the names. They are injected
   *  ones: bound again after a reset, and loaded again when the runtime had to be started again. A file that was loaded
   *  is not run a second time. */
  load?(file: string): Promise<string[]>
  /** Folders that cells may write in, as far as they are confined: no code is taken from there. */
  writable?(): readonly string[]
  /** Gives injected or cell-made names new values. The names must exist and keep their kind. */
  update(values: Record<string, unknown>): Promise<void>
  /** The current value of any name; an unknown one is a `ConfigError` listing what there is. A promise is refused:
   *  await it in a cell first. With a schema, the validated value. */
  retrieve(name: string, schema?: StandardSchema): Promise<unknown>
  /** Runs code in the namespace. Never rejects for what the program does: a throw, a violation or a time-out comes back
   *  as `{ ok: false }`. Rejects only if the runtime itself is gone. */
  execute(code: string, options?: CellOptions): Promise<CellExecution>
  /** Declarations for the prompt, of everything injected or of the given names: types and docs, never values. */
  describe(names?: readonly string[]): Promise<string>
  /** What is in the namespace, for people. */
  names(): Promise<RuntimeName[]>
  /** Binds a value under a fresh name `prefix_N` that this namespace never had, and gives the name. */
  keep(prefix: string, value: unknown): Promise<string>
  /** Everything that can be kept, to be put into another runtime of the same kind. Of what would have more than
   *  `maxBytes`, or than the runtime's own limit, the largest names are lost. */
  snapshot?(options?: SnapshotLimit): Promise<RuntimeSnapshot>
  /** Replaces the namespace by what a snapshot holds; injected names are bound again by what this runtime was given.
   *  Gives what could not be brought back. */
  restore?(snapshot: RuntimeSnapshot): Promise<RuntimeLoss[]>
  /** Another runtime with the same bindings and a copy of the namespace. */
  fork?(): Promise<Runtime>
  /** Empties the namespace and binds what was injected again. */
  reset(): Promise<void>
  /** Ends it. Twice is fine. */
  close(): Promise<void>
}

/** A runtime that knows the types of what was put in, and can be kept and copied. */
export interface TypedRuntime<B extends Bindings> extends Runtime {
  retrieve<K extends keyof B & string>(name: K): Promise<Retrieved<B[K]>>
  /** Validates with a Standard Schema and gives the validated type. */
  retrieve<T>(name: string, schema: StandardSchema<T>): Promise<T>
  retrieve(name: string): Promise<unknown>
  snapshot(options?: SnapshotLimit): Promise<RuntimeSnapshot>
  restore(snapshot: RuntimeSnapshot): Promise<RuntimeLoss[]>
  fork(): Promise<this>
}

export interface SnapshotLimit {
  maxBytes?: number | undefined
  /** The hash of an earlier snapshot of this runtime, or "" where there is none yet: the new one may then have only what has
   *  changed since, which its own `since` tells. Not every runtime does so. Default: the snapshot is whole. */
  since?: string | undefined
}

/** How large a snapshot may be, by the runtime's option and by who asks for it. */
export function snapshotBytes(own: number | undefined, { maxBytes: asked }: SnapshotLimit = {}): number {
  if (own === undefined) return asked ?? 2 ** 24
  return asked === undefined ? own : Math.min(own, asked)
}

/** An agent's runtime: one shared on purpose, or a factory that makes each run or session its own. */
export type RuntimeSource = Runtime | (() => Runtime | Promise<Runtime>)

export interface CellOptions {
  signal?: AbortSignal | undefined
  /** Wall time for the cell. Default: none. */
  timeoutMs?: number | undefined
  /** Tells when time stands still, such as while a person is asked: then `timeoutMs` does not count. Default: never. */
  pauses?: PauseSignal | undefined
  /** Sees output as it is printed. Must not throw. */
  output?: ((chunk: CellOutput) => void) | undefined
  /** Every call of a function binding passes here. Default: straight through. */
  call?: CallGate | undefined
  /** Identifies the conversation whose cell it is. The host may call a function that a cell left behind, outside of
   *  every cell: such a call is judged by the newest gate of the conversation, and refused when several have used
   *  the runtime. Default: all cells without one are of one conversation. */
  owner?: object | undefined
  /** Where the cell's time, randomness, network and modules come from. Default: the real ones. */
  env?: Partial<CellEnv> | undefined
  /** Leaves the namespace as it was when the cell throws, is refused, or `check` throws or gives false. Default
   *  false. */
  transaction?: boolean | { check(runtime: Runtime): unknown } | undefined
  /** Checks the cell against the declarations of what is in the namespace before it runs: `block` refuses a cell
   *  with a near-certain error and gives other findings as `hints`, `hint` gives all of them as hints. Default
   *  `off`. */
  typeGate?: TypeGateMode | undefined
}

export type TypeGateMode = "off" | "hint" | "block"

export interface CellOutput {
  stream: "stdout" | "stderr"
  text: string
}

/** Calls the listener whenever time stops or goes on, and at once where it stands; gives the way to stop listening. */
export type PauseSignal = (listener: (paused: boolean) => void) => () => void

/** Decides about one call and makes it by `next()`, which may be called at most once. What it throws, the cell sees. */
export type CallGate = (call: RuntimeCall, next: RuntimeMakeCall) => Promise<unknown>

/** Makes the call, with other arguments or another signal where they are given. */
export type RuntimeMakeCall = (change?: RuntimeCallChange) => Promise<unknown>

export interface RuntimeCallChange {
  args?: readonly unknown[]
  signal?: AbortSignal
  idempotencyKey?: string
}

export interface RuntimeCall {
  id: string
  /** The name of the binding that is called. */
  binding: string
  /** Set when a method of it is called. */
  method?: string | undefined
  /** Identifies the object and the method, where the method is guarded: an "always" is remembered by it. Two names
   *  of one object have the same one, and two objects of one name have different ones. Absent: the name of the call. */
  subject?: string | undefined
  args: readonly unknown[]
  /** The name of an object or function among the arguments, or inside of them, such as `accounts.b`: that of its
   *  binding, or the path from one. It is the same when the cell is run again in another process, and no other value
   *  has it. Undefined for a value that has none. Absent: no value has one. Nothing of the value is run. */
  nameOf?: ((value: object) => string | undefined) | undefined
  /** Whether to ask for approval before the call is made. */
  approve: boolean | ApprovalCondition
  /** How often one run may make it. */
  maxCalls?: number | undefined
  /** How long it may take, once it is made. */
  timeoutMs?: number | undefined
  /** Fires when the cell is aborted or out of time, or this call is. */
  signal: AbortSignal
  /** The same whenever this call of a durable run is made: hand it to a service that does nothing twice for one key. */
  idempotencyKey?: string | undefined
  /** As its binding says. */
  idempotent?: boolean | undefined
  unknown?: UnknownPolicy | undefined
  journal?: boolean | undefined
  /** Other arguments as the binding takes them: validated, where it has a schema. Throws a `TypeError`. */
  accept?: ((args: readonly unknown[]) => readonly unknown[] | Promise<readonly unknown[]>) | undefined
}

/** Whether this call needs approval. Where it throws, or gives anything but `false`, somebody is asked. */
export type ApprovalCondition = (call: RuntimeCall) => boolean | Promise<boolean>

export type CellExecution = CellExecuted | CellNotExecuted

interface ExecutionBase {
  stdout: string
  stderr: string
  /** Both streams in the order they were written. */
  output: string
  durationMs: number
  changes: NameChanges
  images?: ImagePart[] | undefined
  /** Sentences for the author of the cell: findings of the type gate that did not refuse it, copies that were
   *  changed and not written back, results of callbacks that host code did not await. */
  hints?: string[] | undefined
  /** The names that are gone because the runtime had to be started again, and why. */
  lost?: RuntimeLoss[] | undefined
}

export interface CellExecuted extends ExecutionBase {
  ok: true
  /** The trailing expression's value, by reference; undefined when there is none. */
  value: unknown
  /** The value as text the model can read; absent when there is no value to show. */
  preview?: string | undefined
  /** Whether the preview leaves something out. */
  cut?: boolean | undefined
  /** Undoes a transaction that succeeded, until the next cell begins; gives what could not be undone. */
  undo?: (() => Promise<RuntimeLoss[]>) | undefined
}

export interface CellNotExecuted extends ExecutionBase {
  ok: false
  error: ActionError & { stack?: string | undefined }
  /** What was thrown, by reference, where there is such a thing. */
  thrown?: unknown
  /** Set when a transaction was rolled back: what could not be. */
  notRolledBack?: RuntimeLoss[] | undefined
}

/** A name, or a place inside it, that could not be kept, brought back or undone. */
export interface RuntimeLoss {
  name: string
  /** Where inside the value, such as `.rows[3].socket`; absent for the whole. */
  path?: string | undefined
  reason: string
  /** The name is there all the same, as it was put in: only what cells may have done to it is gone. */
  asInjected?: boolean | undefined
  /** With `asInjected`: identifies the object in the process that took the snapshot. Where the same object is bound when
   *  the snapshot is restored, nothing is lost. */
  object?: string | undefined
}

/** What a runtime's namespace held, as bytes that are safe to load. */
export interface RuntimeSnapshot {
  version: 1
  language: Runtime["language"]
  data: Uint8Array
  /** Equal for equal contents, so that an unchanged namespace need not be stored again. */
  hash: string
  lost: RuntimeLoss[]
  /** Set where `data` has only what has changed since an earlier snapshot: the hash of that one. */
  since?: string | undefined
  /** A later snapshot since this one, to be restored with it. */
  changes?: Pick<RuntimeSnapshot, "data" | "hash" | "lost"> | undefined
}

export interface RuntimeName {
  name: string
  kind: "variable" | "function" | "type" | "agent"
  type: string
  /** Length, size or byte length, where the value has one. */
  size?: number | undefined
  injected: boolean
}

/** The parts of Standard Schema and Standard JSON Schema that are used (zod 4, valibot, arktype …). */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
    /** Not every library gives it. May throw for what JSON Schema cannot say. */
    readonly jsonSchema?: { readonly input: ToJsonSchema; readonly output: ToJsonSchema } | undefined
  }
}

type ToJsonSchema = (options: {
  readonly target: string
  readonly libraryOptions?: Record<string, unknown> | undefined
}) => Record<string, unknown>

export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

/** The type `retrieve` gives for a binding: what a wrapper wraps, and `unknown[]` for an array born empty. */
export type Retrieved<T> = T extends { readonly kind: "variable"; readonly value: infer V }
  ? WidenEmptyArray<V>
  : T extends { readonly kind: "function"; readonly call: infer F }
    ? F
    : T extends { readonly kind: "type"; readonly type: infer C }
      ? C
      : WidenEmptyArray<T>

type WidenEmptyArray<T> = T extends never[] ? unknown[] : T
