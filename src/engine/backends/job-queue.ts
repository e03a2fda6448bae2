// A job queue in memory, for the inline and the worker backend.
import { ConfigError } from "../../core/errors.ts"
import { heldCode, type Job, type JobHandler, type StopWorking } from "./backend.ts"
import type { ErrorReporter } from "./error-reporter.ts"

/** Jobs in the memory of this process, and the consumers that handle them. */
export interface JobQueue {
  push(job: Job): void
  /** Adds a consumer. A job goes to the consumer with the fewest jobs under way. */
  attach(handle: JobHandler, maxParallel: number): StopWorking
  size(): number
}

export function createJobQueue(report: ErrorReporter): JobQueue {
  const waiting = new Map<string, QueuedJob>()
  const delayed = new Map<string, { next: QueuedJob; timer: NodeJS.Timeout }>()
  const underWay = new Set<string>()
  const consumers = new Set<Consumer>()

  function dispatch(): void {
    for (;;) {
      const consumer = leastBusy(consumers)
      const next = consumer && firstFreeJob(waiting, underWay)
      if (!next) return
      waiting.delete(next.job.run)
      startJob(next, consumer)
    }
  }

  function startJob(next: QueuedJob, consumer: Consumer): void {
    underWay.add(next.job.run)
    const work = attempt(next, consumer.handle).then(() => {
      consumer.work.delete(work)
      underWay.delete(next.job.run)
      dispatch()
    })
    consumer.work.add(work)
  }

  /** Never rejects: a failure is reported, and the job is queued again after a delay. */
  async function attempt(next: QueuedJob, handle: JobHandler): Promise<void> {
    // The job counts as under way before its handler starts, because the handler may push at once.
    await undefined
    try {
      await handle(next.job)
    } catch (error) {
      report(error, next.job)
      delay({ ...next, failures: next.failures + 1 }, error)
    }
  }

  function delay(next: QueuedJob, error: unknown): void {
    const { run } = next.job
    if (waiting.has(run)) return
    // Without a consumer no timer is set, because it would keep the process alive.
    if (consumers.size === 0) return void waiting.set(run, next)
    const ready = () => {
      delayed.delete(run)
      waiting.set(run, next)
      dispatch()
    }
    delayed.set(run, { next, timer: setTimeout(ready, retryDelayMs(next.failures, error)) })
  }

  function queueDelayed(): void {
    for (const { next, timer } of delayed.values()) {
      clearTimeout(timer)
      waiting.set(next.job.run, next)
    }
    delayed.clear()
  }

  return {
    push(job) {
      const found = waiting.get(job.run) ?? delayed.get(job.run)?.next
      if (found) found.job = job
      else waiting.set(job.run, { job, failures: 0 })
      dispatch()
    },
    attach(handle, maxParallel) {
      checkMaxParallel(maxParallel)
      const consumer: Consumer = { handle, maxParallel, work: new Set() }
      consumers.add(consumer)
      dispatch()
      return async () => {
        consumers.delete(consumer)
        if (consumers.size === 0) queueDelayed()
        while (consumer.work.size > 0) await Promise.all(consumer.work)
      }
    },
    size: () => waiting.size + delayed.size,
  }
}

/** The delay before the next attempt of a job that failed so many times, the last time with this error. */
export function retryDelayMs(failures: number, error?: unknown): number {
  if (error instanceof Error && "code" in error && error.code === heldCode) return heldRetryMs
  return Math.min(100 * 2 ** (failures - 1), 30_000)
}

const heldRetryMs = 500

export function checkMaxParallel(maxParallel: number): void {
  if (Number.isInteger(maxParallel) && maxParallel > 0) return
  throw new ConfigError(`maxParallel of a worker is a whole number above 0, not ${maxParallel}.`)
}

interface QueuedJob {
  job: Job
  failures: number
}

interface Consumer {
  handle: JobHandler
  maxParallel: number
  work: Set<Promise<void>>
}

function firstFreeJob(waiting: Map<string, QueuedJob>, underWay: Set<string>): QueuedJob | undefined {
  for (const next of waiting.values()) if (!underWay.has(next.job.run)) return next
  return undefined
}

function leastBusy(consumers: Set<Consumer>): Consumer | undefined {
  let best: Consumer | undefined
  for (const consumer of consumers) {
    if (consumer.work.size < consumer.maxParallel && consumer.work.size < (best?.work.size ?? Infinity)) best = consumer
  }
  return best
}
