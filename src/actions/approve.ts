import { orAbort } from "../core/abort.ts"
import type { Decision } from "../core/agent.ts"
import { digest, identityOf } from "../core/digest.ts"
import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { Call } from "../runtime/runtime.ts"
import { callName, callSubject, fullCallText, previewCall } from "./preview-call.ts"

/** Answers whether a call may be made: `true` and `allow` for this once, `always` for the rest of the conversation.
 *  Anything else is a no. */
export type Approver = (call: Call, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

/** Who answers, and what was answered for good. */
export interface Approvals {
  /** The answerer the agent was given. */
  approve?: Approver | undefined
  /** The subjects of calls that are not asked about again (`binding`, `binding.method`); grows with each `always`. */
  approved: string[]
  /** Waits for somebody who watches the run; undefined when nobody does. `text`: the whole call, to be shown on request. */
  watcher(id: string, text: string): Promise<Decision> | undefined
  /** What was answered before, when this call was asked for the first time. */
  decided?: Decision | undefined
  /** What to tell with the question. */
  reason?: string | undefined
  /** Stops the clocks while a person thinks. */
  paused<T>(work: () => Promise<T>): Promise<T>
}

/** What a cell sees when a call was refused. */
export class ApprovalDenied extends Error {
  override name = "ApprovalDenied"
}

/** Resolves when a call may be made, and throws what the cell sees when it may not. Gives the digest of the arguments
 *  that were approved; undefined where any arguments are. */
export async function requireApproval(call: Call, approvals: Approvals, emit: Emit): Promise<string | undefined> {
  const subject = callSubject(call)
  if (!call.approve || approvals.approved.includes(subject)) return undefined
  // Before the binding is asked: it may be asked about other arguments than are there when it answers.
  let args = digestArguments(call)
  const question = await askable(call)
  if (!question) return args
  const shown = () => {
    args = digestArguments(call)
  }
  if (approvals.decided) shown()
  const decision = approvals.decided ?? (await approvals.paused(() => decide(call, question, approvals, emit, shown)))
  if (decision === "always" && !approvals.approved.includes(subject)) approvals.approved.push(subject)
  if (decision === "always") return undefined
  if (decision === "allow") return args
  const why = decision === "deny" ? "was not approved" : "needs approval and nobody is there to give it"
  throw new ApprovalDenied(`${callName(call)} ${why}; it was not called.`)
}

/** Makes a call whose arguments were approved. When they are no longer the same, it is asked about again by `again`.
 *  Nothing can change them between the last comparison and the call. */
export async function makeApproved<T>(
  call: Call,
  approved: string | undefined,
  again: (reason: string) => Promise<string | undefined>,
  make: () => Promise<T>,
): Promise<T> {
  let digest = approved
  for (let times = 1; digest !== undefined && digest !== digestArguments(call); times++) {
    if (times > mostChanges) throw new ApprovalDenied(`${callName(call)} was not called: ${changedTooOften}`)
    digest = await again("Its arguments have changed since they were approved.")
  }
  return make()
}

const mostChanges = 3
const changedTooOften =
  `its arguments changed ${mostChanges + 1} times while approval was asked for. ` +
  "Do not change them until the call is made."

/** What to say with a question. */
interface Question {
  reason?: string
}

/** Whether there is something to ask. Where that cannot be decided, there is. */
async function askable(call: Call): Promise<Question | undefined> {
  if (typeof call.approve !== "function") return {}
  try {
    return (await orAbort(call.approve(call), call.signal)) === false ? undefined : {}
  } catch (error) {
    if (call.signal.aborted) throw error
    return { reason: `Whether to ask could not be decided: ${errorData(error).message}` }
  }
}

function digestArguments(call: Call): string {
  const { text, isWhole } = digest(call.args, identityOf)
  if (isWhole) return text
  throw new ApprovalDenied(
    `${callName(call)} was not called: its arguments are too large for approval, because nobody could make sure that they ` +
      "stay what was approved. Pass at most 1,000,000 values and 64 MB, or an object that holds them.",
  )
}

async function decide(
  call: Call,
  question: Question,
  approvals: Approvals,
  emit: Emit,
  shown: () => void,
): Promise<Decision | undefined> {
  const { approve } = approvals
  shown()
  const watcher = approve ? undefined : approvals.watcher(call.id, fullCallText(call))
  if (!approve && !watcher) return undefined
  emit({
    type: "approval-requested",
    id: call.id,
    call: previewCall(call),
    ...(approvals.reason !== undefined && { reason: approvals.reason }),
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
