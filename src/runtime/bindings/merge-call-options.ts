// Merges the call options of two guards of one method.
import { withoutUndefined } from "../../core/object.ts"
import type { CallOptions, UnknownPolicy } from "../bindings.ts"
import type { ApprovalCondition } from "../runtime.ts"

/** Of each option the stricter value wins. */
export function mergeCallOptions(first: CallOptions, second: CallOptions): CallOptions {
  return withoutUndefined({
    approve: mergeApprove(first.approve, second.approve),
    maxCalls: smallerOf(first.maxCalls, second.maxCalls),
    timeoutMs: smallerOf(first.timeoutMs, second.timeoutMs),
    // A durable run repeats an idempotent call without asking, and always repeats one that is not journaled.
    idempotent: first.idempotent && second.idempotent ? true : undefined,
    journal: first.journal === false && second.journal === false ? false : undefined,
    unknown: policyStrictness(first.unknown) >= policyStrictness(second.unknown) ? first.unknown : second.unknown,
  })
}

type ApproveOption = CallOptions["approve"]

function mergeApprove(first: ApproveOption, second: ApproveOption): ApproveOption {
  if (first === true || second === true) return true
  if (typeof first === "function" && typeof second === "function")
    return first === second ? first : eitherAsks(first, second)
  return typeof first === "function" ? first : (second ?? first)
}

/** Requests approval if either function does. The second is not called if the first one does or throws; a throw also
 *  requests approval. */
function eitherAsks(first: ApprovalCondition, second: ApprovalCondition): ApprovalCondition {
  return async (call) => (await first(call)) !== false || (await second(call)) !== false
}

function smallerOf(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return Math.min(first, second)
}

/** Ranks policies by caution. Without a policy the engine's applies, which is never less cautious than `retry`. */
function policyStrictness(policy: UnknownPolicy | undefined): number {
  return policy === undefined ? 1 : { retry: 0, ask: 2, fail: 3 }[policy]
}
