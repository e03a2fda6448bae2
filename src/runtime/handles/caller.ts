import { AsyncLocalStorage } from "node:async_hooks"
import type { CallGate } from "../runtime.ts"

/** The cell on whose behalf the host does something. */
export interface Caller {
  /** Judges the calls of the cell; undefined lets every call through. */
  readonly gate: CallGate | undefined
  /** The binding or path by which a host object is known, the same in every process that runs the same program. */
  nameOf(value: object): string | undefined
  /** Fires when the cell is stopped. */
  readonly signal: AbortSignal
  /** Throws when the cell must not go on. */
  throwIfStopped(): void
  /** Runs host code on behalf of the cell, so that what the code calls is attributed to the cell. */
  runInContext<T>(work: () => T): T
  /** Makes the cell wait for a promise before it ends. */
  waitFor(work: Promise<unknown>): void
  /** Fails the cell; when it has already ended, the error is printed by the next cell. */
  fail(error: unknown): void
  /** Adds a sentence to the result of the cell; ignored when it has ended. */
  hint(text: string): void
}

/** The caller that the running host code works for, also after awaits. */
export const currentCaller = new AsyncLocalStorage<Caller>()
