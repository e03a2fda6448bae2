import { orAbort } from "../core/abort.ts"
import type { Decision } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { Call } from "../runtime/runtime.ts"
import { callName, callSubject, previewCall } from "./preview-call.ts"

/** Answers whether a call may be made: `true` and `allow` for this once, `always` for the rest of the conversation.
 *  Anything else is a no. */
export type Approver = (call: Call, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

/** Who answers, and what was answered for good. */
export interface Approvals {
  /** The answerer the agent was given. */
  approve?: Approver | undefined
  /** The subjects of calls that are not asked about again (`binding`, `binding.method`); grows with each `always`. */
  approved: string[]
  /** Waits for somebody who watches the run; undefined when nobody does. */
  watcher(id: string): Promise<Decision> | undefined
  /** What was answered before, when this call was asked for the first time. */
  decided?: Decision | undefined
  /** Stops the clocks while a person thinks. */
  paused<T>(work: () => Promise<T>): Promise<T>
}

/** What a cell sees when a call was refused. */
export class ApprovalDenied extends Error {
  override name = "ApprovalDenied"
}

/** Asks about a call that wants it, and throws what the cell sees when the answer is no. */
export async function requireApproval(call: Call, approvals: Approvals, emit: Emit): Promise<void> {
  const subject = callSubject(call)
  if (!call.approve || approvals.approved.includes(subject)) return
  const question = await askable(call)
  if (!question) return
  const decision = approvals.decided ?? (await approvals.paused(() => decide(call, question, approvals, emit)))
  if (decision === "always" && !approvals.approved.includes(subject)) approvals.approved.push(subject)
  if (decision === "allow" || decision === "always") return
  const why = decision === "deny" ? "was not approved" : "needs approval and nobody is there to give it"
  throw new ApprovalDenied(`${callName(call)} ${why}; it was not called.`)
}

/** Whether there is something to ask, and what to say with it. Who cannot decide asks. */
async function askable(call: Call): Promise<{ reason?: string } | undefined> {
  if (typeof call.approve !== "function") return {}
  try {
    return (await orAbort(call.approve(call), call.signal)) === false ? undefined : {}
  } catch (error) {
    if (call.signal.aborted) throw error
    return { reason: `Whether to ask could not be decided: ${errorData(error).message}` }
  }
}

async function decide(
  call: Call,
  question: { reason?: string },
  approvals: Approvals,
  emit: Emit,
): Promise<Decision | undefined> {
  const { approve } = approvals
  const watcher = approve ? undefined : approvals.watcher(call.id)
  if (!approve && !watcher) return undefined
  emit({
    type: "approval-requested",
    id: call.id,
    call: previewCall(call),
    ...question,
    ...(approve && { answerer: "agent" }),
  })
  let decision: Decision = "deny"
  try {
    const answer = approve ? answered(call, approve) : watcher
    // Somebody may never answer, and need not once the cell is over.
    decision = toDecision(await orAbort(answer, call.signal))
    return decision
  } finally {
    emit({ type: "approval-resolved", id: call.id, decision })
  }
}

// An answerer that fails has not said yes.
async function answered(call: Call, approve: Approver): Promise<unknown> {
  try {
    return await approve(call, call.signal)
  } catch (cause) {
    const { message } = errorData(cause)
    throw new ApprovalDenied(`${callName(call)} was not called: asking for approval failed: ${message}`, { cause })
  }
}

function toDecision(answer: unknown): Decision {
  if (answer === true || answer === "allow") return "allow"
  return answer === "always" ? "always" : "deny"
}
