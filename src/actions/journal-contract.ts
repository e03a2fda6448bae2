// The journal contract: recorded outcomes of a run's calls, so that a resumed or replayed run does not repeat them.
import { findInherited, type RunContext } from "../core/run-context.ts"
import type { Model } from "../models/model.ts"
import type { CellOptions, RuntimeCall } from "../runtime/runtime.ts"
import type { SharedState } from "../tools/tool-state.ts"
import type { ApprovalAnswer, ApprovalServices } from "./approval.ts"

/** The recorded outcomes of the current cycle. After a crash the cycle runs again, and recorded calls return their
 *  recorded outcome. Each run has its own journal; that of a child run is part of its parent's. */
export interface Journal {
  /** True if approval requests are answered by the engine, or with recorded answers. */
  readonly answersApprovals: boolean
  /** Returns the recorded outcome of a call, or makes the call and records its outcome. */
  call(call: RuntimeCall, steps: CallSteps): Promise<unknown>
  /** Wraps a model so that its answers are recorded, and replayed if recorded. */
  wrapModel(model: Model): Model
  /** Returns the clock and the random source of the next cell. */
  cellEnv(): CellOptions["env"]
  openChild(name: string, input: unknown): Journal
}

export interface CallSteps {
  /** Throws if the call may not be made. */
  approve(by?: DecisionSource): Promise<void>
  /** Asks the readers of the events whether the call may be made, whatever its binding says. */
  ask(by: DecisionSource): Promise<ApprovalAnswer>
  /** `decidingAgain` returns who decides if the arguments changed after the approval. */
  make(idempotencyKey: string, decidingAgain?: () => DecisionSource): Promise<unknown>
  /** The state of the tools. The changes that a call makes are recorded with its outcome and applied again with it. */
  state: Pick<SharedState, "recordChanges" | "applyChanges">
}

/** Who decides about a call, and the recorded answer if there is one. */
export type DecisionSource = Partial<
  Pick<ApprovalServices, "askReaders" | "claimRequestId" | "recordedAnswer" | "reason">
>

declare module "../core/run-context.ts" {
  interface Inherited {
    journal?: Journal
  }
}

/** Makes the calls of a run and of its child runs use the journal. */
export function setJournal(run: RunContext, journal: Journal): void {
  run.inherited.journal = journal
}

/** Returns true if a run above this one has a journal, which the calls of this run then use. */
export function hasJournaledParent({ parent }: RunContext): boolean {
  return findInherited(parent, "journal") !== undefined
}

/** Returns the journal of a run. If it has none, creates one inside the inherited journal. */
export function ensureJournal(run: RunContext, input: unknown): Journal | undefined {
  const { inherited, parent, agent } = run
  const outer = findInherited(parent, "journal")
  if (outer) inherited.journal ??= outer.openChild(agent, input)
  return inherited.journal
}
