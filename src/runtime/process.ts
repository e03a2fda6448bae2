import type { Bindings } from "./bindings.ts"
import { startPeerProcess } from "./process/peer-process.ts"
import type { ProcessLimits } from "./process/process-limits.ts"
import { createProcessRuntime } from "./process/process-runtime.ts"
import type { Rule } from "./rules/rules.ts"
import type { TypedRuntime } from "./runtime.ts"
import type { Codecs } from "./snapshot/codec.ts"

export type { ProcessLimits } from "./process/process-limits.ts"

export interface ProcessRuntimeOptions {
  /** What cells must not do. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** The working directory of cells. Default: a temporary one, removed when the runtime is closed. */
  cwd?: string | undefined
  /** What confines the process: `process`, nothing but its being another one; `os`, bubblewrap: its own view of files,
   *  processes and network, or an error where that cannot be had; `auto`, `os` where it can be had, else `process` with a
   *  warning. Default `process`. */
  isolation?: "process" | "os" | "auto" | undefined
  /** With `os`: what it may read besides Node and Karst themselves. Default: nothing. */
  read?: readonly string[] | undefined
  /** With `os`: what it may write besides its working directory. Default: nothing. */
  write?: readonly string[] | undefined
  /** With `os`: whether it has a network. Default `none`. */
  network?: "none" | "all" | undefined
  limits?: ProcessLimits | undefined
  /** All there is in its environment. Default: nothing of the host's. */
  env?: Record<string, string | undefined> | undefined
  /** The largest names are left out of a snapshot that would have more bytes. Default 16 MiB. */
  maxSnapshotBytes?: number | undefined
  /** How the state of your instances, which stay on the host, goes into snapshots, by a name of your choice. Default: it is
   *  lost and reported. */
  codecs?: Codecs | undefined
  /** Told of each warning as it comes. */
  onWarning?: ((message: string) => void) | undefined
}

export interface ProcessRuntime<B extends Bindings> extends TypedRuntime<B> {
  /** What could not be as it was asked for. */
  readonly warnings: readonly string[]
}

/** Runs TypeScript in a process of its own, started at first use. Data crosses as a copy; functions, instances and
 *  whatever else has behaviour stay on the host and are used from there through live handles, each call by the gate. Whatever happens to the
 *  process, the host lives: the execution says so, and the next use starts another with all that was injected. */
export function processRuntime<B extends Bindings = Record<never, never>>(
  bindings?: B,
  options: ProcessRuntimeOptions = {},
): ProcessRuntime<B> {
  return createProcessRuntime(bindings, options, startPeerProcess)
}
