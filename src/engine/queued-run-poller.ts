import type { Store } from "../stores/store.ts"
import { queuedMarkerKey } from "./checkpoint.ts"

export interface PollerSetup {
  store: Store
  /** How many jobs wait in this process. */
  queued(): Promise<number>
  /** Takes the runs that wait for a worker. */
  recover(): Promise<unknown>
}

/** Looks twice a second whether a run was queued, by whichever process, and has it worked on. Looking costs one small read; the
 *  runs are only listed after a change, and not while jobs wait here anyway. Returns how to stop. */
export function pollForQueuedRuns({ store, queued, recover }: PollerSetup): () => void {
  let seen: number | undefined
  let isLooking = false

  async function look(): Promise<void> {
    const revision = (await store.get(queuedMarkerKey))?.revision ?? 0
    if (revision === seen || (await queued()) > 0) return
    await recover()
    seen = revision
  }

  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    // A store that is away is asked again at the next look.
    look()
      .catch(() => undefined)
      .finally(() => (isLooking = false))
  }, pollMs).unref()
  return () => clearInterval(timer)
}

const pollMs = 500
