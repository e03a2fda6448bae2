import type { Decision } from "../core/agent.ts"
import type { EventBody } from "../core/event.ts"
import type { Call } from "../runtime/runtime.ts"
import { previewCall } from "./preview-call.ts"

/** Answers whether a call may be made. `true` is `allow`, `false` is `deny`; `always` is remembered for the run. */
export type Approver = (call: Call, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

export interface ApprovalContext {
  /** The answerer the agent was given. */
  approve?: Approver | undefined
  /** Bindings that need not be asked about again; grows with each `always`. */
  approved: string[]
  emit(event: EventBody): void
  /** Waits for somebody who watches the run; undefined when nobody does. */
  watcher(id: string): Promise<Decision> | undefined
  /** Stops the clock while a person thinks. */
  paused<T>(work: () => Promise<T>): Promise<T>
}

/** Asks about a call that wants it, and throws what the cell sees when the answer is no. */
export async function requireApproval(call: Call, context: ApprovalContext): Promise<void> {
  const subject = call.method ? `${call.binding}.${call.method}` : call.binding
  if (!call.approve || context.approved.includes(subject)) return
  const decision = await context.paused(() => decide(call, context))
  if (decision === "always") context.approved.push(subject)
  if (decision === "deny") throw new ApprovalDenied(`${subject} was not approved; it was not called.`)
  if (decision === undefined) {
    throw new ApprovalDenied(`${subject} needs approval and nobody is there to give it; it was not called.`)
  }
}

/** What a cell sees when a call was refused. */
export class ApprovalDenied extends Error {
  override name = "ApprovalDenied"
}

async function decide(call: Call, context: ApprovalContext): Promise<Decision | undefined> {
  const request = { id: call.id, call: previewCall(call) }
  if (context.approve) {
    context.emit({ type: "approval-requested", ...request, answerer: "agent" })
    const answer = await context.approve(call, call.signal)
    const decision = answer === true ? "allow" : answer === false ? "deny" : answer
    context.emit({ type: "approval-resolved", id: call.id, decision })
    return decision
  }
  const answer = context.watcher(call.id)
  if (!answer) return undefined
  context.emit({ type: "approval-requested", ...request })
  const decision = await answer
  context.emit({ type: "approval-resolved", id: call.id, decision })
  return decision
}
