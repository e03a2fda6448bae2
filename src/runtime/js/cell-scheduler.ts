// Schedules the cells of a runtime, and operations that need the namespace for themselves: one at a time. A cell that
// is started from within a running cell does not wait, because the running cell may wait for it.
import { ConfigError } from "../../core/errors.ts"
import { createCellQueue } from "../cell-queue.ts"
import type { CellExecution } from "../runtime.ts"
import { notStartedExecution } from "./execute-cell.ts"
import { cellStorage, type RunningCell, type SharedCellState } from "./running-cell.ts"

export interface CellScheduler {
  /** Runs a cell when it is next; `parent` is the cell that started it. A cell that is aborted before is not
   *  started. */
  runCell(
    run: (parent: RunningCell | undefined) => Promise<CellExecution>,
    signal: AbortSignal | undefined,
  ): Promise<CellExecution>
  /** Runs an operation when it is next. `use` names it in errors. */
  runExclusive<T>(operation: string, job: () => Promise<T>): Promise<T>
  /** Throws if a running cell calls an operation that would replace its namespace. */
  refuseInsideCell(operation: string): void
  /** Rejects everything that waits. */
  rejectWaiting(error: Error): void
}

/** `open` throws an error that names the operation if the runtime is closed. */
export function createCellScheduler(
  shared: SharedCellState,
  requireOpen: (operation: string) => unknown,
): CellScheduler {
  const queue = createCellQueue()
  const isInsideCell = () => queue.busy && cellStorage.getStore()?.belongsToRuntime(shared) === true
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
    async runExclusive(operation, job) {
      if (isInsideCell()) return job()
      return queue.enter(job).catch((error: unknown) => {
        // If the runtime was closed, throw the error with this operation's name.
        requireOpen(operation)
        throw error
      })
    },
    refuseInsideCell(operation) {
      if (!isInsideCell()) return
      throw new ConfigError(
        `${operation} would take the names from under the cell that calls it. Call it when it has ended.`,
      )
    },
    rejectWaiting: (error) => queue.refuse(error),
  }
}
