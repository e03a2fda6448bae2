import type { Decision } from "../core/agent.ts"
import type { Emit } from "../core/event.ts"
import type { Call } from "../runtime/runtime.ts"
import { previewCall } from "./preview-call.ts"

/** Answers whether a call may be made: `true` and `allow` for this once, `always` for the rest of the conversation.
 *  Anything else is a no. */
export type Approver = (call: Call, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

/** Who answers, and what was answered for good. */
export interface Approvals {
  /** The answerer the agent was given. */
  approve?: Approver | undefined
  /** Bindings that need not be asked about again; grows with each `always`. */
  approved: string[]
  /** Waits for somebody who watches the run; undefined when nobody does. */
  watcher(id: string): Promise<Decision> | undefined
  /** Stops the clock while a person thinks. */
  paused<T>(work: () => Promise<T>): Promise<T>
}

/** Asks about a call that wants it, and throws what the cell sees when the answer is no. */
export async function requireApproval(call: Call, approvals: Approvals, emit: Emit): Promise<void> {
  const subject = call.method ? `${call.binding}.${call.method}` : call.binding
  if (!call.approve || approvals.approved.includes(subject)) return
  const decision = await approvals.paused(() => decide(call, approvals, emit))
  if (decision === "always") approvals.approved.push(subject)
  if (decision === "allow" || decision === "always") return
  const why = decision === "deny" ? "was not approved" : "needs approval and nobody is there to give it"
  throw new ApprovalDenied(`${subject} ${why}; it was not called.`)
}

/** What a cell sees when a call was refused. */
export class ApprovalDenied extends Error {
  override name = "ApprovalDenied"
}

async function decide(call: Call, approvals: Approvals, emit: Emit): Promise<Decision | undefined> {
  const { approve } = approvals
  const answer = approve ? undefined : approvals.watcher(call.id)
  if (!approve && !answer) return undefined
  const request = { id: call.id, call: previewCall(call) }
  emit({ type: "approval-requested", ...request, ...(approve && { answerer: "agent" }) })
  let decision: Decision = "deny"
  try {
    decision = toDecision(approve ? await approve(call, call.signal) : await answer)
    return decision
  } finally {
    emit({ type: "approval-resolved", id: call.id, decision })
  }
}

function toDecision(answer: unknown): Decision {
  if (answer === true || answer === "allow") return "allow"
  return answer === "always" ? "always" : "deny"
}
