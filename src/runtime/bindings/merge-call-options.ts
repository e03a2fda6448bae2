import type { CallOptions, UnknownPolicy } from "../bindings.ts"
import type { ApprovalCondition } from "../runtime.ts"

/** The options of a call that two guards hold. Of each option the stricter one wins. */
export function mergeCallOptions(one: CallOptions, other: CallOptions): CallOptions {
  return withoutUndefined({
    approve: mergeApprove(one.approve, other.approve),
    maxCalls: smallerOf(one.maxCalls, other.maxCalls),
    timeoutMs: smallerOf(one.timeoutMs, other.timeoutMs),
    // A durable run repeats an idempotent call without asking, and one that is not journaled in any case.
    idempotent: one.idempotent && other.idempotent ? true : undefined,
    journal: one.journal === false && other.journal === false ? false : undefined,
    unknown: policyStrictness(one.unknown) >= policyStrictness(other.unknown) ? one.unknown : other.unknown,
  })
}

type ApproveOption = CallOptions["approve"]

function mergeApprove(one: ApproveOption, other: ApproveOption): ApproveOption {
  if (one === true || other === true) return true
  if (typeof one === "function" && typeof other === "function") return one === other ? one : eitherAsks(one, other)
  return typeof one === "function" ? one : (other ?? one)
}

/** Asks when one of the two asks. The second is not called when the first asks, or throws, which asks too. */
function eitherAsks(one: ApprovalCondition, other: ApprovalCondition): ApprovalCondition {
  return async (call) => (await one(call)) !== false || (await other(call)) !== false
}

function smallerOf(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** How careful a policy is. Without one the engine's own holds, which is never less careful than `retry`. */
function policyStrictness(policy: UnknownPolicy | undefined): number {
  return policy === undefined ? 1 : { retry: 0, ask: 2, fail: 3 }[policy]
}

function withoutUndefined(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
