// Starts a worker process of the pool and exchanges messages with it.
import { fileURLToPath } from "node:url"
import { fork } from "../../core/child/child-process.ts"
import { AgentError, ConfigError, type ErrorData } from "../../core/errors.ts"
import type { Job, JobHandler } from "./backend.ts"
import type { JobQueue } from "./job-queue.ts"

/** Messages to a worker. */
export type ToWorker =
  | { type: "job"; id: number; job: Job }
  | { type: "answer"; id: number; value: number }
  | { type: "drain" }
  | { type: "end" }

/** Messages from a worker. An `ask` with a job pushes the job. Every `ask` is answered with the number of queued
 *  jobs. */
export type FromWorker =
  | { type: "ready" }
  | { type: "start-failed"; error: ErrorData }
  | { type: "done"; id: number; error?: ErrorData | undefined }
  | { type: "ask"; id: number; job?: Job | undefined }

export interface WorkerProcess {
  /** Rejects if the process ends, or reports that it cannot work, before it takes jobs. */
  ready: Promise<void>
  /** Resolves when the worker has handled the job; rejects if the handler rejected or the process ended. */
  run: JobHandler
  ended: Promise<void>
  /** Asks the worker to finish its jobs. */
  drain(): void
  /** Asks the process to end, and kills it if it does not. */
  end(): Promise<void>
}

export interface WorkerSetup {
  module: string
  maxParallel: number
  queue: JobQueue
}

export function startWorkerProcess({ module, maxParallel, queue }: WorkerSetup): WorkerProcess {
  const child = fork(childEntry, [module, String(maxParallel)])
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const underWay = new Map<number, PromiseWithResolvers<void>>()
  let last = 0
  let isOver = false

  // A message that cannot be sent is dropped: the process is ending.
  const send = (message: ToWorker) => child.connected && child.send(message, () => {})

  function receive(message: FromWorker): void {
    switch (message.type) {
      case "ready":
        return ready.resolve()
      case "start-failed":
        return ready.reject(new ConfigError(`A worker cannot work with "${module}": ${message.error.message}`))
      case "done":
        return settle(message.id, message.error)
      case "ask":
        if (message.job) queue.push(message.job)
        send({ type: "answer", id: message.id, value: queue.size() })
    }
  }

  function settle(id: number, error: ErrorData | undefined): void {
    const job = underWay.get(id)
    underWay.delete(id)
    if (error) job?.reject(new AgentError(error.message, { code: error.code, retryable: true }))
    else job?.resolve()
  }

  function handleExit(how: string): void {
    if (isOver) return
    isOver = true
    const error = new AgentError(`A worker process ended ${how}.`, { code: "worker-ended", retryable: true })
    ready.reject(error)
    for (const job of underWay.values()) job.reject(error)
    underWay.clear()
    ended.resolve()
  }

  child.on("message", receive)
  child.on("error", (error) => handleExit(`: ${error.message}`))
  child.on("exit", (code, signal) => handleExit(signal ? `by ${signal}` : `with code ${code}`))
  ready.promise.catch(() => {})

  return {
    ready: ready.promise,
    ended: ended.promise,
    async run(job) {
      if (isOver) throw new AgentError("The worker process has ended.", { code: "worker-ended", retryable: true })
      const id = ++last
      const work = Promise.withResolvers<void>()
      underWay.set(id, work)
      send({ type: "job", id, job })
      await work.promise
    },
    drain: () => void send({ type: "drain" }),
    async end() {
      if (isOver) return
      send({ type: "end" })
      const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs)
      await ended.promise
      clearTimeout(timer)
    },
  }
}

/** The time to close what the module opened. */
const killAfterMs = 5_000

const childEntry = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "worker-child.ts" : "worker-child.js", import.meta.url),
)
