// A queue of jobs that run one at a time, in the order in which they came.
import { onAbort } from "../core/abort.ts"
import { AgentError } from "../core/errors.ts"

export interface CellQueue {
  /** Runs a job after all earlier ones. If the signal fires first, the job leaves the queue and the promise rejects. */
  enter<T>(job: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T>
  /** Rejects all waiting jobs. */
  refuse(error: Error): void
  /** Whether a job is running. */
  readonly busy: boolean
}

export function createCellQueue(): CellQueue {
  const waiting = new Set<WaitingJob>()

  const waitInQueue = (signal: AbortSignal | undefined) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waitingJob: WaitingJob = { start: resolve, reject }
    waiting.add(waitingJob)
    const stopListening =
      signal &&
      onAbort(signal, () => {
        waiting.delete(waitingJob)
        reject(signal.reason)
      })
    return promise.finally(stopListening)
  }

  const queue = {
    busy: false,
    async enter<T>(job: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
      if (queue.busy) await waitInQueue(signal)
      queue.busy = true
      try {
        return await job()
      } finally {
        const [next] = waiting
        // `busy` stays true between two jobs, so that no new job starts before the next waiting one.
        if (next) {
          waiting.delete(next)
          next.start()
        } else queue.busy = false
      }
    },
    refuse(error: Error) {
      for (const job of waiting) job.reject(error)
      waiting.clear()
    },
  }
  return queue
}

/** The error of an operation on a closed runtime; `maker` is the function that makes such runtimes. */
export function closedRuntimeError(maker: string, operation: string): AgentError {
  const message = `${operation} came too late: this ${maker} is closed. Make another one with ${maker}().`
  return new AgentError(message, { code: "closed" })
}

interface WaitingJob {
  start(): void
  reject(error: Error): void
}
