// The queue of runs in a session: order, runs held back after a failure, and whether a run may start.
import { ConflictError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { Store, StoreChange, StoreGuard } from "../stores/store.ts"
import { hasEnded, type RunHead, readHead, runKeys, sessionKey } from "./checkpoint.ts"
import { parseRunId } from "./stored-records.ts"

/** The position of a run that has not begun, stored beside its head. It changes only in commits guarded by the
 *  session's key, which every change of the queue writes. */
interface QueuePosition {
  /** The run before it, if that is another one than when it was submitted. */
  after?: string
  /** It is held back until `continueQueue`. */
  held?: boolean
  /** The failed or aborted run that it may follow after `continueQueue`. */
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

/** Returns the changes that put a new run into the queue of its session, behind the waiting runs and before those held
 *  back. Sets the session, the previous run and `isQueued` in `head`, which the caller stores. */
export async function enqueueChanges(
  store: Store,
  head: RunHead,
  session: string,
): Promise<[StoreChange[], StoreGuard]> {
  const { guard, last, before, pending } = await readQueue(store, head.agent, session)
  const heldBack = pending.filter((entry) => isHeldBack(entry, before))
  const [next] = heldBack
  head.session = session
  const after = next ? (next.position.after ?? next.head.after) : last
  if (after !== undefined) head.after = after
  if (pending.length > heldBack.length || (before && !hasEnded(before))) head.isQueued = true
  const changes: StoreChange[] = [{ type: "put", key: guard.key, value: next && last !== undefined ? last : head.id }]
  if (after !== undefined) changes.push({ type: "put", key: runKeys(after).next, value: head.id })
  if (next) changes.push({ type: "put", key: runKeys(head.id).next, value: next.head.id })
  for (const entry of heldBack) {
    changes.push(putPosition(entry, { ...entry.position, ...(entry === next && { after: head.id }), held: true }))
  }
  return [changes, guard]
}

/** Releases the runs that are held back; returns the first run of the queue. */
export async function releaseHeldBackRuns(store: Store, agent: string, session: string): Promise<string | undefined> {
  for (;;) {
    const { guard, last, before, pending } = await readQueue(store, agent, session)
    const heldBack = pending.filter((entry) => isHeldBack(entry, before))
    if (heldBack.length === 0 || last === undefined) return pending[0]?.head.id
    const changes = heldBack.map((entry) => {
      const { held: _, mayFollow: __, ...position } = entry.position
      return putPosition(entry, { ...position, ...(before && hasEnded(before) && { mayFollow: before.id }) })
    })
    try {
      await store.commit([...changes, { type: "put", key: guard.key, value: last }], guard)
      return pending[0]?.head.id
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

/** Returns true if the runs before it in its session have ended and it is not held back. */
export async function mayStart(store: Store, head: RunHead): Promise<boolean> {
  if (head.state || head.session === undefined) return true
  const before = await previousRun(store, head, wasAbortedInQueue)
  if (before && (before.lease !== undefined || !hasEnded(before))) return false
  return !isHeldBack({ head, position: await readPosition(store, head.id) }, before)
}

/** The nearest earlier run of the same session for which `isSkipped` is false. */
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

/** The id of the run before it in its session. */
export async function previousRunId(store: Store, head: RunHead): Promise<string | undefined> {
  if (head.session === undefined || head.fence > 0) return head.after
  return (await readPosition(store, head.id)).after ?? head.after
}

// The run before an aborted queued run may still be under way.
const wasAbortedInQueue = (head: RunHead) => head.fence === 0 && hasEnded(head)

function isHeldBack({ head, position }: PendingRun, before: RunHead | undefined): boolean {
  if (position.held) return true
  if (!head.isQueued || !before) return false
  return (before.status === "failed" || before.status === "aborted") && position.mayFollow !== before.id
}

/** Reads the queue of a session as it is stored. */
export async function readQueue(store: Store, agent: string, session: string): Promise<StoredQueue> {
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
    const position = await readPosition(store, id)
    if (!hasEnded(head)) queue.pending.unshift({ head, position })
    id = position.after ?? head.after
  }
  return queue
}

async function readPosition(store: Store, id: string): Promise<QueuePosition> {
  // Only `putPosition` writes this key.
  return ((await store.get(runKeys(id).place))?.value ?? {}) as QueuePosition
}

function putPosition({ head }: PendingRun, position: QueuePosition): StoreChange {
  return { type: "put", key: runKeys(head.id).place, value: position as Json }
}
