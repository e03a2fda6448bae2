// Events that the engine itself adds to a run between slices, with their changes of the head.
import type { Decision } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import type { AgentEvent, EventBody, EventOf } from "../../core/event.ts"
import { asJson, type Json } from "../../core/json.ts"
import type { StoreChange } from "../../stores/store.ts"
import { type RunHead, runKeys } from "../checkpoint.ts"
import { pendingApproval } from "../open-approvals.ts"
import { usageOfState } from "../run-info.ts"
import type { HeldRun } from "./held-run.ts"

/** The arguments of `HeldRun.commit`: how the head changes, and what else is stored with it. */
export type HeadCommit = [next: (head: RunHead) => RunHead, changes: StoreChange[]]

/** After a cell was aborted for approvals: the run waits for the undecided ones, or is queued if all were decided
 *  meanwhile. Of the aborted cycle only the requests and decisions about these calls are logged: as they were
 *  `reported`, if they were. */
export function approvalWaitCommit(
  { id }: RunHead,
  open: (head: RunHead) => RunHead["asked"],
  reported: readonly AgentEvent[],
): HeadCommit {
  return commitWithEventsFrom(
    id,
    (head) => {
      const unlogged = [...head.asked.filter(({ decision }) => decision !== undefined), ...open(head)].filter(
        ({ logged }) => !logged,
      )
      const known = reported.filter((event) => isApprovalEvent(event) && unlogged.some((each) => each.id === event.id))
      const isKnown = (type: AgentEvent["type"], about: string) =>
        known.some((event) => event.type === type && "id" in event && event.id === about)
      const added = unlogged.flatMap(approvalEvents).filter((body) => !("id" in body) || !isKnown(body.type, body.id))
      return [...known, ...added]
    },
    ({ lease: _, ...head }) => {
      const waiting = open(head)
      const [first] = waiting
      const asked = head.asked
        .filter((each) => each.decision !== undefined || waiting.includes(each))
        .map((each) => ({ ...each, logged: true as const }))
      if (!first) return { ...head, asked, status: "queued" }
      return { ...head, asked, status: "waiting", pending: pendingApproval(first) }
    },
  )
}

/** Logs decisions that an earlier worker stored but did not log; undefined if there are none. */
export function unloggedDecisionsCommit(head: RunHead): HeadCommit | undefined {
  if (decisionEvents(head).length === 0) return undefined
  return commitWithEventsFrom(head.id, decisionEvents, (now) => ({
    ...now,
    asked: now.asked.map((each) => (each.decision === undefined ? each : { ...each, logged: true as const })),
  }))
}

function decisionEvents({ asked }: RunHead): EventBody[] {
  return asked.filter(({ decision, logged }) => decision !== undefined && !logged).flatMap(approvalEvents)
}

function approvalEvents(each: RunHead["asked"][number]): EventBody[] {
  const requested = approvalRequestedEvent(each)
  return each.decision === undefined ? [requested] : [requested, approvalResolvedEvent(each, each.decision)]
}

function approvalRequestedEvent({ id, call, reason }: RunHead["asked"][number]): EventBody {
  return { type: "approval-requested", id, call, ...(reason !== undefined && { reason }) }
}

export function approvalResolvedEvent({ id, expired }: RunHead["asked"][number], decision: Decision): EventBody {
  return { type: "approval-resolved", id, decision, ...(expired && { reason: "No answer came in time." }) }
}

/** Ends a run that failed before or between its cycles. */
export function failureCommit({ id, state }: RunHead, failure: unknown): HeadCommit {
  const { cycles, usage } = usageOfState(state)
  const { output = "" } = state ?? {}
  const error = errorData(failure ?? new Error("The run broke off."))
  const end: EventBody = { type: "run-end", status: "failed", output, cycles, usage, error }
  return commitWithEvents(id, [end], ({ lease: _, ...head }) => ({
    ...head,
    status: "failed",
    failedFrom: head.stored - 1,
  }))
}

/** Ends a run that cannot start, and releases it. */
export async function failRun(held: HeldRun, failure: unknown): Promise<{ type: "ended" }> {
  await held.commit(...failureCommit(held.head, failure)).finally(held.stopRenewing)
  return { type: "ended" }
}

/** Ends a run that was aborted before, between or outside of its cycles. */
export function abortCommit({ id, status, state, retries }: RunHead, detail: { detail?: string }): HeadCommit {
  const saved = usageOfState(state)
  // The usage of a cycle that a worker had under way, or that waits for a retry, is unknown.
  const used = status === "running" || retries ? { ...saved, usage: { ...saved.usage, complete: false } } : saved
  const { cycles, usage } = used
  const { output = "" } = state ?? {}
  const end: EventBody = { type: "run-end", status: "aborted", output, cycles, usage, ...detail }
  return commitWithEvents(id, [end], ({ pending: _, lease: __, retryAt: ___, ...rest }) => ({
    ...rest,
    used,
    status: "aborted",
  }))
}

/** The number of the next event of a run whose worker is gone. It is not known how many events the worker had reported
 *  since the last checkpoint, and no number may be given twice: this is more than a cycle reports. */
export function seqAfterCrash({ seq }: RunHead): number {
  return seq + 1_000_000
}

/** Returns the run to the queue with the reason why this engine does not continue it. */
export async function refuseRun(held: HeldRun, refused: string): Promise<{ type: "refused" }> {
  const warning: EventBody = { type: "warning-raised", code: "run-refused", message: refused }
  await held.commit(
    ...commitWithEvents(held.head.id, [warning], ({ lease: _, ...head }) => ({ ...head, status: "queued", refused })),
  )
  return { type: "refused" }
}

/** Appends events and changes the head. */
export function commitWithEvents(
  run: string,
  bodies: readonly EventBody[],
  next: (head: RunHead) => RunHead,
): HeadCommit {
  return commitWithEventsFrom(run, () => bodies, next)
}

function commitWithEventsFrom(
  run: string,
  eventsOf: (head: RunHead) => readonly (EventBody | AgentEvent)[],
  next: (head: RunHead) => RunHead,
): HeadCommit {
  // Filled by the first function, which is called before the changes are written.
  const items: Json[] = []
  const at = Date.now()
  return [
    (head) => {
      const events = eventsOf(head)
      let { seq } = head
      // A commit that is repeated after a conflict calls this again.
      items.splice(
        0,
        items.length,
        ...events.map((event) => asJson("seq" in event ? event : stampEvent(event, run, seq++, at))),
      )
      return next({ ...head, seq, stored: head.stored + events.length })
    },
    [{ type: "append", log: runKeys(run).events, items }],
  ]
}

const stampEvent = (body: EventBody, run: string, seq: number, at: number): AgentEvent => ({ ...body, run, seq, at })

/** Returns true for the events about approvals. */
export function isApprovalEvent(event: AgentEvent): event is EventOf<"approval-requested" | "approval-resolved"> {
  return event.type === "approval-requested" || event.type === "approval-resolved"
}
