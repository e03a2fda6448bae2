import { errorData } from "../core/errors.ts"
import type { EventBody } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { noUsage } from "../core/usage.ts"
import type { Change } from "../stores/store.ts"
import { type Head, keysOf } from "./checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

export type Commit = [next: (head: Head) => Head, changes: Change[]]

/** The run waits for these to be answered. */
export function approvalsAsked({ id }: Head, open: Head["asked"], inbox: number): Commit {
  return withEvents(
    id,
    open.map(({ id, call, reason }) => ({
      type: "approval-requested",
      id,
      call,
      ...(reason !== undefined && { reason }),
    })),
    ({ lease: _, ...head }) => {
      const [first] = open
      return {
        ...head,
        status: "waiting",
        inbox,
        ...(first && { pending: { kind: "approval", id: first.id, call: first.call } }),
      }
    },
  )
}

/** The run could not even be begun. */
export function failed({ id, state }: Head, failure: unknown): Commit {
  const { cycle: cycles = 0, usage = noUsage, output = "" } = state ?? {}
  const error = errorData(failure ?? new Error("The run broke off."))
  const end: EventBody = { type: "run-end", status: "failed", output, cycles, usage, error }
  return withEvents(id, [end], ({ lease: _, ...head }) => ({ ...head, status: "failed" }))
}

/** The run stays as it is and says why. */
export async function refuse(held: HeldRun, refused: string): Promise<{ type: "refused" }> {
  const warning: EventBody = { type: "warning-raised", code: "run-refused", message: refused }
  await held.commit(
    ...withEvents(held.head.id, [warning], ({ lease: _, ...head }) => ({ ...head, status: "queued", refused })),
  )
  return { type: "refused" }
}

/** Events that the engine tells itself, between slices, with what they do to the head. */
export function withEvents(run: string, bodies: readonly EventBody[], next: (head: Head) => Head): Commit {
  const items: Json[] = []
  const at = Date.now()
  return [
    (head) => {
      items.push(...bodies.map((body, index) => ({ ...body, run, seq: head.seq + index, at }) as unknown as Json))
      return next({ ...head, seq: head.seq + bodies.length, stored: head.stored + bodies.length })
    },
    [{ type: "append", log: keysOf(run).events, items }],
  ]
}
