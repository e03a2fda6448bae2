import { type CallCounts, noCalls } from "../../actions/run-limits.ts"
import type { ErrorData } from "../../core/errors.ts"
import type { Pending, StopReason } from "../../core/event.ts"
import { noUsage, type Usage } from "../../core/usage.ts"
import { initialMemory, type MemoryState } from "../../memory.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { InitialFingerprints } from "../outputs.ts"

/** The small head of a run: JSON from birth. What was said is in the log, so saving a step costs the same at any length. */
export interface RunState {
  version: 1
  /** Cycles done. */
  cycle: number
  usage: Usage
  /** Time spent working; waiting for a person does not count. */
  activeMs: number
  /** The last text the model wrote. */
  output: string
  /** How often an answer was sent back because declared outputs were not filled. */
  returns: number
  /** The declared outputs that still have the value from before the run. */
  oldOutputs?: InitialFingerprints
  /** The calls that were made. */
  calls: CallCounts
  /** What need not be asked about again. */
  approved: string[]
  memory: MemoryState
  /** The state that tools share, by key. */
  tools: StateValues
  /** Set once the run has come to an end. */
  end?: Ending
}

export type Ending =
  | { status: "done"; tool?: string; files?: string[]; handedTo?: string }
  | { status: "waiting"; pending: Pending; tool?: string }
  | { status: "stopped"; reason: StopReason; detail?: string }
  | { status: "aborted" }
  | { status: "failed"; error: ErrorData }

export function createRunState(
  approved: string[] = [],
  memory = initialMemory,
  tools: RunState["tools"] = {},
): RunState {
  return {
    version: 1,
    cycle: 0,
    usage: noUsage,
    activeMs: 0,
    output: "",
    returns: 0,
    calls: noCalls(),
    approved,
    memory,
    tools,
  }
}
