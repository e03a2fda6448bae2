import type { QueuedRun } from "../core/agent.ts"
import { ConflictError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import type { Store, StoreChange, StoreGuard } from "../stores/store.ts"
import { hasEnded, type RunHead, readHead, runKeys, sessionKey } from "./checkpoint.ts"
import { parseRunId } from "./stored-records.ts"

/** The queue of one session, for its owner. */
export interface SessionQueue {
  /** The id of the run that is under way, or that waits for an answer or an approval. */
  running: string | undefined
  /** The runs that have not begun, in the order in which they will run. */
  pending: QueuedRun[]
}

/** The place of a run that has not begun, stored beside its head. It is changed only under the guard of the session's key, which
 *  every change of the queue writes. */
interface QueuePosition {
  /** The run before it, if another run was put before it after it was submitted. */
  after?: string
  /** It is held back until the owner continues the queue. */
  held?: boolean
  /** The failed or aborted run that it may follow, because the owner continued the queue. */
  mayFollow?: string
}

interface PendingRun {
  head: RunHead
  position: QueuePosition
}

interface StoredQueue {
  guard: StoreGuard
  /** The last run of the session. */
  last: string | undefined
  /** The last run that has begun. */
  before: RunHead | undefined
  /** The runs that have not begun, oldest first. */
  pending: PendingRun[]
}

/** The changes that put a new run into the queue of its session: behind those that wait, before those that are held back. */
export async function enqueueChanges(
  store: Store,
  head: RunHead,
  session: string,
): Promise<[StoreChange[], StoreGuard]> {
  const { guard, last, before, pending } = await readQueue(store, head.agent, session)
  const held = pending.filter((entry) => isHeldBack(entry, before))
  const [next] = held
  head.session = session
  const after = next ? (next.position.after ?? next.head.after) : last
  if (after !== undefined) head.after = after
  if (pending.length > held.length || (before && !hasEnded(before))) head.isQueued = true
  const changes: StoreChange[] = [{ type: "put", key: guard.key, value: next && last !== undefined ? last : head.id }]
  if (after !== undefined) changes.push({ type: "put", key: runKeys(after).next, value: head.id })
  if (next) changes.push({ type: "put", key: runKeys(head.id).next, value: next.head.id })
  for (const entry of held) {
    changes.push(putPosition(entry, { ...entry.position, ...(entry === next && { after: head.id }), held: true }))
  }
  return [changes, guard]
}

/** Lets the runs that are held back run; gives the first of the queue. */
export async function releaseHeldRuns(store: Store, agent: string, session: string): Promise<string | undefined> {
  for (;;) {
    const { guard, last, before, pending } = await readQueue(store, agent, session)
    const held = pending.filter((entry) => isHeldBack(entry, before))
    if (held.length === 0 || last === undefined) return pending[0]?.head.id
    const changes = held.map((entry) => {
      const { held: _, mayFollow: __, ...place } = entry.position
      return putPosition(entry, { ...place, ...(before && hasEnded(before) && { mayFollow: before.id }) })
    })
    try {
      await store.commit([...changes, { type: "put", key: guard.key, value: last }], guard)
      return pending[0]?.head.id
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

export async function readSessionQueue(store: Store, agent: string, session: string): Promise<SessionQueue> {
  const { before, pending } = await readQueue(store, agent, session)
  const runs = pending.map(async ({ head: { id } }): Promise<QueuedRun> => {
    // Only the engine writes there.
    const input = (await store.get(runKeys(id).input))?.value as unknown as UserMessage | undefined
    return { id, prompt: (input?.parts ?? []).filter((part) => part.type !== "summary") }
  })
  return { running: before && !hasEnded(before) ? before.id : undefined, pending: await Promise.all(runs) }
}

/** Whether a run may begin now: the runs before it in its session have ended, and it is not held back. */
export async function mayStart(store: Store, head: RunHead): Promise<boolean> {
  if (head.state || head.session === undefined) return true
  const before = await previousRun(store, head, wasAbortedInQueue)
  if (before && (before.lease !== undefined || !hasEnded(before))) return false
  return !isHeldBack({ head, position: await readPosition(store, head.id) }, before)
}

/** The last run before this one in its session that is not skipped. */
export async function previousRun(
  store: Store,
  head: RunHead,
  isSkipped: (head: RunHead) => boolean = () => false,
): Promise<RunHead | undefined> {
  for (let id = await previousRunId(store, head); id !== undefined; ) {
    const found = (await readHead(store, id))?.head
    if (!found || !isSkipped(found)) return found
    id = await previousRunId(store, found)
  }
  return undefined
}

/** The id of the run before this one in its session. */
export async function previousRunId(store: Store, head: RunHead): Promise<string | undefined> {
  if (head.session === undefined || head.fence > 0) return head.after
  return (await readPosition(store, head.id)).after ?? head.after
}

// A run that was aborted while it was queued. The run before it may still be under way.
const wasAbortedInQueue = (head: RunHead) => head.fence === 0 && hasEnded(head)

function isHeldBack({ head, position: place }: PendingRun, before: RunHead | undefined): boolean {
  if (place.held) return true
  if (!head.isQueued || !before) return false
  return (before.status === "failed" || before.status === "aborted") && place.mayFollow !== before.id
}

async function readQueue(store: Store, agent: string, session: string): Promise<StoredQueue> {
  const key = sessionKey(agent, session)
  const entry = await store.get(key)
  const last = entry && parseRunId(entry.value, `of session "${session}"`)
  const queue: StoredQueue = { guard: { key, ifRevision: entry?.revision ?? 0 }, last, before: undefined, pending: [] }
  for (let id = last; id !== undefined; ) {
    const head = (await readHead(store, id))?.head
    if (!head || head.fence > 0) {
      queue.before = head
      break
    }
    const place = await readPosition(store, id)
    if (!hasEnded(head)) queue.pending.unshift({ head, position: place })
    id = place.after ?? head.after
  }
  return queue
}

async function readPosition(store: Store, id: string): Promise<QueuePosition> {
  // Only `putPlace` writes there.
  return ((await store.get(runKeys(id).place))?.value ?? {}) as QueuePosition
}

function putPosition({ head }: PendingRun, place: QueuePosition): StoreChange {
  return { type: "put", key: runKeys(head.id).place, value: place as Json }
}
