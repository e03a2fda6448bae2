import type { SliceEnd } from "./slice.ts"

/** The runs that this worker has in hand: each is worked on by one job at a time, and some stay as they are between two,
 *  with their objects and their conversation. */
export interface WarmRuns {
  /** Does something about a run when nothing else is done about it here. */
  runExclusively<T>(id: string, work: () => Promise<T>): Promise<T>
  /** Keeps a run that is between two jobs; of too many, the one that was kept longest is closed. */
  park(id: string, run: WarmRun): void
  take(id: string): WarmRun | undefined
  /** Closes one that nobody goes on with. */
  discard(id: string): void
  /** Closes all of them. */
  close(): Promise<void>
}

export interface WarmRun {
  /** Goes on, as the holder of the run; undefined when somebody has touched it meanwhile: then it is closed. */
  resume(): Promise<SliceEnd | undefined>
  close(): Promise<void>
}

export function createWarmRuns(most: number): WarmRuns {
  const working = new Map<string, Promise<unknown>>()
  const kept = new Map<string, { run: WarmRun; timer: NodeJS.Timeout }>()
  const closing = new Set<Promise<void>>()

  function take(id: string): WarmRun | undefined {
    const found = kept.get(id)
    kept.delete(id)
    clearTimeout(found?.timer)
    return found?.run
  }

  function drop(id: string): void {
    const run = take(id)
    if (!run) return
    // How it ends is of no interest any more.
    const work = run.close().catch(() => undefined)
    closing.add(work)
    void work.then(() => closing.delete(work))
  }

  return {
    async runExclusively(id, work) {
      while (working.has(id)) await working.get(id)
      const done = work()
      const settled = done.then(
        () => undefined,
        () => undefined,
      )
      working.set(id, settled)
      try {
        return await done
      } finally {
        working.delete(id)
      }
    },
    park(id, run) {
      kept.set(id, { run, timer: setTimeout(() => drop(id), parkedForMs).unref() })
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) drop(oldest)
    },
    take,
    discard: drop,
    async close() {
      for (const id of [...kept.keys()]) drop(id)
      await Promise.all(closing)
    },
  }
}

// A run that has not come back by then goes on elsewhere, or has long to wait.
const parkedForMs = 30_000
