import { rejectOnAbort } from "../core/abort.ts"
import type { Decision } from "../core/agent.ts"
import { ConfigError, errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { RunControl } from "../core/run.ts"
import { digest, identityOf } from "../core/values/digest.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"
import { callName, callSubject, fullCallText, previewCall } from "./preview-call.ts"

/** Answers whether a call may be made: `true` and `allow` for this once, `always` for the rest of the conversation.
 *  Anything else is a no. */
export type Approver = (call: RuntimeCall, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

/** Answers by a function, or by `run.approve(id, decision)`, which readers of the events call. */
export type ApproverOption = Approver | "events"

/** Checks the approver that an agent was given. */
export function checkApprover(approver: ApproverOption | undefined): ApproverOption | undefined {
  const given: unknown = approver
  if (given === undefined || given === "events" || typeof given === "function") return approver
  throw new ConfigError(
    `approver: ${JSON.stringify(given)} is unknown. Give a function, or "events" for run.approve().`,
  )
}

/** How a question ended: by a decision, or because no answer came in time. */
export type ApprovalAnswer = Decision | "unanswered"

/** Who answers, and what was answered for good. */
export interface ApprovalServices {
  /** The approver of the agent. */
  approver?: ApproverOption | undefined
  /** How long a question may stay unanswered; then the call is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** The subjects of calls that are not asked about again (`binding`, `binding.method`); grows with each `always`. */
  approved: string[]
  /** Waits for the answer from outside of the agent, at most `timeoutMs`; undefined where the run has no approver. `text`: the
   *  whole call, to be shown on request. */
  watcher(id: string, text: string, timeoutMs: number | undefined): Promise<ApprovalAnswer> | undefined
  /** The id to ask by about a call. Default: that of the call. */
  questionId?: ((callId: string) => string) | undefined
  /** What was answered before, when this call was asked for the first time. */
  decided?: ApprovalAnswer | undefined
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
export async function requireApproval(
  call: RuntimeCall,
  approvals: ApprovalServices,
  emit: Emit,
): Promise<string | undefined> {
  const subject = callSubject(call)
  if (!call.approve || approvals.approved.includes(subject)) return undefined
  // Before the binding is asked: it may be asked about other arguments than are there when it answers.
  let args = digestArguments(call)
  const question = await questionFor(call)
  if (!question) return args
  const shown = () => {
    args = digestArguments(call)
  }
  if (approvals.decided) shown()
  const decision =
    approvals.decided ?? (await approvals.paused(() => requestDecision(call, question, approvals, emit, shown)))
  if (decision === "always" && !approvals.approved.includes(subject)) approvals.approved.push(subject)
  if (decision === "always") return undefined
  if (decision === "allow") return args
  throw new ApprovalDenied(`${callName(call)} ${refusalText(decision, approvals)}`)
}

function refusalText(decision: ApprovalAnswer | undefined, { approvalTimeoutMs }: ApprovalServices): string {
  if (decision === "deny") return "was not approved; it was not called."
  if (decision === "unanswered") return `was not approved ${withinText(approvalTimeoutMs)}; it was not called.`
  return `needs approval and there is no approver; it was not called. ${howToApproveText}`
}

const howToApproveText =
  'Its host can give one: approver of the agent or run, a function or "events" for run.approve(); display(run), which asks in the terminal; ' +
  "approver of an MCP server."

function withinText(timeoutMs: number | undefined): string {
  return timeoutMs === undefined ? "in time" : `within ${timeoutMs} ms`
}

/** Makes a call whose arguments were approved. When they are no longer the same, it is asked about again by `again`.
 *  Nothing can change them between the last comparison and the call. */
export async function callIfStillApproved<T>(
  call: RuntimeCall,
  approved: string | undefined,
  again: (reason: string) => Promise<string | undefined>,
  make: () => Promise<T>,
): Promise<T> {
  let digest = approved
  for (let times = 1; digest !== undefined && digest !== digestArguments(call); times++) {
    if (times > maxArgumentChanges) throw new ApprovalDenied(`${callName(call)} was not called: ${changedTooOftenText}`)
    digest = await again("Its arguments have changed since they were approved.")
  }
  return make()
}

const maxArgumentChanges = 3
const changedTooOftenText =
  `its arguments changed ${maxArgumentChanges + 1} times while approval was asked for. ` +
  "Do not change them until the call is made."

/** What to say with a question. */
interface Question {
  reason?: string
}

/** Whether there is something to ask. Where that cannot be decided, there is. */
async function questionFor(call: RuntimeCall): Promise<Question | undefined> {
  if (typeof call.approve !== "function") return {}
  try {
    return (await rejectOnAbort(call.approve(call), call.signal)) === false ? undefined : {}
  } catch (error) {
    if (call.signal.aborted) throw error
    return { reason: `Whether to ask could not be decided: ${errorData(error).message}` }
  }
}

function digestArguments(call: RuntimeCall): string {
  const { text, isWhole } = digest(call.args, identityOf)
  if (isWhole) return text
  throw new ApprovalDenied(
    `${callName(call)} was not called: its arguments are too large for approval, because nobody could make sure that they ` +
      "stay what was approved. Pass at most 1,000,000 values and 64 MB, or an object that holds them.",
  )
}

async function requestDecision(
  call: RuntimeCall,
  question: Question,
  approvals: ApprovalServices,
  emit: Emit,
  shown: () => void,
): Promise<ApprovalAnswer | undefined> {
  const { approvalTimeoutMs } = approvals
  const approve = typeof approvals.approver === "function" ? approvals.approver : undefined
  shown()
  const id = approve ? call.id : (approvals.questionId?.(call.id) ?? call.id)
  const watcher = approve ? undefined : approvals.watcher(id, fullCallText(call), approvalTimeoutMs)
  if (!approve && !watcher) return undefined
  emit({
    type: "approval-requested",
    id,
    call: previewCall(call),
    ...(approvals.reason !== undefined && { reason: approvals.reason }),
    ...question,
    ...(approve && { answerer: "agent" }),
  })
  let answer: ApprovalAnswer = "deny"
  try {
    const answering = approve ? askApprover(call, approve, approvalTimeoutMs) : watcher
    // The answer may never come, and is not needed once the cell has ended.
    answer = normalizeAnswer(await rejectOnAbort(answering, call.signal))
    return answer
  } finally {
    const decision = answer === "unanswered" ? "deny" : answer
    const reason = answer === "unanswered" ? { reason: `No answer came ${withinText(approvalTimeoutMs)}.` } : {}
    emit({ type: "approval-resolved", id, decision, ...reason })
  }
}

// An approver that fails has not said yes.
async function askApprover(call: RuntimeCall, approve: Approver, timeoutMs: number | undefined): Promise<unknown> {
  try {
    return await withAnswerTimeout(timeoutMs, (late) => {
      const signal = late ? AbortSignal.any([call.signal, late]) : call.signal
      return Promise.resolve(approve(call, signal))
    })
  } catch (cause) {
    const { message } = errorData(cause)
    throw new ApprovalDenied(`${callName(call)} was not called: asking for approval failed: ${message}`, { cause })
  }
}

/** Waits for an answer, at most so long. The signal fires when it is too late; without a limit there is none. */
export async function withAnswerTimeout<T>(
  timeoutMs: number | undefined,
  ask: (late: AbortSignal | undefined) => Promise<T>,
): Promise<T | "unanswered"> {
  // A timer for longer would fire at once.
  if (timeoutMs === undefined || timeoutMs > maxTimerMs) return ask(undefined)
  const late = new AbortController()
  const { promise, resolve } = Promise.withResolvers<"unanswered">()
  const timer = setTimeout(() => {
    resolve("unanswered")
    late.abort(new Error(`No answer came within ${timeoutMs} ms.`))
  }, timeoutMs)
  const answer = ask(late.signal)
  answer.catch(() => undefined)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}

/** Asks who reads the events of a run, where they answer. */
export function readersAsApprover(control: RunControl): ApprovalServices["watcher"] {
  return (id, text, timeoutMs) => {
    if (!control.readersApprove()) return undefined
    return withAnswerTimeout(timeoutMs, (late) => control.awaitDecision(id, text, late))
  }
}

const maxTimerMs = 2 ** 31 - 1

function normalizeAnswer(answer: unknown): ApprovalAnswer {
  if (answer === true || answer === "allow") return "allow"
  return answer === "always" || answer === "unanswered" ? answer : "deny"
}
