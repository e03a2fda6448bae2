// The cell for which host code runs: its call gate, its abort signal and its asynchronous context.
import { AsyncLocalStorage } from "node:async_hooks"
import type { CallGate } from "../runtime.ts"

export interface Caller {
  /** The call gate of the cell. If undefined, every call is allowed. */
  readonly gate: CallGate | undefined
  /** Returns the binding or path of a host object. It is the same in every process that runs the same program. */
  nameOf(value: object): string | undefined
  /** Aborted when the cell is stopped. */
  readonly signal: AbortSignal
  /** Throws if the cell was stopped. */
  throwIfStopped(): void
  /** Runs host code in the cell's asynchronous context, so that its calls are attributed to the cell. */
  runInContext<T>(work: () => T): T
  /** Makes the cell wait for a promise before it ends. */
  waitFor(work: Promise<unknown>): void
  /** Fails the cell. If the cell has already ended, the next cell prints the error. */
  fail(error: unknown): void
  /** Adds a hint to the result of the cell. Ignored if the cell has ended. */
  hint(text: string): void
}

/** The caller of the host code that is running, also after awaits. */
export const currentCaller = new AsyncLocalStorage<Caller>()
