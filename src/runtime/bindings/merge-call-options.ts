// Merges the call options of two guards of one method.
import type { CallOptions, UnknownPolicy } from "../bindings.ts"
import type { ApprovalCondition } from "../runtime.ts"

/** Of each option the stricter value wins. */
export function mergeCallOptions(one: CallOptions, other: CallOptions): CallOptions {
  return withoutUndefined({
    approve: mergeApprove(one.approve, other.approve),
    maxCalls: smallerOf(one.maxCalls, other.maxCalls),
    timeoutMs: smallerOf(one.timeoutMs, other.timeoutMs),
    // A durable run repeats an idempotent call without asking, and always repeats one that is not journaled.
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

/** Requests approval if either function does. The second is not called if the first one does or throws; a throw also
 *  requests approval. */
function eitherAsks(one: ApprovalCondition, other: ApprovalCondition): ApprovalCondition {
  return async (call) => (await one(call)) !== false || (await other(call)) !== false
}

function smallerOf(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** Ranks policies by caution. Without a policy the engine's applies, which is never less cautious than `retry`. */
function policyStrictness(policy: UnknownPolicy | undefined): number {
  return policy === undefined ? 1 : { retry: 0, ask: 2, fail: 3 }[policy]
}

function withoutUndefined(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
