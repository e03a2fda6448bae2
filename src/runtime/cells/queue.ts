export interface Queue {
  /** Does a job when all jobs before it are done. A signal that fires first makes it leave the queue and reject. */
  enter<T>(job: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T>
  /** Sends everybody who waits home. */
  refuse(error: Error): void
  /** Whether a job is being done. */
  readonly busy: boolean
}

/** First come, first served, one at a time. */
export function createQueue(): Queue {
  const waiting = new Set<Turn>()

  const turn = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(mine)
        reject(signal?.reason)
      }
      const mine: Turn = {
        take() {
          signal?.removeEventListener("abort", leave)
          resolve()
        },
        refuse(error) {
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
          next.take()
        } else queue.busy = false
      }
    },
    refuse(error: Error) {
      for (const turn of waiting) turn.refuse(error)
      waiting.clear()
    },
  }
  return queue
}

interface Turn {
  take(): void
  refuse(error: Error): void
}
