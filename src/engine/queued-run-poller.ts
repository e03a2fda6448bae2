// Polls the store for queued runs, for backends that are not shared between processes.
import type { Store } from "../stores/store.ts"
import { queuedMarkerKey } from "./checkpoint.ts"

export interface PollerSetup {
  store: Store
  /** The number of jobs that wait in this process. */
  queued(): Promise<number>
  /** Pushes jobs for the runs that wait for a worker. */
  recover(): Promise<unknown>
}

/** Checks twice a second whether any process has queued a run, and calls `recover` if so. A check costs one small read;
 *  the runs are listed only after a change, and not while jobs wait here anyway. Returns a function that stops the
 *  checks. */
export function pollForQueuedRuns({ store, queued, recover }: PollerSetup): () => void {
  let seenRevision: number | undefined
  let isChecking = false

  async function check(): Promise<void> {
    const revision = (await store.get(queuedMarkerKey))?.revision ?? 0
    if (revision === seenRevision || (await queued()) > 0) return
    await recover()
    seenRevision = revision
  }

  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    // If the store is unreachable, the next check tries again.
    check()
      .catch(() => undefined)
      .finally(() => (isChecking = false))
  }, pollMs).unref()
  return () => clearInterval(timer)
}

const pollMs = 500
