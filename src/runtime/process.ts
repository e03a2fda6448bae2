// karst/process: runs TypeScript cells in a child process.
import type { Bindings } from "./bindings.ts"
import { startPeerProcess } from "./process/peer-process.ts"
import type { ProcessLimits } from "./process/process-limits.ts"
import { createProcessRuntime } from "./process/process-runtime.ts"
import type { Rule } from "./rules/rules.ts"
import type { Codecs } from "./snapshot/codec.ts"
import type { TypedRuntime } from "./typed-runtime.ts"

export type { ProcessLimits } from "./process/process-limits.ts"

export interface ProcessRuntimeOptions {
  /** Static checks of cells before they run. Default: no rules. */
  rules?: readonly Rule[] | undefined
  /** The working directory of cells. Default: a temporary one, removed when the runtime is closed. */
  cwd?: string | undefined
  /** How the child is confined. `process`: it is only a separate process. `os`: bubblewrap gives it its own view of
   *  files, processes and network; throws if that is not available. `auto`: `os` if available, or else `process` with a
   *  warning. Default `process`. */
  isolation?: "process" | "os" | "auto" | undefined
  /** With `os`: paths that cells may read besides Node and Karst. Default: none. */
  read?: readonly string[] | undefined
  /** With `os`: paths that cells may write besides the working directory. Default: none. */
  write?: readonly string[] | undefined
  /** With `os`: the network access of cells. Default `none`. */
  network?: "none" | "all" | undefined
  /** What cells may use. */
  limits?: ProcessLimits | undefined
  /** The environment variables of the child. It inherits none from the host. Default: none. */
  env?: Record<string, string | undefined> | undefined
  /** If a snapshot would be larger, its largest names are left out. Default 16 MiB. */
  maxSnapshotBytes?: number | undefined
  /** Codecs that store the state of host instances in snapshots, by a name of your choice. Without one, the state is
   *  lost and reported. */
  codecs?: Codecs | undefined
  /** Called with each warning. */
  onWarning?: ((message: string) => void) | undefined
}

export interface ProcessRuntime<B extends Bindings> extends TypedRuntime<B> {
  /** Warnings about options that could not be fulfilled, such as a weaker isolation. */
  readonly warnings: readonly string[]
}

/** Runs TypeScript in a child process, which is started at first use. Data is copied. Functions, instances and other
 *  objects with behaviour stay on the host; cells use them through live handles, and each call passes the call gate. If
 *  the child ends, the host survives: the execution reports it, and the next use starts another child with the same
 *  bindings. */
export function processRuntime<B extends Bindings = Bindings>(
  bindings?: B,
  options: ProcessRuntimeOptions = {},
): ProcessRuntime<B> {
  return createProcessRuntime(bindings, options, startPeerProcess)
}
