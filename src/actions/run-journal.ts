import { findInherited, type RunContext } from "../core/run-context.ts"
import type { Model } from "../models/model.ts"
import type { CellOptions, RuntimeCall } from "../runtime/runtime.ts"
import type { SharedState } from "../tools/tool-state.ts"
import type { ApprovalServices } from "./approval.ts"

/** What a durable run remembers of the cycle under way, so that it can be run again after a crash: what was done is not done
 *  again, and takes the same path. Each run has its own; those of the runs that it starts are within it. */
export interface Journal {
  /** Answers a call by what was recorded of it, else makes it and records what it comes to. */
  call(call: RuntimeCall, steps: CallSteps): Promise<unknown>
  /** A model whose answers are recorded, and given again. */
  model(model: Model): Model
  /** The clock and the randomness of the next cell. */
  cellEnv(): CellOptions["env"]
  /** That of a run which a call of this one starts. */
  child(name: string, input: unknown): Journal
}

export interface CallSteps {
  /** Throws where the call may not be made. */
  approve(by?: DecisionSource): Promise<void>
  /** `decidingAgain`: by whom the call is decided whose arguments have changed since it was approved. */
  make(idempotencyKey: string, decidingAgain?: () => DecisionSource): Promise<unknown>
  /** The state of the tools: changes that a call makes are recorded with its outcome and made again with it. */
  state: Pick<SharedState, "recordChanges" | "applyChanges">
}

/** Who decides about a call, and what was decided before. */
export type DecisionSource = Partial<Pick<ApprovalServices, "watcher" | "decided" | "reason">>

declare module "../core/run-context.ts" {
  interface Inherited {
    journal?: Journal
  }
}

/** Makes the calls of a run, and of those it starts, pass its journal. */
export function setJournal(run: RunContext, journal: Journal): void {
  run.inherited.journal = journal
}

/** Whether a run above this one has a journal, which its calls then pass. */
export function hasJournaledParent({ parent }: RunContext): boolean {
  return findInherited(parent, "journal") !== undefined
}

/** The journal of a run: its own, or one within that of the run it was started by. */
export function ensureJournal(run: RunContext, input: unknown): Journal | undefined {
  const { inherited, parent, agent } = run
  const outer = findInherited(parent, "journal")
  if (outer) inherited.journal ??= outer.child(agent, input)
  return inherited.journal
}
