// What commands that run an agent share: Ctrl-C aborts the run, a status has an exit code, and --json prints events.
import type { Run, RunResult } from "../core/agent.ts"
import type { AgentEvent, Status } from "../core/event.ts"

const codes: Record<Status, number> = { done: 0, failed: 1, stopped: 3, waiting: 4, aborted: 130 }

export function exitCode({ status }: RunResult): number {
  return codes[status]
}

/** Aborts the run on Ctrl-C while `work` runs. The second Ctrl-C exits at once. */
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

export function printEvent(event: AgentEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}
