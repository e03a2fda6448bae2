import { ConfigError } from "../../core/errors.ts"
import { heldCode, type Job, type JobHandler, type StopWorking } from "./backend.ts"
import type { ErrorReporter } from "./error-reporter.ts"

/** Jobs in this process's memory, and those who take them. */
export interface JobQueue {
  push(job: Job): void
  /** Lets `handle` take jobs, the one with the fewest under way first. */
  attach(handle: JobHandler, concurrency: number): StopWorking
  size(): number
}

export function createJobQueue(report: ErrorReporter): JobQueue {
  const waiting = new Map<string, QueuedJob>()
  const resting = new Map<string, DelayedJob>()
  const underWay = new Set<string>()
  const takers = new Set<Consumer>()

  function dispatch(): void {
    for (;;) {
      const taker = leastBusy(takers)
      const next = taker && firstFreeJob(waiting, underWay)
      if (!next) return
      waiting.delete(next.job.run)
      begin(next, taker)
    }
  }

  function begin(next: QueuedJob, taker: Consumer): void {
    underWay.add(next.job.run)
    const work = attempt(next, taker.handle).then(() => {
      taker.work.delete(work)
      underWay.delete(next.job.run)
      dispatch()
    })
    taker.work.add(work)
  }

  /** Never rejects: what goes wrong is told, and the job comes again. */
  async function attempt(next: QueuedJob, handle: JobHandler): Promise<void> {
    // It counts as under way before it begins, because it may push at once.
    await undefined
    try {
      await handle(next.job)
    } catch (error) {
      report(error, next.job)
      rest({ ...next, failures: next.failures + 1 }, error)
    }
  }

  function rest(next: QueuedJob, error: unknown): void {
    const { run } = next.job
    if (waiting.has(run)) return
    // Without a taker there is nothing to wait for, and no timer must keep the process.
    if (takers.size === 0) return void waiting.set(run, next)
    const ready = () => {
      resting.delete(run)
      waiting.set(run, next)
      dispatch()
    }
    resting.set(run, { next, timer: setTimeout(ready, retryDelayMs(next.failures, error)) })
  }

  function wakeAll(): void {
    for (const { next, timer } of resting.values()) {
      clearTimeout(timer)
      waiting.set(next.job.run, next)
    }
    resting.clear()
  }

  return {
    push(job) {
      const found = waiting.get(job.run) ?? resting.get(job.run)?.next
      if (found) found.job = job
      else waiting.set(job.run, { job, failures: 0 })
      dispatch()
    },
    attach(handle, concurrency) {
      checkConcurrency(concurrency)
      const taker: Consumer = { handle, concurrency, work: new Set() }
      takers.add(taker)
      dispatch()
      return async () => {
        takers.delete(taker)
        if (takers.size === 0) wakeAll()
        while (taker.work.size > 0) await Promise.all(taker.work)
      }
    },
    size: () => waiting.size + resting.size,
  }
}

/** How long a job rests that failed so many times, the last time with this error. */
export function retryDelayMs(failures: number, error?: unknown): number {
  if (error instanceof Error && "code" in error && error.code === heldCode) return heldRetryMs
  return Math.min(100 * 2 ** (failures - 1), 30_000)
}

const heldRetryMs = 500

export function checkConcurrency(concurrency: number): void {
  if (Number.isInteger(concurrency) && concurrency > 0) return
  throw new ConfigError(`The concurrency of a worker is a whole number above 0, not ${concurrency}.`)
}

interface QueuedJob {
  job: Job
  failures: number
}

interface DelayedJob {
  next: QueuedJob
  timer: NodeJS.Timeout
}

interface Consumer {
  handle: JobHandler
  concurrency: number
  work: Set<Promise<void>>
}

function firstFreeJob(waiting: Map<string, QueuedJob>, underWay: Set<string>): QueuedJob | undefined {
  for (const next of waiting.values()) if (!underWay.has(next.job.run)) return next
  return undefined
}

function leastBusy(takers: Set<Consumer>): Consumer | undefined {
  let best: Consumer | undefined
  for (const taker of takers) {
    if (taker.work.size < taker.concurrency && taker.work.size < (best?.work.size ?? Infinity)) best = taker
  }
  return best
}
