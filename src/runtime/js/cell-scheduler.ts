// Schedules the cells of a runtime, and operations that need the namespace for themselves: one at a time. A cell that
// is started from within a running cell does not wait, because the running cell may wait for it.
import { ConfigError } from "../../core/errors.ts"
import { createCellQueue } from "../cell-queue.ts"
import type { CellExecution } from "../runtime.ts"
import { notStartedExecution } from "./execute-cell.ts"
import { CellStopped, cellStorage, type RunningCell, type SharedCellState } from "./running-cell.ts"

export interface CellScheduler {
  /** Runs a cell when it is next; `parent` is the cell that started it. A cell that is aborted before is not
   *  started. */
  runCell(
    run: (parent: RunningCell | undefined) => Promise<CellExecution>,
    signal: AbortSignal | undefined,
  ): Promise<CellExecution>
  /** Runs an operation when it is next; throws if the runtime is closed. `operation` names it in errors. */
  runExclusive<T>(operation: string, job: () => Promise<T>): Promise<T>
  /** Like `runExclusive`, for an operation that replaces the namespace: throws if a running cell calls it. */
  replaceNames<T>(operation: string, job: () => Promise<T>): Promise<T>
  /** Rejects everything that waits, and stops the running cells. */
  close(error: Error): void
}

/** `requireOpen` throws an error that names the operation if the runtime is closed. */
export function createCellScheduler(
  shared: SharedCellState,
  requireOpen: (operation: string) => unknown,
): CellScheduler {
  const queue = createCellQueue()
  const isInsideCell = () => queue.busy && cellStorage.getStore()?.belongsToRuntime(shared) === true
  const runExclusive: CellScheduler["runExclusive"] = async (operation, job) => {
    requireOpen(operation)
    if (isInsideCell()) return job()
    return queue.enter(job).catch((error: unknown) => {
      // If the runtime was closed, throw the error with this operation's name.
      requireOpen(operation)
      throw error
    })
  }
  return {
    async runCell(run, signal) {
      requireOpen("execute()")
      const parent = cellStorage.getStore()
      if (isInsideCell()) return run(parent)
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
    runExclusive,
    async replaceNames(operation, job) {
      requireOpen(operation)
      if (!isInsideCell()) return runExclusive(operation, job)
      throw new ConfigError(
        `${operation} would take the names from under the cell that calls it. Call it when it has ended.`,
      )
    },
    close(error) {
      queue.refuse(error)
      for (const cell of shared.cells)
        cell.stop(new CellStopped("aborted", "The cell was aborted: its runtime was closed."))
      shared.epoch++
    },
  }
}
