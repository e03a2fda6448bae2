import { ConfigError, errorData } from "../../core/errors.ts"
import type { Backend, Job, JobHandler } from "./backend.ts"
import type { FromWorker, ToWorker } from "./worker-process.ts"

/** In a worker of a pool: the pool, as the backend of this process. */
export function currentPoolBackend(): Backend | undefined {
  return poolBackend
}

/** What the pool wants of this process. */
export interface PoolRequests {
  drain(): unknown
  end(): unknown
}

/** Makes this process a worker of the pool that started it. */
export function joinPool(wishes: PoolRequests): { hasStarted(): boolean } {
  let handle: JobHandler | undefined
  let last = 0
  const asked = new Map<number, (value: number) => void>()

  function ask(job?: Job): Promise<number> {
    const answer = Promise.withResolvers<number>()
    asked.set(++last, answer.resolve)
    sendToPool({ type: "ask", id: last, job })
    return answer.promise
  }

  async function work(id: number, job: Job): Promise<void> {
    try {
      await handle?.(job)
      sendToPool({ type: "done", id })
    } catch (error) {
      sendToPool({ type: "done", id, error: errorData(error) })
    }
  }

  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "job":
        return void work(message.id, message.job)
      case "answer":
        asked.get(message.id)?.(message.value)
        return void asked.delete(message.id)
      case "drain":
        return void wishes.drain()
      case "end":
        return void wishes.end()
    }
  })
  // Without the pool nobody would end this process.
  process.on("disconnect", () => process.exit(1))
  // A terminal and a service manager tell all processes; the pool lets its workers finish what they do.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})

  poolBackend = {
    // The process of the pool looks for all its workers.
    isShared: true,
    async push(job) {
      await ask(job)
    },
    async start(given) {
      if (handle) throw new ConfigError("A worker of a pool works for one engine, and the module starts a second.")
      handle = given
      sendToPool({ type: "ready" })
      // The pool decides when this worker is given no more.
      return async () => {}
    },
    queued: () => ask(),
  }
  return { hasStarted: () => handle !== undefined }
}

export function sendToPool(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

let poolBackend: Backend | undefined
