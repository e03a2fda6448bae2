// Decides when a slice has had its time.
/** Measures how long one job has worked on a run. */
export interface SliceTimer {
  /** How many cycles the run had when the slice began. */
  readonly cycle: number
  /** Resolves to true if the slice must end after the current cycle. */
  isOver(): Promise<boolean>
}

export interface SliceTimerSetup {
  sliceMs: number
  /** The number of other jobs that wait. */
  queued(): Promise<number>
  /** Fires when this worker must stop. */
  stopping: AbortSignal
  slots: { readonly isAloneWanted: boolean }
}

export function startSliceTimer({ sliceMs, queued, stopping, slots }: SliceTimerSetup, cycle = 0): SliceTimer {
  const startedAt = performance.now()
  let checkedAt = startedAt
  return {
    cycle,
    async isOver() {
      const now = performance.now()
      if (stopping.aborted || slots.isAloneWanted || now - startedAt >= sliceMs) return true
      if (now - checkedAt < queueCheckMs) return false
      checkedAt = now
      return (await queued()) > 0
    },
  }
}

// How often it is checked whether other jobs wait.
const queueCheckMs = 1_000
