// Asks for approval of a call and waits for the answer of a user function or of readers of the run's events.
import { rejectOnAbort } from "../core/abort.ts"
import type { Decision } from "../core/agent.ts"
import { AbortError, ConfigError, errorData } from "../core/errors.ts"
import type { CallPreview, Emit } from "../core/event.ts"
import type { RunControl } from "../core/run.ts"
import { maxTimerMs, timerMs } from "../core/time-limit.ts"
import { digest, identityOf } from "../core/values/digest.ts"
import type { RuntimeCall } from "../runtime/runtime.ts"
import { callName, callSubject, fullCallText, previewCall } from "./preview-call.ts"

/** Answers whether a call may be made. `true` and `allow` allow this call, `always` allows its like for the rest of the
 *  conversation. Any other answer denies the call. */
export type Approver = (call: RuntimeCall, signal: AbortSignal) => Decision | boolean | Promise<Decision | boolean>

/** A function, or `"events"`: then readers of the events answer by `run.approve(id, decision)`. */
export type ApproverOption = Approver | "events"

export function checkApprover(approver: ApproverOption | undefined): ApproverOption | undefined {
  const given: unknown = approver
  if (given === undefined || given === "events" || typeof given === "function") return approver
  throw new ConfigError(
    `approver: ${JSON.stringify(given)} is unknown. Give a function, or "events" for run.approve().`,
  )
}

/** The answer to an approval request: a decision, or `unanswered` if none came in time. */
export type ApprovalAnswer = Decision | "unanswered"

/** What an approval request needs: who answers, and what was already answered with `always`. */
export interface ApprovalServices {
  /** The approver of the agent. */
  approver?: ApproverOption | undefined
  /** How long a request waits for an answer; then the call is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** The subjects of calls (`binding`, `binding.method`) that need no further request; each `always` adds one. */
  approved: string[]
  /** Waits at most `timeoutMs` for an answer from readers of the events; undefined if this run has no such reader.
   *  `text` is the whole call, for readers who want to see it. */
  askReaders(
    id: string,
    text: string,
    timeoutMs: number | undefined,
    request: ReadersRequest,
  ): Promise<ApprovalAnswer> | undefined
  /** Waits for an answer, and at most until nobody will answer any more. Default: waits for the answer. */
  untilApprovalsClosed?: (<T>(answer: Promise<T>) => Promise<T | "closed">) | undefined
  /** Returns a free id for the request about a call. Default: the id of the call. */
  claimRequestId?: ((callId: string) => string) | undefined
  /** The recorded answer of an earlier execution of the same call. */
  recordedAnswer?: ApprovalAnswer | undefined
  /** The reason that the request shows. */
  reason?: string | undefined
  /** Stops the run's clocks while a person decides. */
  withClocksPaused<T>(work: () => Promise<T>): Promise<T>
}

interface ReadersRequest {
  call: CallPreview
  /** Fires when no answer is needed any more. */
  signal: AbortSignal
}

/** The error that a cell or the model sees when a call was refused. */
export class ApprovalDenied extends Error {
  override name = "ApprovalDenied"
}

/** Resolves when a call may be made; throws `ApprovalDenied` otherwise. Returns the digest of the approved arguments,
 *  or undefined if any arguments are allowed. */
export async function requireApproval(
  call: RuntimeCall,
  approvals: ApprovalServices,
  emit: Emit,
): Promise<string | undefined> {
  const subject = callSubject(call)
  if (!call.approve || approvals.approved.includes(subject)) return undefined
  // Digest first: `questionFor` may wait, and the arguments may change meanwhile.
  let args = digestArguments(call)
  const question = await questionFor(call)
  if (!question) return args
  const shown = () => {
    args = digestArguments(call)
  }
  if (approvals.recordedAnswer) shown()
  const request = () => requestDecision(call, question, approvals, emit, shown)
  const decision = approvals.recordedAnswer ?? (await approvals.withClocksPaused(request))
  if (decision === "always" && !approvals.approved.includes(subject)) approvals.approved.push(subject)
  if (decision === "always") return undefined
  if (decision === "allow") return args
  if (decision === undefined) warnWithoutApprover(call, emit)
  throw new ApprovalDenied(`${callName(call)} ${refusalText(decision, approvals)}`)
}

/** Asks the readers of the events about a call. Without such readers the answer is `deny`. */
export async function askReadersAbout(
  call: RuntimeCall,
  approvals: ApprovalServices,
  emit: Emit,
): Promise<ApprovalAnswer> {
  const byReaders = { ...approvals, approver: undefined }
  const request = () => requestDecision(call, {}, byReaders, emit, () => undefined)
  const answer = await approvals.withClocksPaused(request)
  return answer === undefined || answer === "closed" ? "deny" : answer
}

// `closed`: the session was closed before an answer came.
type Answer = ApprovalAnswer | "closed"

function refusalText(decision: Answer | undefined, { approvalTimeoutMs }: ApprovalServices): string {
  if (decision === "deny") return "was not approved; it was not called."
  if (decision === "unanswered") return `was not approved ${withinText(approvalTimeoutMs)}; it was not called.`
  if (decision === "closed")
    return `was not approved: the session is being closed. It was not called. ${allRefusedText}`
  return `needs approval and there is no approver; it was not called. ${allRefusedText}`
}

const allRefusedText = "Every such call will be refused: continue without it, and say what was not done."

const warned = new WeakSet<Emit>()

// The model cannot provide an approver, so the host gets the advice: once for all calls of a run.
function warnWithoutApprover(call: RuntimeCall, emit: Emit): void {
  if (warned.has(emit)) return
  warned.add(emit)
  const message = `${callName(call)} needs approval and there is no approver; it was not called. ${howToApproveText}`
  emit({ type: "warning-raised", code: "no-approver", message })
}

const howToApproveText =
  'Give one: approver of the agent or run, a function or "events" for run.approve(); display(run), which asks in the ' +
  "terminal; approver of an MCP server."

/** The warning for the host about tools that are not offered, because every call needs approval. */
export function notOfferedText(names: readonly string[]): string {
  const needs = names.length === 1 ? "needs" : "need"
  const cure = "If they need none, say so in their options, such as shell: { approve: false }."
  return `Not offered to the model: ${names.join(", ")}. Each call ${needs} approval and there is no approver. ${howToApproveText} ${cure}`
}

function withinText(timeoutMs: number | undefined): string {
  return timeoutMs === undefined ? "in time" : `within ${timeoutMs} ms`
}

/** Makes an approved call. If the arguments changed since the approval, `again` requests a new one. Nothing can change
 *  them between the last comparison and the call. */
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

interface Question {
  reason?: string
}

/** Returns the question; undefined if the binding's own check says that none is needed. Asks if that check fails. */
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
    `${callName(call)} was not called: its arguments are too large for approval, because Karst could not make sure that they ` +
      "stay what was approved. Pass at most 1,000,000 values and 64 MB, or an object that holds them.",
  )
}

async function requestDecision(
  call: RuntimeCall,
  question: Question,
  approvals: ApprovalServices,
  emit: Emit,
  shown: () => void,
): Promise<Answer | undefined> {
  const { approvalTimeoutMs, untilApprovalsClosed = (answer) => answer } = approvals
  const approve = typeof approvals.approver === "function" ? approvals.approver : undefined
  shown()
  const id = approvals.claimRequestId?.(call.id) ?? call.id
  const preview = previewCall(call)
  const wait = new AbortController()
  const signal = AbortSignal.any([call.signal, wait.signal])
  const readersAnswer = approve
    ? undefined
    : approvals.askReaders(id, fullCallText(call), approvalTimeoutMs, { call: preview, signal })
  if (!approve && !readersAnswer) return undefined
  emit({
    type: "approval-requested",
    id,
    call: preview,
    ...(approvals.reason !== undefined && { reason: approvals.reason }),
    ...question,
    ...(approve && { answerer: "agent" }),
  })
  let answer: Answer | undefined
  try {
    const answering: Promise<unknown> = approve
      ? askApprover(call, approve, approvalTimeoutMs, signal)
      : Promise.resolve(readersAnswer)
    // Do not wait for an answer after the cell has ended.
    answer = normalizeAnswer(await rejectOnAbort(untilApprovalsClosed(answering), call.signal))
    return answer
  } finally {
    if (answer === "closed") wait.abort(new AbortError("The session was closed."))
    const decision = answer === "allow" || answer === "always" ? answer : "deny"
    const reason = reasonWithoutAnswer(answer, call, approvalTimeoutMs)
    emit({ type: "approval-resolved", id, decision, ...(reason !== undefined && { reason }) })
  }
}

// `answer` is undefined if waiting for it failed.
function reasonWithoutAnswer(
  answer: Answer | undefined,
  { signal }: RuntimeCall,
  timeoutMs: number | undefined,
): string | undefined {
  if (answer === "unanswered") return `No answer came ${withinText(timeoutMs)}.`
  if (answer === "closed") return "The session was closed."
  if (answer !== undefined) return undefined
  return signal.aborted ? "The call ended before an answer came." : "Asking for approval failed."
}

// An approver that throws denies the call.
async function askApprover(
  call: RuntimeCall,
  approve: Approver,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await withAnswerTimeout(timeoutMs, signal, (late) => Promise.resolve(approve(call, late)))
  } catch (cause) {
    const { message } = errorData(cause)
    throw new ApprovalDenied(`${callName(call)} was not called: asking for approval failed: ${message}`, { cause })
  }
}

/** Waits for an answer until `signal` fires, and at most `timeoutMs`. `ask` gets a signal that fires in both cases. */
async function withAnswerTimeout<T>(
  timeoutMs: number | undefined,
  signal: AbortSignal,
  ask: (late: AbortSignal) => Promise<T>,
): Promise<T | "unanswered"> {
  if (timeoutMs === undefined || timeoutMs > maxTimerMs) return ask(signal)
  const late = new AbortController()
  const { promise, resolve } = Promise.withResolvers<"unanswered">()
  const timer = setTimeout(() => {
    resolve("unanswered")
    late.abort(new Error(`No answer came within ${timeoutMs} ms.`))
  }, timerMs(timeoutMs))
  const answer = ask(AbortSignal.any([signal, late.signal]))
  answer.catch(() => undefined)
  return rejectOnAbort(Promise.race([answer, promise]), signal).finally(() => clearTimeout(timer))
}

/** The answers to the approval requests of a run: from the readers of its events, if they may approve. */
export function approvalAnswers(
  control: RunControl,
): Pick<ApprovalServices, "askReaders" | "claimRequestId" | "untilApprovalsClosed" | "withClocksPaused"> {
  return {
    askReaders(id, text, timeoutMs, { call, signal }) {
      if (!control.readersApprove()) return undefined
      return withAnswerTimeout(timeoutMs, signal, (late) => control.awaitDecision(id, { text, call, late }))
    },
    claimRequestId: control.claimApprovalId,
    untilApprovalsClosed: control.untilApprovalsClosed,
    withClocksPaused: control.pauseClocks,
  }
}

function normalizeAnswer(answer: unknown): Answer {
  if (answer === true || answer === "allow") return "allow"
  return answer === "always" || answer === "unanswered" || answer === "closed" ? answer : "deny"
}
