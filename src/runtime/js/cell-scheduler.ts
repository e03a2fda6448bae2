import { ConfigError } from "../../core/errors.ts"
import { createCellQueue } from "../cell-queue.ts"
import type { CellExecution } from "../runtime.ts"
import { notStartedExecution } from "./execute-cell.ts"
import { cellStorage, type RunningCell, type SharedCellState } from "./running-cell.ts"

/** Whose turn it is in a runtime: cells, and what wants the namespace for itself, one at a time. A cell under way may wait
 *  for what it started, also through a leftover, and so never keeps it waiting. */
export interface CellScheduler {
  /** Runs a cell in its turn, with the cell it was started from. One that is aborted before is not started. */
  runCell(
    run: (parent: RunningCell | undefined) => Promise<CellExecution>,
    signal: AbortSignal | undefined,
  ): Promise<CellExecution>
  /** Does something in its turn. */
  runExclusive<T>(use: string, job: () => Promise<T>): Promise<T>
  /** Throws when a cell under way asks for what would take the names from under it. */
  refuseInsideCell(use: string): void
  /** Sends everybody who waits home. */
  rejectWaiting(error: Error): void
}

/** `open` throws when the runtime is closed, and says for what. */
export function createCellScheduler(shared: SharedCellState, open: (use: string) => unknown): CellScheduler {
  const queue = createCellQueue()
  const isWithin = () => queue.busy && cellStorage.getStore()?.belongsToRuntime(shared) === true
  return {
    async runCell(run, signal) {
      open("execute()")
      const parent = cellStorage.getStore()
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
        return notStartedExecution("The cell was aborted before its turn came.")
      }
    },
    async runExclusive(use, job) {
      if (isWithin()) return job()
      return queue.enter(job).catch((error: unknown) => {
        // Sent home from the queue: told by its own name.
        open(use)
        throw error
      })
    },
    refuseInsideCell(use) {
      if (!isWithin()) return
      throw new ConfigError(`${use} would take the names from under the cell that calls it. Call it when it has ended.`)
    },
    rejectWaiting: (error) => queue.refuse(error),
  }
}
