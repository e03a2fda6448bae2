// The inline backend: jobs in the memory of this process.
import { checkOptions } from "../../core/checks/check-options.ts"
import { backendChecks } from "../engine-option-checks.ts"
import type { Backend, BackendOptions } from "./backend.ts"
import { createErrorReporter } from "./error-reporter.ts"
import { createJobQueue } from "./job-queue.ts"

/** Executes runs in this process. The queue is in memory: after a crash `engine.recover()` pushes the stored runs
 *  again. */
export function inlineBackend(options: BackendOptions = {}): Backend {
  checkOptions("inlineBackend()", options, backendChecks)
  const queue = createJobQueue(createErrorReporter("inlineBackend", options))
  return {
    async push(job) {
      queue.push(job)
    },
    async start(handle, { maxParallel }) {
      return queue.attach(handle, maxParallel)
    },
    async countQueued() {
      return queue.size()
    },
  }
}
