import { createRunField, type RunContext } from "../core/run-context.ts"
import type { ApproverOption } from "./approval.ts"
import { type Hooks, nestHooks } from "./hooks.ts"
import type { CallBudget } from "./run-limits.ts"

/** What the calls of a run are held to. */
export interface CallPolicy {
  /** Answers the calls that ask for approval. */
  approver: ApproverOption | undefined
  approvalTimeoutMs: number | undefined
  hooks: readonly Hooks[]
  budgets: readonly CallBudget[]
}

const policies = createRunField<CallPolicy>()

/** A run's own policy, within that of the run it was started by: the other's approver answers where it has none, the
 *  other's hooks are around its own, and its calls count for both. */
export function setCallPolicy(run: RunContext, own: CallPolicy): CallPolicy {
  const outer = policies.findInherited(run.parent)
  const policy = outer ? nestPolicy(outer, own) : own
  policies.set(run, policy)
  if (own.approver === "events") run.readersApprove = true
  return policy
}

function nestPolicy(outer: CallPolicy, own: CallPolicy): CallPolicy {
  return {
    approver: own.approver ?? outer.approver,
    approvalTimeoutMs: own.approvalTimeoutMs ?? outer.approvalTimeoutMs,
    hooks: nestHooks(outer.hooks, own.hooks),
    // By its name a call is known in its own runtime only.
    budgets: [...own.budgets, ...outer.budgets.map(({ counts, calls }) => ({ counts, calls, callsOf: undefined }))],
  }
}
