import type { RunHead } from "../checkpoint.ts"

/** How long nothing was heard of runs, by the clock of this process alone: other machines have other clocks, and each of
 *  them may be set. A worker that holds a run changes its head now and then. */
export interface LeaseObserver {
  /** For how long, in milliseconds, the run was seen as it is now: 0 at the first sight. */
  silentFor(head: RunHead): number
}

export function createLeaseObserver(leaseMs: number): LeaseObserver {
  const seen = new Map<string, Observation>()
  const keptMs = Math.max(3 * leaseMs, 60_000)
  return {
    silentFor({ id, fence, updatedAt }) {
      const now = performance.now()
      const mark = `${fence} ${updatedAt}`
      const before = seen.get(id)
      const since = before?.mark === mark ? before.since : now
      // Those seen last are last, so that those which nobody looks at any more are found at the front.
      seen.delete(id)
      seen.set(id, { mark, since, seenAt: now })
      for (const [each, { seenAt }] of seen) {
        if (seenAt > now - keptMs) break
        seen.delete(each)
      }
      return now - since
    },
  }
}

interface Observation {
  mark: string
  since: number
  seenAt: number
}
