// What a run has used: cycles, tokens, cost and calls, from its head.
import type { RunState } from "../agent/run/run-state.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import type { RunHead } from "./checkpoint.ts"

/** JSON, because it is part of the stored head. */
export interface RunUsage {
  cycles: number
  /** The tokens and the cost, including those of child runs. */
  usage: Usage
  /** The calls of tools, functions and guarded methods. */
  calls: number
}

/** What a run has used until its last saved cycle, or until its end. */
export function usageOfRun({ used, state }: Pick<RunHead, "used" | "state">): RunUsage {
  return used ?? usageOfState(state)
}

export function usageOfState(state: RunState | undefined): RunUsage {
  return { cycles: state?.cycle ?? 0, usage: state?.usage ?? noUsage, calls: state?.calls.total ?? 0 }
}
