import type { State } from "../agent/state.ts"
import type { Decision } from "../core/agent.ts"
import { AgentError, ConflictError } from "../core/errors.ts"
import type { CallPreview, Metadata, Pending, Status } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { Lost, Runtime } from "../runtime/runtime.ts"
import type { Change, Store } from "../stores/store.ts"
import type { Definition } from "./definition.ts"
import { isGone, type Owner } from "./owner.ts"

export type RunStatus = Status | "queued" | "running"

export const runStatuses: readonly RunStatus[] = [
  "queued",
  "running",
  "waiting",
  "done",
  "stopped",
  "aborted",
  "failed",
]

/** The small head of a run in a store, JSON: everything that changes with each step. What was said is in the log of
 *  events; what the cycle under way has done, in the journal. */
export interface Head {
  version: 1
  id: string
  agent: string
  key?: string
  session?: string
  /** The run of the same session before it. */
  after?: string
  status: RunStatus
  /** Absent until the run has begun. */
  state?: State
  /** The run whose first event has the system prompt. */
  systemRun?: string
  /** The names the model was told about. */
  told: string[]
  /** What the user has said and the model has not heard. */
  unheard: string[]
  metadata: Metadata
  createdAt: number
  updatedAt: number
  /** How many events are stored, and the number of the next. */
  stored: number
  seq: number
  /** Where the journal of the cycle under way begins. */
  journal: number
  /** How much of the inbox was read. */
  inbox: number
  snapshot?: SnapshotNote
  definition?: Definition
  pending?: Pending
  /** The calls that wait for approval, and those answered since. */
  asked: AskedApproval[]
  lease?: Lease
  /** Counts up with each claim. */
  fence: number
  /** Randomness and idempotency keys come from it. */
  seed: string
  /** Why no worker goes on with it. */
  refused?: string
}

export interface Lease {
  owner: Owner
  /** Milliseconds since the epoch. */
  until: number
}

export interface AskedApproval {
  key: string
  id: string
  call: CallPreview
  decision?: Decision
}

/** What belongs to the bytes of a snapshot. */
export interface SnapshotNote {
  hash: string
  language: Runtime["language"]
  lost: Lost[]
  /** Absent where the bytes were too many to keep. */
  kept: boolean
}

export interface StoredHead {
  head: Head
  revision: number
}

export const keysOf = (id: string) => ({
  head: `runs/${id}`,
  input: `runs/${id}/input`,
  events: `runs/${id}/events`,
  journal: `runs/${id}/journal`,
  inbox: `runs/${id}/inbox`,
  snapshot: `runs/${id}/snapshot`,
  /** The run of the same session that follows. */
  next: `runs/${id}/next`,
})

export const keyOfKey = (agent: string, key: string) => `keys/${agent}/${key}`

export async function readHead(store: Store, id: string): Promise<StoredHead | undefined> {
  const entry = await store.get(keysOf(id).head)
  if (!entry) return undefined
  const head = entry.value as unknown as Head
  if (head.version !== 1) {
    throw new AgentError(`Run ${id} was saved by another version of Karst (${head.version}). Go on with it there.`, {
      code: "version",
    })
  }
  return { head, revision: entry.revision }
}

/** The changes that make a head the stored one, its place in the lists included. */
export function headChanges(next: Head, before?: Head): Change[] {
  const changes: Change[] = [{ type: "put", key: keysOf(next.id).head, value: next as unknown as Json }]
  if (before?.status === next.status) return changes
  if (before) changes.push({ type: "delete", key: statusKey(before.status, next.id) })
  changes.push({ type: "put", key: statusKey(next.status, next.id), value: next.createdAt })
  return changes
}

export const statusKey = (status: RunStatus, id: string) => `status/${status}/${id}`

/** Changes a head that nobody works on, or gives up where `change` gives nothing. Tries again when another was first. */
export async function changeHead(
  store: Store,
  id: string,
  change: (head: Head) => { head: Head; changes?: Change[] } | undefined,
): Promise<StoredHead | undefined> {
  for (;;) {
    const found = await readHead(store, id)
    if (!found) return undefined
    const changed = change(found.head)
    if (!changed) return undefined
    const changes = [...(changed.changes ?? []), ...headChanges(changed.head, found.head)]
    try {
      const revision = await store.commit(changes, { key: keysOf(id).head, ifRevision: found.revision })
      return { head: changed.head, revision }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

/** Takes a run that waits for a worker, or whose worker is gone; undefined where there is nothing to take. */
export function claimRun(
  store: Store,
  id: string,
  { owner, leaseMs }: { owner: Owner; leaseMs: number },
): Promise<StoredHead | undefined> {
  return changeHead(store, id, (head) => {
    if (!isClaimable(head)) return undefined
    const { refused: _, ...rest } = head
    const lease = { owner, until: Date.now() + leaseMs }
    return { head: { ...rest, status: "running", lease, fence: head.fence + 1, updatedAt: Date.now() } }
  })
}

export const hasEnded = ({ status }: Head) => ["done", "stopped", "aborted", "failed"].includes(status)

export const isUnderWay = ({ status }: Head) => status === "queued" || status === "running"

export function isClaimable({ status, lease }: Head): boolean {
  if (status === "queued") return true
  return status === "running" && (!lease || lease.until < Date.now() || isGone(lease.owner))
}

/** A run that this worker holds. Each write goes on from the one before and is refused once another worker holds it. */
export interface HeldRun {
  readonly head: Head
  /** What was claimed, or committed last. */
  readonly revision: number
  commit(next: (head: Head) => Head, changes?: Change[]): Promise<void>
  /** Appends to the journal; what comes together is written together. */
  append(items: readonly Json[]): Promise<void>
  /** How long the journal is with everything appended so far. */
  journalLength(): number
  /** Fires when a write was refused or failed: the run goes on from what is stored, perhaps elsewhere. */
  readonly lost: AbortSignal
  /** Ends the renewals. */
  letGo(): void
}

export function holdRun(
  store: Store,
  claimed: StoredHead,
  { leaseMs, journalLength }: { leaseMs: number; journalLength: number },
): HeldRun {
  const keys = keysOf(claimed.head.id)
  const lost = new AbortController()
  let { head, revision } = claimed
  let written = journalLength
  let tail: Promise<unknown> = Promise.resolve()
  let batch: Json[] = []
  let flushing: Promise<void> | undefined
  const renewing = setInterval(() => commit((now) => now).catch(() => undefined), leaseMs / 3)
  renewing.unref()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = tail.then(async () => {
      if (lost.signal.aborted) throw lost.signal.reason
      try {
        return await work()
      } catch (error) {
        lost.abort(error)
        clearInterval(renewing)
        throw error
      }
    })
    tail = result.catch(() => undefined)
    return result
  }

  function commit(next: (head: Head) => Head, changes: Change[] = []): Promise<void> {
    return inTurn(async () => {
      const changed = { ...next(head), updatedAt: Date.now() }
      if (changed.lease) changed.lease = { ...changed.lease, until: Date.now() + leaseMs }
      const guard = { key: keys.head, ifRevision: revision }
      revision = await store.commit([...changes, ...headChanges(changed, head)], guard)
      head = changed
    })
  }

  return {
    get head() {
      return head
    },
    get revision() {
      return revision
    },
    commit,
    append(items) {
      batch.push(...items)
      written += items.length
      flushing ??= inTurn(async () => {
        const items = batch
        batch = []
        flushing = undefined
        const guard = { key: keys.head, ifRevision: revision }
        await store.commit([{ type: "append", log: keys.journal, items }], guard)
      })
      return flushing
    },
    journalLength: () => written,
    lost: lost.signal,
    letGo: () => clearInterval(renewing),
  }
}
