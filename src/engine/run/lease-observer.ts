// Observes whether the workers of runs still renew their leases.
import type { RunHead } from "../checkpoint.ts"

/** Measures how long the head of a run has not changed. A worker that holds a run changes its head regularly. Only the
 *  clock of this process is used, because clocks of other machines differ and may be set. */
export interface LeaseObserver {
  /** How long, in milliseconds, this process has seen the head unchanged: 0 the first time. */
  silentFor(head: RunHead): number
}

export function createLeaseObserver(leaseMs: number): LeaseObserver {
  const seen = new Map<string, Observation>()
  const forgetAfterMs = Math.max(3 * leaseMs, 60_000)
  return {
    silentFor({ id, fence, updatedAt }) {
      const now = performance.now()
      const mark = `${fence} ${updatedAt}`
      const before = seen.get(id)
      const since = before?.mark === mark ? before.since : now
      // The map is in the order of the last observation, so outdated entries are at its front.
      seen.delete(id)
      seen.set(id, { mark, since, seenAt: now })
      for (const [each, { seenAt }] of seen) {
        if (seenAt > now - forgetAfterMs) break
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
