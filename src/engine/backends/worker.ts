// The worker backend: a pool of child processes on this machine.
import { availableParallelism } from "node:os"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import * as check from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"
import { resultWithin } from "../../core/time-limit.ts"
import { backendChecks } from "../engine-option-checks.ts"
import type { Backend, BackendOptions, StopWorking } from "./backend.ts"
import { createErrorReporter, type ErrorReporter } from "./error-reporter.ts"
import { checkMaxParallel, createJobQueue, type JobQueue, retryDelayMs } from "./job-queue.ts"
import { currentPoolBackend } from "./worker-link.ts"
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts"

export interface WorkerBackendOptions extends BackendOptions {
  /** The module that exports `engine`, created with this backend: a path, or `import.meta.url` within the module. Each
   *  worker imports it and works for that engine, so importing it must only define things: submit runs from another
   *  module. */
  module: string | URL
  /** The number of processes. Default: the number of processors. */
  workers?: number | undefined
}

const workerChecks: check.OptionChecks<WorkerBackendOptions> = {
  ...backendChecks,
  module: check.mustBeEither("a path or URL", check.mustBeText, check.mustBeObject),
  workers: check.mustBeIntegerFrom(1),
}

/** Executes runs in a pool of processes on this machine, so that runs that keep a processor busy block neither each
 *  other nor this process. A worker that ends is replaced, and its jobs go to others. The queue is in the memory of
 *  this process: after a crash `engine.recover()` pushes the runs again. */
export function workerBackend(options: WorkerBackendOptions): Backend {
  const { module, workers = availableParallelism() } = options
  if (!module) throw new ConfigError("workerBackend needs the module that exports the engine, such as import.meta.url.")
  check.checkOptions("workerBackend()", options, workerChecks)
  // In a worker, the same module creates the same backend, which then represents the pool that the worker belongs to.
  const pool = currentPoolBackend()
  if (pool) return pool

  const report = createErrorReporter("workerBackend", options)
  const queue = createJobQueue(report)
  const address = moduleUrl(module)
  return {
    async push(job) {
      queue.push(job)
    },
    async start(_handle, { maxParallel }) {
      checkMaxParallel(maxParallel)
      const start = () => startWorkerProcess({ module: address, maxParallel, queue })
      return openPool({ start, workers, maxParallel, queue, report })
    },
    async countQueued() {
      return queue.size()
    },
  }
}

interface Pool {
  start: () => WorkerProcess
  workers: number
  maxParallel: number
  queue: JobQueue
  report: ErrorReporter
}

async function openPool(pool: Pool): Promise<StopWorking> {
  const workers = Array.from({ length: pool.workers }, () => superviseWorker(pool))
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= Promise.all(workers.map((worker) => worker.stop())).then(() => {}))
  try {
    await Promise.all(workers.map((worker) => worker.ready))
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

/** Keeps one worker of the pool running until it is stopped. `ready` rejects if the first process cannot work. */
function superviseWorker({ start, maxParallel, queue, report }: Pool): { ready: Promise<void>; stop: StopWorking } {
  const stopped = Promise.withResolvers<void>()
  let isStopped = false
  let worker = start()
  const ready = worker.ready
  const supervising = supervise()

  async function supervise(): Promise<void> {
    for (let failures = 0; ; worker = start()) {
      const isReady = await worker.ready.then(
        () => true,
        (error) => {
          // `ready` reports the failure of the first process.
          if (worker.ready !== ready) report(error)
          return false
        },
      )
      if (isReady && !isStopped) {
        const detach = queue.attach(worker.run, maxParallel)
        await Promise.race([worker.ended, stopped.promise])
        if (isStopped) worker.drain()
        await detach()
      }
      if (isStopped) return worker.end()
      failures = isReady ? 1 : failures + 1
      if (isReady) report(new Error("A worker process ended. Another takes its place."))
      await Promise.race([worker.end(), stopped.promise])
      await resultWithin(stopped.promise, retryDelayMs(failures))
      if (isStopped) return worker.end()
    }
  }

  return {
    ready,
    async stop() {
      isStopped = true
      stopped.resolve()
      await supervising
    },
  }
}

function moduleUrl(module: string | URL): string {
  const text = String(module)
  return text.startsWith("file:") ? text : pathToFileURL(resolve(text)).href
}
