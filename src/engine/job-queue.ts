import { ConfigError } from "../core/errors.ts"
import type { Handle, Job, Stop } from "./backend.ts"
import type { Report } from "./report.ts"

/** Jobs in this process's memory, and those who take them. */
export interface JobQueue {
  push(job: Job): void
  /** Lets `handle` take jobs, the one with the fewest under way first. */
  attach(handle: Handle, concurrency: number): Stop
  size(): number
}

export function createJobQueue(report: Report): JobQueue {
  const waiting: Waiting[] = []
  const resting = new Map<Waiting, NodeJS.Timeout>()
  const takers = new Set<Taker>()

  function dispatch(): void {
    for (let taker = freest(takers); taker && waiting.length > 0; taker = freest(takers)) {
      const next = waiting.shift()
      if (next) begin(next, taker)
    }
  }

  function begin(next: Waiting, taker: Taker): void {
    const work = attempt(next, taker.handle)
    taker.underWay.add(work)
    work.finally(() => {
      taker.underWay.delete(work)
      dispatch()
    })
  }

  /** Never rejects: what goes wrong is told, and the job comes again. */
  async function attempt(next: Waiting, handle: Handle): Promise<void> {
    // It counts as under way before it begins, because it may push at once.
    await undefined
    try {
      await handle(next.job)
    } catch (error) {
      report(error, next.job)
      rest(next)
    }
  }

  function rest(next: Waiting): void {
    next.failures += 1
    if (takers.size === 0) return void waiting.push(next)
    const ready = () => {
      resting.delete(next)
      waiting.push(next)
      dispatch()
    }
    resting.set(next, setTimeout(ready, waitMs(next.failures)))
  }

  // Without a taker there is nothing to wait for, and no timer must keep the process.
  function wakeAll(): void {
    for (const [next, timer] of resting) {
      clearTimeout(timer)
      waiting.push(next)
    }
    resting.clear()
  }

  return {
    push(job) {
      waiting.push({ job, failures: 0 })
      dispatch()
    },
    attach(handle, concurrency) {
      checkConcurrency(concurrency)
      const taker: Taker = { handle, concurrency, underWay: new Set() }
      takers.add(taker)
      dispatch()
      return async () => {
        takers.delete(taker)
        while (taker.underWay.size > 0) await Promise.all(taker.underWay)
        if (takers.size === 0) wakeAll()
      }
    },
    size: () => waiting.length + resting.size,
  }
}

/** How long a job rests that failed so many times. */
export function waitMs(failures: number): number {
  return Math.min(100 * 2 ** (failures - 1), 30_000)
}

export function checkConcurrency(concurrency: number): void {
  if (Number.isInteger(concurrency) && concurrency > 0) return
  throw new ConfigError(`The concurrency of a worker is a whole number above 0, not ${concurrency}.`)
}

interface Waiting {
  job: Job
  failures: number
}

interface Taker {
  handle: Handle
  concurrency: number
  underWay: Set<Promise<void>>
}

function freest(takers: Set<Taker>): Taker | undefined {
  const free = [...takers].filter(({ underWay, concurrency }) => underWay.size < concurrency)
  return free.reduce<Taker | undefined>(
    (best, taker) => (best && best.underWay.size <= taker.underWay.size ? best : taker),
    undefined,
  )
}
