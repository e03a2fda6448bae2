import { ConfigError } from "../../core/errors.ts"
import type { Execution } from "../runtime.ts"
import { notStarted } from "./execute.ts"
import { createQueue } from "./queue.ts"
import { type RunningCell, running, type Shared } from "./running-cell.ts"

/** Whose turn it is in a runtime: cells, and what wants the namespace for itself, one at a time. A cell under way may wait
 *  for what it started, also through a leftover, and so never keeps it waiting. */
export interface Turns {
  /** Runs a cell in its turn, with the cell it was started from. One that is aborted before is not started. */
  cell(
    run: (parent: RunningCell | undefined) => Promise<Execution>,
    signal: AbortSignal | undefined,
  ): Promise<Execution>
  /** Does something in its turn. */
  take<T>(use: string, job: () => Promise<T>): Promise<T>
  /** Throws when a cell under way asks for what would take the names from under it. */
  refuseWithin(use: string): void
  /** Sends everybody who waits home. */
  end(error: Error): void
}

/** `open` throws when the runtime is closed, and says for what. */
export function createTurns(shared: Shared, open: (use: string) => unknown): Turns {
  const queue = createQueue()
  const isWithin = () => queue.busy && running.getStore()?.belongsTo(shared) === true
  return {
    async cell(run, signal) {
      open("execute()")
      const parent = running.getStore()
      if (isWithin()) return run(parent)
      let started = false
      const start = () => {
        started = true
        return run(parent)
      }
      try {
        return await queue.enter(start, signal)
      } catch (error) {
        if (started || !signal?.aborted) throw error
        return notStarted("The cell was aborted before its turn came.")
      }
    },
    async take(use, job) {
      if (isWithin()) return job()
      return queue.enter(job).catch((error: unknown) => {
        // Sent home from the queue: told by its own name.
        open(use)
        throw error
      })
    },
    refuseWithin(use) {
      if (!isWithin()) return
      throw new ConfigError(`${use} would take the names from under the cell that calls it. Call it when it has ended.`)
    },
    end: (error) => queue.refuse(error),
  }
}
