// Writes for a claimed run: its head and its journal, guarded by the lease, which it renews.
import type { Json } from "../../core/json.ts"
import { serialQueue } from "../../core/serial.ts"
import { timerMs } from "../../core/time-limit.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import { conflictError } from "../../stores/store-errors.ts"
import { hasEnded, headChanges, type RunHead, runKeys, type StoredRunHead } from "../checkpoint.ts"
import { claimedHead } from "./claim-run.ts"
import type { Owner } from "./run-owner.ts"

/** A run that this worker has claimed. Each write is guarded by the revision of the one before, so it is refused once
 *  another worker has claimed the run. */
export interface HeldRun {
  readonly head: RunHead
  /** The revision of the claim or of the last commit. */
  readonly revision: number
  /** Writes the head and the pending journal entries. With `endsCycle` these entries are dropped, because they will not
   *  be read again. `changes` may be computed from the head that is written. */
  commit(next: (head: RunHead) => RunHead, changes?: Changes, options?: { endsCycle?: boolean }): Promise<void>
  /** Appends to the journal; calls at the same time share one write. With nothing to write, it is `checkHeld`. */
  appendNow(items: readonly Json[]): Promise<void>
  /** Rejects if this worker has lost the run. Reads the store only if the lease was not renewed a short time ago. */
  checkHeld(): Promise<void>
  /** Appends to the journal with the next write, or a few milliseconds later. */
  appendSoon(items: readonly Json[]): void
  /** Claims a parked run again; throws a `ConflictError` if another process has changed it since. */
  reclaim(owner: Owner): Promise<void>
  /** Fires when a write was refused or failed: the run then continues from its stored state, perhaps in another
   *  process. */
  readonly lost: AbortSignal
  /** Stops to renew the lease. */
  stopRenewing(): void
}

type Changes = StoreChange[] | ((next: RunHead) => StoreChange[])

export function holdRun(
  store: Store,
  first: StoredRunHead,
  { leaseMs, journalLength }: { leaseMs: number; journalLength: number },
): HeldRun {
  const keys = runKeys(first.head.id)
  const lost = new AbortController()
  let { head, revision } = first
  let written = journalLength
  // When the last write of the head was sent. Unknown for the claim.
  let renewedAt = -Infinity
  const writes = serialQueue()
  let pending: Json[] = []
  let flushing: Promise<void> | undefined
  let flushTimer: NodeJS.Timeout | undefined
  let renewal = renew()

  function renew(): NodeJS.Timeout {
    return setInterval(() => commit((now) => now).catch(() => undefined), timerMs(leaseMs / 3)).unref()
  }

  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    return writes(async () => {
      if (lost.signal.aborted) throw lost.signal.reason
      try {
        return await work()
      } catch (error) {
        stopRenewing()
        lost.abort(error)
        throw error
      }
    })
  }

  function commit(
    next: (head: RunHead) => RunHead,
    changes: Changes = [],
    { endsCycle = false }: { endsCycle?: boolean } = {},
  ): Promise<void> {
    return inOrder(async () => {
      const journal = takePending(endsCycle)
      const changed = { ...next(head), updatedAt: Date.now() }
      if (endsCycle) changed.journal = written
      const ends = hasEnded(changed) || changed.state?.end !== undefined
      const more = typeof changes === "function" ? changes(changed) : changes
      const sentAt = performance.now()
      revision = await write([...journal, ...more, ...headChanges(changed, head)], ends)
      head = changed
      renewedAt = sentAt
    })
  }

  function flush(): Promise<void> {
    flushing ??= inOrder(async () => {
      flushing = undefined
      const journal = takePending(false)
      if (journal.length > 0) await write(journal)
      else if (!isLeaseFresh()) await readRevision()
    })
    return flushing
  }

  function takePending(isDropped: boolean): StoreChange[] {
    clearTimeout(flushTimer)
    flushTimer = undefined
    const items = pending
    pending = []
    if (isDropped || items.length === 0) return []
    written += items.length
    return [{ type: "append", log: keys.journal, items }]
  }

  // No other worker claims a run that is `running` before its lease is over. After a suspension of the machine only the
  // wall clock shows the time that has passed, and that clock may be set.
  function isLeaseFresh(): boolean {
    const silentMs = Math.max(performance.now() - renewedAt, Math.abs(Date.now() - head.updatedAt))
    return head.status === "running" && !lost.signal.aborted && silentMs < leaseMs / 2
  }

  async function readRevision(): Promise<void> {
    const found = await store.get(keys.head)
    if (found?.revision !== revision)
      throw conflictError({ key: keys.head, ifRevision: revision }, found?.revision ?? 0)
  }

  function write(changes: readonly StoreChange[], evenIfFull = false): Promise<number> {
    return store.commit(changes, { key: keys.head, ifRevision: revision }, { evenIfFull })
  }

  function stopRenewing(): void {
    clearInterval(renewal)
    clearTimeout(flushTimer)
    flushTimer = undefined
  }

  return {
    get head() {
      return head
    },
    get revision() {
      return revision
    },
    commit,
    appendNow(items) {
      pending.push(...items)
      return flush()
    },
    // Some calls write nothing before they are made. A worker that has lost the run must not make these either.
    async checkHeld() {
      if (!isLeaseFresh()) await inOrder(readRevision)
    },
    appendSoon(items) {
      pending.push(...items)
      flushTimer ??= setTimeout(() => flush().catch(() => undefined), flushDelayMs).unref()
    },
    async reclaim(owner) {
      await commit((head) => claimedHead(head, { owner, leaseMs }))
      renewal = renew()
    },
    lost: lost.signal,
    stopRenewing,
  }
}

// Most cycles without calls end sooner, and then need only one write.
const flushDelayMs = 5
