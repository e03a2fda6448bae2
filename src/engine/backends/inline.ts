import { checkOptions } from "../../core/checks/check-options.ts"
import { backendChecks } from "../engine-option-checks.ts"
import type { Backend, BackendOptions } from "./backend.ts"
import { createErrorReporter } from "./error-reporter.ts"
import { createJobQueue } from "./job-queue.ts"

/** Works in this process. The queue is in its memory: after a crash the runs are in the store, and `engine.recover()`
 *  pushes them again. */
export function inlineBackend(options: BackendOptions = {}): Backend {
  checkOptions("inlineBackend()", options, backendChecks)
  const queue = createJobQueue(createErrorReporter("inlineBackend", options))
  return {
    async push(job) {
      queue.push(job)
    },
    async start(handle, { concurrency }) {
      return queue.attach(handle, concurrency)
    },
    async queued() {
      return queue.size()
    },
  }
}
