import type { Json } from "../../core/json.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import { conflictError } from "../../stores/store-errors.ts"
import { hasEnded, headChanges, type RunHead, runKeys, type StoredRunHead } from "../checkpoint.ts"
import { claimedHead } from "./claim-run.ts"
import type { Owner } from "./run-owner.ts"

/** A run that this worker holds. Each write goes on from the one before and is refused once another worker holds it. */
export interface HeldRun {
  readonly head: RunHead
  /** What was claimed, or committed last. */
  readonly revision: number
  /** Writes the head, with what is noted for the journal. With `endsCycle` that is left out: nobody reads it any more.
   *  `changes` may follow from the head that is written. */
  commit(next: (head: RunHead) => RunHead, changes?: Changes, options?: { endsCycle?: boolean }): Promise<void>
  /** Appends to the journal; what comes together is written together. Where there is nothing to write, it is only checked that
   *  this worker holds the run. */
  appendNow(items: readonly Json[]): Promise<void>
  /** The same, a little later: with the next write, or by itself when none comes soon. */
  appendSoon(items: readonly Json[]): void
  /** Takes a run again that was let go and that nobody has touched since; throws a `ConflictError` where somebody has. */
  reclaim(owner: Owner): Promise<void>
  /** Fires when a write was refused or failed: the run goes on from what is stored, perhaps elsewhere. */
  readonly lost: AbortSignal
  /** Ends the renewals. */
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
  let tail: Promise<unknown> = Promise.resolve()
  let noted: Json[] = []
  let flushing: Promise<void> | undefined
  let soon: NodeJS.Timeout | undefined
  let renewing = renew()

  function renew(): NodeJS.Timeout {
    return setInterval(() => commit((now) => now).catch(() => undefined), leaseMs / 3).unref()
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = tail.then(async () => {
      if (lost.signal.aborted) throw lost.signal.reason
      try {
        return await work()
      } catch (error) {
        letGo()
        lost.abort(error)
        throw error
      }
    })
    tail = result.catch(() => undefined)
    return result
  }

  function commit(
    next: (head: RunHead) => RunHead,
    changes: Changes = [],
    { endsCycle = false }: { endsCycle?: boolean } = {},
  ): Promise<void> {
    return inTurn(async () => {
      const journal = takeNoted(endsCycle)
      const changed = { ...next(head), updatedAt: Date.now() }
      if (endsCycle) changed.journal = written
      const ends = hasEnded(changed) || changed.state?.end !== undefined
      const more = typeof changes === "function" ? changes(changed) : changes
      revision = await write([...journal, ...more, ...headChanges(changed, head)], ends)
      head = changed
    })
  }

  function flush(): Promise<void> {
    flushing ??= inTurn(async () => {
      flushing = undefined
      const journal = takeNoted(false)
      if (journal.length > 0) await write(journal)
      else await checkHeld()
    })
    return flushing
  }

  function takeNoted(isOver: boolean): StoreChange[] {
    clearTimeout(soon)
    soon = undefined
    const items = noted
    noted = []
    if (isOver || items.length === 0) return []
    written += items.length
    return [{ type: "append", log: keys.journal, items }]
  }

  // For a call of which nothing is written beforehand: a worker that lost the run must not make it either.
  async function checkHeld(): Promise<void> {
    const found = await store.get(keys.head)
    if (found?.revision !== revision)
      throw conflictError({ key: keys.head, ifRevision: revision }, found?.revision ?? 0)
  }

  function write(changes: readonly StoreChange[], evenIfFull = false): Promise<number> {
    return store.commit(changes, { key: keys.head, ifRevision: revision }, { evenIfFull })
  }

  function letGo(): void {
    clearInterval(renewing)
    clearTimeout(soon)
    soon = undefined
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
      noted.push(...items)
      return flush()
    },
    appendSoon(items) {
      noted.push(...items)
      soon ??= setTimeout(() => flush().catch(() => undefined), flushDelayMs).unref()
    },
    async reclaim(owner) {
      await commit((head) => claimedHead(head, { owner, leaseMs }))
      renewing = renew()
    },
    lost: lost.signal,
    stopRenewing: letGo,
  }
}

// Most cycles that do nothing outside are over sooner, and then cost one write.
const flushDelayMs = 5
