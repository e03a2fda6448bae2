import type { CallOptions, UnknownPolicy } from "./bindings.ts"
import type { AskFirst } from "./runtime.ts"

/** The options of a call that two guards hold. Of each option the stricter one wins. */
export function mergeCallOptions(one: CallOptions, other: CallOptions): CallOptions {
  return withoutUndefined({
    approve: mergeApprove(one.approve, other.approve),
    maxCalls: lower(one.maxCalls, other.maxCalls),
    timeoutMs: lower(one.timeoutMs, other.timeoutMs),
    // A durable run repeats an idempotent call without asking, and one that is not journaled in any case.
    idempotent: one.idempotent && other.idempotent ? true : undefined,
    journal: one.journal === false && other.journal === false ? false : undefined,
    unknown: careOf(one.unknown) >= careOf(other.unknown) ? one.unknown : other.unknown,
  })
}

type Approve = CallOptions["approve"]

function mergeApprove(one: Approve, other: Approve): Approve {
  if (one === true || other === true) return true
  if (typeof one === "function" && typeof other === "function") return one === other ? one : eitherAsks(one, other)
  return typeof one === "function" ? one : (other ?? one)
}

/** Asks when one of the two asks. The second is not called when the first asks, or throws, which asks too. */
function eitherAsks(one: AskFirst, other: AskFirst): AskFirst {
  return async (call) => (await one(call)) !== false || (await other(call)) !== false
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}

/** How careful a policy is. Without one the engine's own holds, which is never less careful than `retry`. */
function careOf(policy: UnknownPolicy | undefined): number {
  return policy === undefined ? 1 : { retry: 0, ask: 2, fail: 3 }[policy]
}

function withoutUndefined(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
