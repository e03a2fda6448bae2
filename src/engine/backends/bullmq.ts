// The BullMQ backend: jobs in Redis, for workers on any number of machines.
import { checkName } from "../../core/checks/check-name.ts"
import * as check from "../../core/checks/check-options.ts"
import { AgentError, ConfigError, thrownText } from "../../core/errors.ts"
import { redisError, withFullStop } from "../../stores/redis-client.ts"
import { backendChecks } from "../engine-option-checks.ts"
import type { Backend, BackendOptions, Job, JobHandler, StopWorking } from "./backend.ts"
import { type BullQueue, type BullWorker, connectForBullmq, loadBullmq, type RedisConnection } from "./bullmq-client.ts"
import { createErrorReporter } from "./error-reporter.ts"
import { checkMaxParallel, retryDelayMs } from "./job-queue.ts"

export type { RedisConnection } from "./bullmq-client.ts"

export interface BullmqBackendOptions extends BackendOptions {
  /** The server, such as redis://localhost:6379. */
  url?: string | undefined
  /** An ioredis client instead of a URL. The caller closes it; workers use copies of it. */
  connection?: RedisConnection | undefined
  /** The queue's name: engines that share it share their workers. Default `runs`. */
  queue?: string | undefined
  /** The prefix of its keys in Redis, put in braces so that a queue lies in one slot of a cluster. Default `karst`. */
  prefix?: string | undefined
  /** How long a job stays with a worker that gives no sign of life before it goes to another worker. A worker renews
   *  its lock at half that time, so use more than twice the time that code may block the event loop. Default 10,000. */
  lockDurationMs?: number | undefined
  /** How often a worker checks for jobs of dead workers. Default 3,000. */
  stalledIntervalMs?: number | undefined
  /** How many workers may die with one job before it is dropped. Then only `engine.recover()` continues its run.
   *  Default 100. */
  maxStalledCount?: number | undefined
  /** The most jobs that all workers of the queue together start in that time. Default: no limit. */
  rateLimit?: { max: number; durationMs: number } | undefined
  /** Jobs with a smaller number go first, and those without a number before all others. Default: no number. */
  priority?: number | ((job: Job) => number | undefined) | undefined
}

const bullmqChecks: check.OptionChecks<BullmqBackendOptions> = {
  ...backendChecks,
  // A URL may contain a password.
  url: check.mustBeSecret,
  connection: check.mustBeObject,
  queue: check.mustBeText,
  prefix: check.mustBeText,
  lockDurationMs: check.mustBeIntegerFrom(1),
  stalledIntervalMs: check.mustBeIntegerFrom(1),
  maxStalledCount: check.mustBeIntegerFrom(0),
  rateLimit: check.mustBeOptions({ max: check.mustBeIntegerFrom(1), durationMs: check.mustBeIntegerFrom(1) }),
  priority: check.mustBeEither("a number or a function of the job", check.mustBeNumber, check.mustBeFunction),
}

/** Executes runs on any number of machines, over BullMQ and Redis. Run Redis with `maxmemory-policy noeviction`. Its
 *  settings (`appendonly yes`) decide which jobs survive a crash of the server; `engine.recover()` pushes the lost ones
 *  again. */
export function bullmqBackend(options: BullmqBackendOptions): Backend & AsyncDisposable & { close(): Promise<void> } {
  check.checkOptions("bullmqBackend()", options, bullmqChecks)
  const { url, connection, queue: name = "runs", prefix = "karst" } = options
  checkName("bullmqBackend(): the queue", name, { segment: true })
  checkName("bullmqBackend(): the prefix", prefix)
  const server = connection ?? url
  if (!server) throw new ConfigError(missingServerMessage)
  const shared = { prefix: prefix.includes("{") ? prefix : `{${prefix}}` }
  const report = createErrorReporter(`bullmqBackend "${name}"`, options)
  const stops = new Set<StopWorking>()
  let opening: ReturnType<typeof openQueue> | undefined
  let isClosed = false

  async function open() {
    if (isClosed) throw new AgentError(`The backend "${name}" is closed. Make another.`, { code: "closed" })
    opening ??= openQueue()
    // The cause may be fixed later, so the next call tries again.
    opening.catch(() => (opening = undefined))
    return opening
  }

  async function openQueue() {
    const { Queue } = await loadBullmq()
    const own = typeof server === "string" ? await connectForBullmq(server, 20) : undefined
    try {
      // A queue waits for its first connection forever; a command does not.
      await (own?.client ?? connection)?.ping()
    } catch (error) {
      await own?.close()
      throw queueError(name, error)
    }
    const queue: BullQueue = Reflect.construct(Queue, [name, { ...shared, connection: own?.client ?? server }])
    queue.on("error", (error) => report(error))
    return { queue, own }
  }

  async function ask<T>(question: (queue: BullQueue) => Promise<T>): Promise<T> {
    const { queue } = await open()
    return question(queue).catch((error) => {
      throw queueError(name, error)
    })
  }

  async function queued(): Promise<number> {
    const counts = await ask((queue) => queue.getJobCounts("wait", "paused", "prioritized", "delayed"))
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  }

  async function startWorker(
    redis: string | RedisConnection,
    handle: JobHandler,
    maxParallel: number,
  ): Promise<StopWorking> {
    const { Worker } = await loadBullmq()
    const own = await connectForBullmq(redis, null)
    const underWay = new Set<Promise<unknown>>()

    const process = async ({ data }: { data: Job }) => {
      const work = handle({ run: data.run, revision: data.revision })
      underWay.add(work)
      try {
        await work
      } catch (error) {
        report(error, data)
        // BullMQ treats some error names specially. A plain Error only causes another attempt.
        const again = new Error(error instanceof Error ? error.message : thrownText(error))
        throw error instanceof AgentError ? Object.assign(again, { code: error.code }) : again
      } finally {
        underWay.delete(work)
      }
    }
    const settings = { ...shared, ...workerOptions(options), connection: own.client, concurrency: maxParallel }
    const worker: BullWorker = Reflect.construct(Worker, [name, process, settings])
    worker.on("error", (error) => report(error))
    await worker.waitUntilReady()

    return callOnce(async () => {
      // Do not wait for an unreachable server: a job that could not be marked as done is handled again.
      if (!own.isReady()) await own.close()
      const closing = worker.close()
      await Promise.race([closing, gracePeriod(underWay)])
      await own.close()
      await Promise.race([closing, gracePeriod()])
    })
  }

  async function close(): Promise<void> {
    isClosed = true
    await Promise.all([...stops].map((stop) => stop()))
    const opened = await opening?.catch(() => undefined)
    opening = undefined
    if (!opened) return
    await Promise.race([opened.queue.close(), gracePeriod()])
    await opened.own?.close()
  }

  return {
    isShared: true,
    async push(job) {
      await ask((queue) => queue.add("slice", job, jobOptions(options, job)))
    },
    async start(handle, { maxParallel }) {
      checkMaxParallel(maxParallel)
      // This fails at once if the server cannot be reached or used; the worker itself would wait forever.
      await queued()
      const stop = await startWorker(server, handle, maxParallel)
      const forget = callOnce(() => stop().finally(() => stops.delete(forget)))
      stops.add(forget)
      return forget
    },
    countQueued: queued,
    close,
    [Symbol.asyncDispose]: close,
  }
}

const missingServerMessage = "bullmqBackend needs a url such as redis://localhost:6379, or a connection of ioredis."

function jobOptions({ priority }: BullmqBackendOptions, job: Job): Record<string, unknown> {
  const rank = typeof priority === "function" ? priority(job) : priority
  // A job whose handler rejected is never dropped: the engine limits the attempts of a run, not the queue.
  const again = { attempts: 1_000_000, backoff: { type: "growing" } }
  const once = { deduplication: { id: job.run, keepLastIfActive: true } }
  return { ...again, ...once, removeOnComplete: true, ...(rank !== undefined && { priority: rank }) }
}

function workerOptions(options: BullmqBackendOptions): Record<string, unknown> {
  const { lockDurationMs = 10_000, stalledIntervalMs = 3_000, maxStalledCount = 100, rateLimit } = options
  return {
    lockDuration: lockDurationMs,
    stalledInterval: stalledIntervalMs,
    maxStalledCount,
    // The wait before a worker tries again after a lost connection.
    runRetryDelay: 1_000,
    // The longest wait of a stop under a rate limit.
    maximumRateLimitDelay: 1_000,
    settings: { backoffStrategy: (failures: number, _type: string, error: Error) => retryDelayMs(failures, error) },
    removeOnFail: { count: 1_000 },
    ...(rateLimit && { limiter: { max: rateLimit.max, duration: rateLimit.durationMs } }),
  }
}

/** Resolves a few seconds after all work under way has ended. */
async function gracePeriod(underWay = new Set<Promise<unknown>>()): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay)
  await new Promise((resolve) => setTimeout(resolve, 3_000).unref())
}

function queueError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AgentError) return error
  const answer = redisError(error, `The queue "${name}" in Redis`)
  if (answer instanceof AgentError && answer.code !== "connection") return answer
  const cure =
    "Check that the server runs. What was pushed may be there or not; engine.recover() finds runs without a job."
  return new AgentError(`The queue "${name}" in Redis is out of reach: ${withFullStop(error.message)} ${cure}`, {
    code: "connection",
    retryable: true,
    cause: error,
  })
}

function callOnce(work: () => Promise<void>): StopWorking {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}
