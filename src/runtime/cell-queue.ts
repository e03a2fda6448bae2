export interface CellQueue {
  /** Does a job when all jobs before it are done. A signal that fires first makes it leave the queue and reject. */
  enter<T>(job: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T>
  /** Sends everybody who waits home. */
  refuse(error: Error): void
  /** Whether a job is being done. */
  readonly busy: boolean
}

/** First come, first served, one at a time. */
export function createCellQueue(): CellQueue {
  const waiting = new Set<WaitingJob>()

  const turn = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(mine)
        reject(signal?.reason)
      }
      const mine: WaitingJob = {
        start() {
          signal?.removeEventListener("abort", leave)
          resolve()
        },
        reject(error) {
          signal?.removeEventListener("abort", leave)
          reject(error)
        },
      }
      waiting.add(mine)
      if (signal?.aborted) leave()
      else signal?.addEventListener("abort", leave, { once: true })
    })

  const queue = {
    busy: false,
    async enter<T>(job: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
      if (queue.busy) await turn(signal)
      queue.busy = true
      try {
        return await job()
      } finally {
        const [next] = waiting
        // `busy` stays set while the turn changes hands, so that nobody slips in between.
        if (next) {
          waiting.delete(next)
          next.start()
        } else queue.busy = false
      }
    },
    refuse(error: Error) {
      for (const turn of waiting) turn.reject(error)
      waiting.clear()
    },
  }
  return queue
}

interface WaitingJob {
  start(): void
  reject(error: Error): void
}
