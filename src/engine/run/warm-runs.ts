// Keeps runs in memory between two jobs, so that the next slice need not load them again.
import { type KeyedSerialQueue, keyedSerialQueue } from "../../core/serial.ts"
import type { SliceEnd } from "./slice.ts"

/** The runs of this worker. One job at a time executes a run, and between two jobs some runs stay in memory with their
 *  objects and their conversation. */
export interface WarmRuns {
  /** Does work on a run while no other work on it is done here. */
  runExclusively: KeyedSerialQueue
  /** Keeps a run in memory until its next job. If there are too many, the oldest one is closed. */
  park(id: string, run: WarmRun): void
  take(id: string): WarmRun | undefined
  /** Closes a parked run that will not be continued here. */
  discard(id: string): void
  /** Closes all of them. */
  close(): Promise<void>
}

export interface WarmRun {
  /** Claims the run again and continues it. Resolves to undefined if another process has changed it: then it is
   *  closed. */
  resume(): Promise<SliceEnd | undefined>
  close(): Promise<void>
}

export function createWarmRuns(maxParked: number): WarmRuns {
  const parked = new Map<string, { run: WarmRun; timer: NodeJS.Timeout }>()
  const closing = new Set<Promise<void>>()

  function take(id: string): WarmRun | undefined {
    const found = parked.get(id)
    parked.delete(id)
    clearTimeout(found?.timer)
    return found?.run
  }

  function discard(id: string): void {
    const run = take(id)
    if (!run) return
    // Its outcome no longer matters.
    const work = run.close().catch(() => undefined)
    closing.add(work)
    void work.then(() => closing.delete(work))
  }

  return {
    runExclusively: keyedSerialQueue(),
    park(id, run) {
      parked.set(id, { run, timer: setTimeout(() => discard(id), parkedForMs).unref() })
      const [oldest] = parked.keys()
      if (parked.size > maxParked && oldest !== undefined) discard(oldest)
    },
    take,
    discard,
    async close() {
      for (const id of [...parked.keys()]) discard(id)
      await Promise.all(closing)
    },
  }
}

// A run without a job by then continues in another process, or will wait for long.
const parkedForMs = 30_000
