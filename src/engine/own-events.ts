import type { Decision } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { EventBody } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { noUsage } from "../core/usage.ts"
import type { Change } from "../stores/store.ts"
import { type Head, keysOf } from "./checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

export type Commit = [next: (head: Head) => Head, changes: Change[]]

/** The cell was given up: the run waits for the open approvals, or is queued again where the last one was decided meanwhile.
 *  Decisions that came while the cell was held are added to the log, because the events of the cell are not. */
export function approvalsAsked({ id }: Head, open: (head: Head) => Head["asked"]): Commit {
  return withEventsOf(
    id,
    (head) => [
      ...decisionEvents(head),
      ...open(head)
        .filter(({ logged }) => !logged)
        .map(requestEvent),
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

/** Adds the decisions to the log that an earlier worker stored before it ended; undefined where there are none. */
export function unloggedDecisions(head: Head): Commit | undefined {
  if (decisionEvents(head).length === 0) return undefined
  return withEventsOf(head.id, decisionEvents, (now) => ({
    ...now,
    asked: now.asked.map((each) => (each.decision === undefined ? each : { ...each, logged: true as const })),
  }))
}

function decisionEvents({ asked }: Head): EventBody[] {
  return asked.flatMap((each): EventBody[] => {
    if (each.decision === undefined || each.logged) return []
    return [requestEvent(each), resolvedEvent(each, each.decision)]
  })
}

function requestEvent({ id, call, reason }: Head["asked"][number]): EventBody {
  return { type: "approval-requested", id, call, ...(reason !== undefined && { reason }) }
}

/** The event of a decision about a call. */
export function resolvedEvent({ id, expired }: Head["asked"][number], decision: Decision): EventBody {
  return { type: "approval-resolved", id, decision, ...(expired && { reason: "No answer came in time." }) }
}

/** The run has failed before or between its cycles. */
export function failed({ id, state }: Head, failure: unknown): Commit {
  const { cycle: cycles = 0, usage = noUsage, output = "" } = state ?? {}
  const error = errorData(failure ?? new Error("The run broke off."))
  const end: EventBody = { type: "run-end", status: "failed", output, cycles, usage, error }
  return withEvents(id, [end], ({ lease: _, ...head }) => ({ ...head, status: "failed", failedFrom: head.stored - 1 }))
}

/** The run stays as it is and says why. */
export async function refuse(held: HeldRun, refused: string): Promise<{ type: "refused" }> {
  const warning: EventBody = { type: "warning-raised", code: "run-refused", message: refused }
  await held.commit(
    ...withEvents(held.head.id, [warning], ({ lease: _, ...head }) => ({ ...head, status: "queued", refused })),
  )
  return { type: "refused" }
}

/** Events that the engine adds between slices, with what they do to the head. */
export function withEvents(run: string, bodies: readonly EventBody[], next: (head: Head) => Head): Commit {
  return withEventsOf(run, () => bodies, next)
}

function withEventsOf(run: string, bodiesOf: (head: Head) => readonly EventBody[], next: (head: Head) => Head): Commit {
  const items: Json[] = []
  const at = Date.now()
  return [
    (head) => {
      const bodies = bodiesOf(head)
      // A commit that is tried again calls this once more.
      items.splice(0, items.length, ...bodies.map((body, index) => stamped(body, run, head.seq + index, at)))
      return next({ ...head, seq: head.seq + bodies.length, stored: head.stored + bodies.length })
    },
    [{ type: "append", log: keysOf(run).events, items }],
  ]
}

const stamped = (body: EventBody, run: string, seq: number, at: number) =>
  ({ ...body, run, seq, at }) as unknown as Json
