// Events that the engine itself adds to a run between slices, with their changes of the head.
import type { Decision } from "../../core/agent.ts"
import { errorData } from "../../core/errors.ts"
import type { EventBody } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import { noUsage } from "../../core/usage.ts"
import type { StoreChange } from "../../stores/store.ts"
import { type RunHead, runKeys } from "../checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

/** The arguments of `HeldRun.commit`: how the head changes, and what else is stored with it. */
export type HeadCommit = [next: (head: RunHead) => RunHead, changes: StoreChange[]]

/** After a cell was aborted for approvals: the run waits for the undecided ones, or is queued if all were decided
 *  meanwhile. Decisions made while the cell was held are logged here, because the events of the aborted cell are not
 *  stored. */
export function approvalWaitCommit({ id }: RunHead, open: (head: RunHead) => RunHead["asked"]): HeadCommit {
  return commitWithEventsFrom(
    id,
    (head) => [
      ...decisionEvents(head),
      ...open(head)
        .filter(({ logged }) => !logged)
        .map(approvalRequestedEvent),
    ],
    ({ lease: _, ...head }) => {
      const waiting = open(head)
      const [first] = waiting
      const asked = head.asked
        .filter((each) => each.decision !== undefined || waiting.includes(each))
        .map((each) => ({ ...each, logged: true as const }))
      if (!first) return { ...head, asked, status: "queued" }
      return { ...head, asked, status: "waiting", pending: { kind: "approval", id: first.id, call: first.call } }
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
  return asked.flatMap((each): EventBody[] => {
    if (each.decision === undefined || each.logged) return []
    return [approvalRequestedEvent(each), approvalResolvedEvent(each, each.decision)]
  })
}

function approvalRequestedEvent({ id, call, reason }: RunHead["asked"][number]): EventBody {
  return { type: "approval-requested", id, call, ...(reason !== undefined && { reason }) }
}

export function approvalResolvedEvent({ id, expired }: RunHead["asked"][number], decision: Decision): EventBody {
  return { type: "approval-resolved", id, decision, ...(expired && { reason: "No answer came in time." }) }
}

/** Ends a run that failed before or between its cycles. */
export function failureCommit({ id, state }: RunHead, failure: unknown): HeadCommit {
  const { cycle: cycles = 0, usage = noUsage, output = "" } = state ?? {}
  const error = errorData(failure ?? new Error("The run broke off."))
  const end: EventBody = { type: "run-end", status: "failed", output, cycles, usage, error }
  return commitWithEvents(id, [end], ({ lease: _, ...head }) => ({
    ...head,
    status: "failed",
    failedFrom: head.stored - 1,
  }))
}

/** Ends a run that was aborted before, between or outside of its cycles. */
export function abortCommit({ id, status, state }: RunHead, detail: { detail?: string }): HeadCommit {
  const { cycle: cycles = 0, usage: saved = noUsage, output = "" } = state ?? {}
  // The usage of a cycle that a worker had under way is unknown.
  const usage = status === "running" ? { ...saved, complete: false } : saved
  const end: EventBody = { type: "run-end", status: "aborted", output, cycles, usage, ...detail }
  return commitWithEvents(id, [end], ({ pending: _, lease: __, retryAt: ___, ...rest }) => ({
    ...rest,
    status: "aborted",
  }))
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
  bodiesOf: (head: RunHead) => readonly EventBody[],
  next: (head: RunHead) => RunHead,
): HeadCommit {
  const items: Json[] = []
  const at = Date.now()
  return [
    (head) => {
      const bodies = bodiesOf(head)
      // A commit that is repeated after a conflict calls this again.
      items.splice(0, items.length, ...bodies.map((body, index) => stampEvent(body, run, head.seq + index, at)))
      return next({ ...head, seq: head.seq + bodies.length, stored: head.stored + bodies.length })
    },
    [{ type: "append", log: runKeys(run).events, items }],
  ]
}

const stampEvent = (body: EventBody, run: string, seq: number, at: number) =>
  ({ ...body, run, seq, at }) as unknown as Json
