import type { Run, RunResult } from "../core/agent.ts"
import type { AgentEvent, Status } from "../core/event.ts"

const exitCodes: Record<Status, number> = { done: 0, failed: 1, stopped: 3, waiting: 4, aborted: 130 }

export function exitCode({ status }: RunResult): number {
  return exitCodes[status]
}

/** Ctrl-C aborts the run while `work` is under way; a second one leaves at once. */
export async function interruptible<T>(run: Run, work: () => Promise<T>): Promise<T> {
  let interrupted = false
  function interrupt(): void {
    if (interrupted) process.exit(130)
    interrupted = true
    run.abort("Interrupted.")
  }
  process.on("SIGINT", interrupt)
  try {
    return await work()
  } finally {
    process.off("SIGINT", interrupt)
  }
}

/** An event as a line of JSON on standard output. */
export function printEvent(event: AgentEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}
