/** The time that one job spends on a run. */
export interface SliceTimer {
  /** How many cycles were done when it began. */
  readonly cycle: number
  /** Whether the job is to end after the current cycle. */
  isOver(): Promise<boolean>
}

export interface SliceTimerSetup {
  sliceMs: number
  /** How many other jobs wait. */
  queued(): Promise<number>
  /** Fires when this worker is to stop. */
  stopping: AbortSignal
  slots: { readonly isAloneWanted: boolean }
}

export function startSliceTimer({ sliceMs, queued, stopping, slots }: SliceTimerSetup, cycle = 0): SliceTimer {
  const began = performance.now()
  let looked = began
  return {
    cycle,
    async isOver() {
      const now = performance.now()
      if (stopping.aborted || slots.isAloneWanted || now - began >= sliceMs) return true
      if (now - looked < queueCheckMs) return false
      looked = now
      return (await queued()) > 0
    },
  }
}

// Other jobs wait at most this long for a run that could leave.
const queueCheckMs = 1_000
