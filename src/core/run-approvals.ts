// The approval requests of a run and its child runs that wait for an answer: listing, answering and refusing them.
import type { Decision } from "./agent.ts"
import { AgentError, ConfigError } from "./errors.ts"
import type { CallPreview, PendingApproval } from "./event.ts"
import { newId } from "./message.ts"
import { contextOfRun, type RunContext, runAndAncestors } from "./run-context.ts"

export interface RunApprovals {
  /** True if readers of the run's events answer requests by `run.approve`. */
  answeredByReaders: boolean
  /** Requests that wait for `run.approve`, by id. */
  readonly waiting: Map<string, WaitingRequest>
  /** The ids of all requests of the tree. Only the root's set is used. */
  readonly usedIds: Set<string>
  /** Ends the wait for an answer, whoever should give it. */
  readonly stopWaiting: Set<() => void>
  /** True if every request is refused, because nobody will answer. */
  closed: boolean
}

interface WaitingRequest extends RequestTexts {
  resolve(decision: Decision): void
}

interface RequestTexts {
  /** The complete call, for `run.pendingCall`. */
  text?: string | undefined
  /** The call for `run.pendingApprovals`. */
  call?: CallPreview | undefined
}

export interface DecisionRequest extends RequestTexts {
  /** Fires when an answer would be too late. */
  late?: AbortSignal | undefined
}

export function createRunApprovals(): RunApprovals {
  return { answeredByReaders: false, waiting: new Map(), usedIds: new Set(), stopWaiting: new Set(), closed: false }
}

/** Lets readers of a run's events answer by `run.approve`; for programs that display a run they did not start. */
export function allowReadersToApprove(run: object): void {
  const context = contextOfRun.get(run)
  if (context) context.approvals.answeredByReaders = true
}

/** Returns true if `run.approve` can answer, on this run or on an ancestor that has not ended. */
export function canReadersApprove(run: RunContext): boolean {
  return runAndAncestors(run).some(({ approvals, ended }) => approvals.answeredByReaders && !ended)
}

/** Reserves the id of an approval request: the call's id, or a new one if a request of the tree has had it. Some models
 *  number their calls, and a late answer must not reach another request. */
export function claimApprovalId(run: RunContext, call: string): string {
  let root = run
  while (root.parent) root = root.parent
  const { usedIds } = root.approvals
  const id = usedIds.has(call) ? newId("call") : call
  usedIds.add(id)
  return id
}

/** Waits for `run.approve(id, …)` on this run or an ancestor. Rejects with `abortError()` when the run is aborted. */
export function awaitDecision(
  run: RunContext,
  id: string,
  { text, call, late }: DecisionRequest,
  abortError: () => Error,
): Promise<Decision> {
  const { promise, resolve, reject } = Promise.withResolvers<Decision>()
  const abort = () => reject(abortError())
  if (run.signal.aborted) abort()
  run.signal.addEventListener("abort", abort, { once: true })
  late?.addEventListener("abort", () => reject(late.reason), { once: true })
  for (const { approvals } of runAndAncestors(run)) approvals.waiting.set(id, { resolve, text, call })
  return promise.finally(() => {
    for (const { approvals } of runAndAncestors(run)) approvals.waiting.delete(id)
    run.signal.removeEventListener("abort", abort)
  })
}

/** Answers a waiting request. Throws an `AgentError` of code `unknown-approval` if there is none of this id. */
export function answerApproval({ waiting }: RunApprovals, id: string, decision: Decision): void {
  checkDecision("run.approve", decision)
  const request = waiting.get(id)
  if (!request) throw new AgentError(`No approval "${id}" is waiting in this run.`, { code: "unknown-approval" })
  request.resolve(decision)
}

/** The requests that wait for `run.approve`, oldest first. */
export function listPendingApprovals({ waiting }: RunApprovals): PendingApproval[] {
  return [...waiting].flatMap(([id, { call }]) => (call ? [{ kind: "approval", id, call }] : []))
}

/** Refuses the open and all later approval requests of a run and its child runs, because nobody will answer them. */
export function closeApprovals(run: object): void {
  const approvals = contextOfRun.get(run)?.approvals
  if (!approvals) return
  approvals.closed = true
  for (const stop of approvals.stopWaiting) stop()
}

/** Waits for an answer, and at most until the approvals of the run or of an ancestor are closed. */
export async function untilApprovalsClosed<T>(run: RunContext, answer: Promise<T>): Promise<T | "closed"> {
  const { promise: closed, resolve } = Promise.withResolvers<"closed">()
  const stop = () => resolve("closed")
  for (const { approvals } of runAndAncestors(run)) {
    if (approvals.closed) stop()
    approvals.stopWaiting.add(stop)
  }
  answer.catch(() => undefined)
  return await Promise.race([closed, answer]).finally(() => {
    for (const { approvals } of runAndAncestors(run)) approvals.stopWaiting.delete(stop)
  })
}

/** Throws unless an answer to an approval request is a decision. `use` names the method that took it. */
export function checkDecision(use: string, decision: Decision): void {
  if (["allow", "deny", "always"].includes(decision)) return
  throw new ConfigError(`${use}: "${decision}" is no decision. Use "allow", "deny" or "always".`)
}
