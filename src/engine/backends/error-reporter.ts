import { AgentError, thrownText } from "../../core/errors.ts"
import { type BackendOptions, heldCode, type Job } from "./backend.ts"

/** Tells what went wrong outside of runs. Never throws. */
export type ErrorReporter = (error: unknown, job?: Job) => void

export function createErrorReporter(backend: string, { onError }: BackendOptions): ErrorReporter {
  const told = new Set<string>()
  return (error, job) => {
    if (error instanceof AgentError && error.code === heldCode) return
    const problem = error instanceof Error ? error : new Error(thrownText(error))
    if (onError) return callOnError(onError, problem, job)
    const text = `${backend}: ${problem.message || problem.name}${job ? ` (run ${job.run}, which is tried again)` : ""}`
    if (told.has(text)) return
    // A server that is away for long says so in many ways; they must not fill the memory.
    if (told.size >= 100) told.clear()
    told.add(text)
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
