// The state of a run that is stored with every checkpoint.
import { type CallCounts, noCalls } from "../../actions/run-limits.ts"
import type { ErrorData } from "../../core/errors.ts"
import type { Pending, StopReason } from "../../core/event.ts"
import { noUsage, type Usage } from "../../core/usage.ts"
import { initialMemory, type MemoryState } from "../../memory.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { InitialFingerprints } from "../outputs.ts"

/** JSON only. Messages are in the events, so that saving a cycle costs the same at any length. */
export interface RunState {
  version: 1
  /** The number of completed cycles. */
  cycle: number
  usage: Usage
  /** Time spent working; waiting for a person does not count. */
  activeMs: number
  output: string
  /** How often the model was reminded of missing outputs. */
  returns: number
  /** The fingerprints of declared outputs that still have their value from before the run. */
  oldOutputs?: InitialFingerprints
  calls: CallCounts
  approved: string[]
  memory: MemoryState
  tools: StateValues
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
