// The worker's side of the connection to its pool.
import { ConfigError, errorData } from "../../core/errors.ts"
import type { Backend, Job, JobHandler } from "./backend.ts"
import type { FromWorker, ToWorker } from "./worker-process.ts"

/** In a worker process: the pool as the backend of this process; undefined in any other process. */
export function currentPoolBackend(): Backend | undefined {
  return poolBackend
}

/** Makes this process a worker of the pool that started it. `requests` has what the pool may ask of it. */
export function joinPool(requests: { drain(): unknown; end(): unknown }): { hasStarted(): boolean } {
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
        return void requests.drain()
      case "end":
        return void requests.end()
    }
  })
  // Without the pool this process would never end.
  process.on("disconnect", () => process.exit(1))
  // A terminal or a service manager signals all processes. Workers ignore that: the pool lets them finish first.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})

  poolBackend = {
    // The process of the pool polls the store for all its workers.
    isShared: true,
    async push(job) {
      await ask(job)
    },
    async start(given) {
      if (handle) throw new ConfigError("A worker of a pool works for one engine, and the module starts a second.")
      handle = given
      sendToPool({ type: "ready" })
      // The pool decides when this worker gets no more jobs.
      return async () => {}
    },
    countQueued: () => ask(),
  }
  return { hasStarted: () => handle !== undefined }
}

export function sendToPool(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

let poolBackend: Backend | undefined
