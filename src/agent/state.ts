import type { ErrorData } from "../core/errors.ts"
import type { Pending, StopReason } from "../core/event.ts"
import { noUsage, type Usage } from "../core/usage.ts"

/** The small head of a run: JSON from birth. What was said is in the log, so saving a step costs the same at any length. */
export interface State {
  version: 1
  /** Cycles done. */
  cycle: number
  usage: Usage
  /** Time spent working; waiting for a person does not count. */
  activeMs: number
  /** The last text the model wrote. */
  output: string
  /** What need not be asked about again. */
  approved: string[]
  /** Set once the run has come to an end. */
  end?: Ending
}

export type Ending =
  | { status: "done" }
  | { status: "waiting"; pending: Pending }
  | { status: "stopped"; reason: StopReason }
  | { status: "aborted" }
  | { status: "failed"; error: ErrorData }

export function initialState(approved: string[] = []): State {
  return { version: 1, cycle: 0, usage: noUsage, activeMs: 0, output: "", approved }
}
