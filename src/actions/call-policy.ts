// The limits and rules for the calls of a run, combined with those of the run that started it.
import { findInherited, type RunContext } from "../core/run-context.ts"
import type { ApproverOption } from "./approval.ts"
import { type Hooks, nestHooks } from "./hooks.ts"
import type { CallBudget } from "./run-limits.ts"

export interface CallPolicy {
  approver: ApproverOption | undefined
  approvalTimeoutMs: number | undefined
  hooks: readonly Hooks[]
  budgets: readonly CallBudget[]
}

declare module "../core/run-context.ts" {
  interface Inherited {
    callPolicy?: CallPolicy
  }
}

/** Combines a run's policy with the inherited one and stores the result for its child runs. The inherited approver
 *  answers if the run has none, inherited hooks run around its own, and calls count in both budgets. */
export function setCallPolicy(run: RunContext, own: CallPolicy): CallPolicy {
  const outer = findInherited(run.parent, "callPolicy")
  const policy = outer ? nestPolicy(outer, own) : own
  run.inherited.callPolicy = policy
  if (own.approver === "events") run.approvals.answeredByReaders = true
  return policy
}

function nestPolicy(outer: CallPolicy, own: CallPolicy): CallPolicy {
  return {
    approver: own.approver ?? outer.approver,
    approvalTimeoutMs: own.approvalTimeoutMs ?? outer.approvalTimeoutMs,
    hooks: nestHooks(outer.hooks, own.hooks),
    // Limits by name apply only to the runtime in which the name is bound.
    budgets: [...own.budgets, ...outer.budgets.map(({ counts, calls }) => ({ counts, calls, callsByName: undefined }))],
  }
}
