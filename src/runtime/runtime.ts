// The runtime contract: a persistent namespace of live objects in which code is executed, and the types of its calls,
// executions and snapshots.
import { knownOptions, refuseOptions } from "../core/checks/check-options.ts"
import type { ActionError, NameChanges } from "../core/event.ts"
import type { ImagePart } from "../core/message.ts"
import type { Bindings, CallOptions } from "./bindings.ts"
import type { CellEnv } from "./js/ambient/cell-env.ts"
import type { Rule } from "./rules/rules.ts"
import type { RuntimeLoss } from "./runtime-loss.ts"

export type { RuntimeLoss } from "./runtime-loss.ts"

/** A persistent namespace of live objects in which code is executed. One cell runs at a time, first come, first served;
 *  a cell that is started from within a running cell does not wait. Every method rejects once the runtime is closed. */
export interface Runtime extends AsyncDisposable {
  readonly language: "typescript" | "python"
  /** What isolates generated code from the host: nothing, a process, or the operating system. */
  readonly isolation: "none" | "process" | "os"
  /** Warnings for the owner, such as less isolation than requested; an agent's run reports each of them. */
  readonly warnings?: readonly string[] | undefined
  /** What cells may use besides the names of the namespace; the system prompt states it. Absent: nothing is stated. */
  readonly access?: CellAccess | undefined
  /** Injects bindings, all or none. A name that exists, is reserved or is not an identifier is a `ConfigError`. */
  inject(bindings: Bindings): Promise<void>
  /** Runs a module file where cells run and injects its exports, all or none. Returns the names. They are bound again
   *  after a reset, and the file is loaded again after the runtime had to restart. A file is loaded only once. */
  load?(file: string): Promise<string[]>
  /** Folders that confined cells may write in; code is never loaded from there. */
  writableFolders?(): readonly string[]
  /** Sets injected or cell-made names to new values. The names must exist and keep their kind. */
  update(values: Record<string, unknown>): Promise<void>
  /** The current value of any name; an unknown one is a `ConfigError` that lists the names. A promise is refused: await
   *  it in a cell first. With a schema, returns the validated value. */
  retrieve(name: string, schema?: StandardSchema): Promise<unknown>
  /** Runs code in the namespace. Never rejects because of the code: a throw, a rule violation or a time-out is returned
   *  as `{ ok: false }`. Rejects only if the runtime itself is gone. */
  execute(code: string, options?: CellOptions): Promise<CellExecution>
  /** Declarations for the prompt, of everything injected or of the given names: types, docs and
   *  the shape of tables. Values only as a `sample` of `variable()`. */
  describe(names?: readonly string[]): Promise<string>
  /** The names in the namespace, for people. */
  names(): Promise<RuntimeName[]>
  /** Binds a value under a new name `prefix_N` that this namespace never had, and returns the name. */
  keep(prefix: string, value: unknown): Promise<string>
  /** Removes names that `keep` or `keepCutValue` made. Unknown names are ignored. */
  forget?(names: readonly string[]): Promise<void>
  /** Lets later snapshots know which injected values cells changed: the runtime computes a digest of each value before
   *  the next cell. Sessions and durable runs that are stored call this before their first cell. Without it, every
   *  injected value in a snapshot counts as changed. */
  trackInjected?(): Promise<void>
  /** A snapshot of everything that can be stored, to restore in another runtime of the same kind. If it would exceed
   *  `maxBytes` or the runtime's own limit, the largest names are lost. */
  snapshot?(options?: SnapshotLimit): Promise<RuntimeSnapshot>
  /** Replaces the namespace by a snapshot's contents; injected names are bound to this runtime's bindings. An injected
   *  value that no cell had changed is this runtime's own value; one that cells had changed is as stored. Returns what
   *  could not be restored, and the names whose data differs from the data injected before. */
  restore?(snapshot: RuntimeSnapshot): Promise<RuntimeLoss[]>
  /** Creates another runtime with the same bindings and a copy of the namespace. What cannot be copied is in its
   *  `notCopied`. */
  fork?(): Promise<Runtime>
  /** In a runtime that `fork` created: what it lacks of the runtime it was copied from. */
  readonly notCopied?: readonly RuntimeLoss[] | undefined
  /** Empties the namespace and binds what was injected again. */
  reset(): Promise<void>
  /** Closes the runtime. May be called twice. */
  close(): Promise<void>
}

export interface CellAccess {
  /** The rules that cells are checked against. */
  rules: readonly Rule[]
  /** Whether the isolation lets cells use the network. */
  network: boolean
  /** Whether cells can import installed packages. */
  packages: boolean
  /** Whether cells run in another process than the objects of the host. */
  remote: boolean
}

export interface SnapshotLimit {
  maxBytes?: number | undefined
  /** The hash of an earlier snapshot of this runtime, or "" if there is none yet. The new one may then contain only the
   *  changes since; its own `since` says so. Not every runtime supports this. Default: a full snapshot. */
  since?: string | undefined
}

/** The size limit of a snapshot: the smaller of the runtime's option and the caller's. */
export function snapshotBytes(own: number | undefined, limit: SnapshotLimit = {}): number {
  const { maxBytes: asked } = knownOptions("runtime.snapshot()", limit, { maxBytes: true, since: true })
  if (own === undefined) return asked ?? 2 ** 24
  return asked === undefined ? own : Math.min(own, asked)
}

export interface CellOptions {
  /** Stops the cell. */
  signal?: AbortSignal | undefined
  /** Wall time for the cell. Default: none. */
  timeoutMs?: number | undefined
  /** Reports when the time is paused, such as while a person is asked; paused time does not count towards `timeoutMs`.
   *  Default: never. */
  subscribeToPauses?: PauseSignal | undefined
  /** Called with output as it is printed. Must not throw. */
  onOutput?: ((chunk: CellOutput) => void) | undefined
  /** The call gate: every call of a function binding passes it. Default: calls are made directly. */
  callGate?: CallGate | undefined
  /** Identifies the conversation of the cell. The host may call a function that a cell left behind, outside of every
   *  cell. Such a call passes the newest gate of the conversation, and is refused if several conversations have used
   *  the runtime. Default: all cells without an owner belong to one conversation. */
  owner?: object | undefined
  /** Where the cell's time, randomness, network and modules come from. Default: the real ones. */
  env?: Partial<CellEnv> | undefined
  /** Rolls the namespace back if the cell throws or is refused, or if `check` throws or returns false. Default
   *  false. */
  transaction?: boolean | { check(runtime: Runtime): unknown } | undefined
  /** The type gate: checks the cell against the declarations of the namespace before it runs. `block` refuses a cell
   *  with a near-certain error and returns other findings as `hints`; `hint` returns all findings as hints. Default
   *  `off`. */
  typeGate?: TypeGateMode | undefined
  /** About how many characters the preview of the value may have. Default 5,000. */
  maxPreviewChars?: number | undefined
  /** If the preview leaves something out, binds the value itself under a new name `prefix_N` that is not in
   *  `reservedNames`. Default: it is not kept. */
  keepCutValue?: { prefix: string; reservedNames: readonly string[] } | undefined
  /** Lets the cell call `finish(text)`, which returns the text as `finishText`. `finish` is a reserved name either way.
   *  Default false: `finish` throws. */
  allowFinish?: boolean | undefined
}

/** Makes options that do not exist errors. Every runtime passes through this. */
export function checkingOptions<R extends Runtime>(runtime: R): R {
  const { inject, execute } = runtime
  runtime.inject = async (bindings, ...extra: unknown[]) => {
    refuseOptions("runtime.inject()", extra)
    return inject(bindings)
  }
  runtime.execute = async (code, options) => execute(code, knownOptions("runtime.execute()", options, cellOptionNames))
  return runtime
}

const cellOptionNames: Record<keyof CellOptions, true> = {
  signal: true,
  timeoutMs: true,
  subscribeToPauses: true,
  onOutput: true,
  callGate: true,
  owner: true,
  env: true,
  transaction: true,
  typeGate: true,
  keepCutValue: true,
  maxPreviewChars: true,
  allowFinish: true,
}

export type TypeGateMode = "off" | "hint" | "block"

export interface CellOutput {
  stream: "stdout" | "stderr"
  text: string
}

/** Calls the listener whenever time pauses or continues, and at once if it is paused. Returns a function that ends
 *  this. */
export type PauseSignal = (listener: (paused: boolean) => void) => () => void

/** Decides about one call and makes it by `next()`, which may be called at most once. The cell sees what the gate
 *  throws. */
export type CallGate = (call: RuntimeCall, next: RuntimeMakeCall) => Promise<unknown>

/** Makes the call, with other arguments or another signal if given. */
export type RuntimeMakeCall = (change?: RuntimeCallChange) => Promise<unknown>

export interface RuntimeCallChange {
  args?: readonly unknown[]
  signal?: AbortSignal
  idempotencyKey?: string
}

export interface RuntimeCall extends Omit<CallOptions, "approve"> {
  id: string
  /** The name of the binding that is called. */
  binding: string
  /** Set if a method of the binding is called. */
  method?: string | undefined
  /** Identifies object and method of a guarded method; an "always" approval is stored under it. Two names of one object
   *  share it; two objects of one name have different ones. Absent: the name of the call. */
  subject?: string | undefined
  args: readonly unknown[]
  /** The name of an object or function in the arguments, such as `accounts.b`: its binding, or the path from one. It is
   *  the same when the cell runs again in another process, and unique. Undefined for a value without a name. Absent: no
   *  value has one. Runs no code of the value. */
  nameOf?: ((value: object) => string | undefined) | undefined
  /** Whether to ask for approval before the call is made. */
  approve: boolean | ApprovalCondition
  /** Fires when the cell or this call is aborted or out of time. */
  signal: AbortSignal
  /** The same each time a durable run makes this call: pass it to a service that acts only once per key. */
  idempotencyKey?: string | undefined
  /** Converts other arguments for the binding: validates them if it has a schema. Throws a `TypeError`. */
  accept?: ((args: readonly unknown[]) => readonly unknown[] | Promise<readonly unknown[]>) | undefined
}

/** Whether this call needs approval. If it throws, or returns anything but `false`, approval is requested. */
export type ApprovalCondition = (call: RuntimeCall) => boolean | Promise<boolean>

export type CellExecution = CellExecuted | CellNotExecuted

interface ExecutionBase {
  stdout: string
  stderr: string
  /** Both streams in the order they were written. */
  output: string
  durationMs: number
  changes: NameChanges
  /** Short types of the created and reassigned names, for the model; of the first ones if there are many. */
  types?: Record<string, string> | undefined
  images?: ImagePart[] | undefined
  /** Hints for the author of the cell: findings of the type gate that did not refuse it, changed copies that were not
   *  written back, callback results that host code did not await. */
  hints?: string[] | undefined
  /** The names that were lost because the runtime had to restart, and why. */
  lost?: RuntimeLoss[] | undefined
}

export interface CellExecuted extends ExecutionBase {
  ok: true
  /** The trailing expression's value, by reference; undefined if there is none. */
  value: unknown
  /** The value as text for the model; absent if there is no value to show. */
  preview?: string | undefined
  /** Whether the cell ends with an expression whose value is undefined, or None. */
  endsInUndefined?: boolean | undefined
  /** Whether the preview leaves something out. */
  truncated?: boolean | undefined
  /** The name under which `keepCutValue` kept the value. */
  kept?: string | undefined
  /** The text that the cell passed to `finish`; not empty. */
  finishText?: string | undefined
  /** Undoes a transaction that succeeded, until the next cell begins. Returns what could not be undone. */
  undo?: (() => Promise<RuntimeLoss[]>) | undefined
}

export interface CellNotExecuted extends ExecutionBase {
  ok: false
  error: ActionError & { stack?: string | undefined }
  /** The thrown value, by reference, if there is one. */
  thrown?: unknown
  /** Set if a transaction was rolled back: the parts that could not be. */
  notRolledBack?: RuntimeLoss[] | undefined
}

/** The contents of a namespace, as bytes that are safe to load. */
export interface RuntimeSnapshot {
  version: 1
  language: Runtime["language"]
  data: Uint8Array
  /** Equal for equal contents, so that an unchanged namespace is not stored again. */
  hash: string
  lost: RuntimeLoss[]
  /** True to restore every injected value as stored, as a copy that leaves the program's own object as it is. */
  exact?: boolean | undefined
  /** Set if `data` has only the changes since an earlier snapshot: the hash of that one. */
  since?: string | undefined
  /** A later snapshot since this one, to be restored with it. */
  changes?: Pick<RuntimeSnapshot, "data" | "hash" | "lost"> | undefined
}

export interface RuntimeName {
  name: string
  kind: "variable" | "function" | "type" | "agent"
  type: string
  /** Length, size or byte length, if the value has one. */
  size?: number | undefined
  injected: boolean
}

/** The parts of Standard Schema and Standard JSON Schema that Karst uses (zod 4, valibot, arktype …). */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
    /** Not every library has it. May throw for a schema that JSON Schema cannot express. */
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
