// Reports errors outside of runs to `onError`, or as process warnings.
import { AgentError, thrownText } from "../../core/errors.ts"
import { type BackendOptions, heldCode, type Job } from "./backend.ts"

/** Reports an error outside of runs. Never throws. */
export type ErrorReporter = (error: unknown, job?: Job) => void

export function createErrorReporter(backend: string, { onError }: BackendOptions): ErrorReporter {
  const reported = new Set<string>()
  return (error, job) => {
    if (error instanceof AgentError && error.code === heldCode) return
    const problem = error instanceof Error ? error : new Error(thrownText(error))
    if (onError) return callOnError(onError, problem, job)
    const text = `${backend}: ${problem.message || problem.name}${job ? ` (run ${job.run}, which is tried again)` : ""}`
    if (reported.has(text)) return
    // A server that is unreachable for long may cause many different messages; they must not fill the memory.
    if (reported.size >= 100) reported.clear()
    reported.add(text)
    process.emitWarning(text)
  }
}

function callOnError(onError: NonNullable<BackendOptions["onError"]>, error: Error, job: Job | undefined): void {
  try {
    onError(error, job)
  } catch (thrown) {
    process.emitWarning(`onError of a backend threw: ${thrown}`)
  }
}
