// The caller of a cell that runs in a child. Its calls run in the asynchronous context in which the cell was executed.
import { AsyncResource } from "node:async_hooks"
import type { Caller } from "../handles/caller.ts"
import { cellStorage, type RunningCell } from "../js/running-cell.ts"
import { maxHints } from "./child-protocol.ts"

export function callerFor(cell: RunningCell, nameOf: Caller["nameOf"], printLate: (error: unknown) => void): Caller {
  // Cheaper than `AsyncLocalStorage.snapshot()`, and created for every cell.
  const context = new AsyncResource("KarstCell", { requireManualDestroy: true })
  return {
    gate: cell.gate,
    nameOf,
    get signal() {
      return cell.signal
    },
    throwIfStopped: () => cell.throwIfStopped(),
    runInContext: (work) => context.runInAsyncScope(() => cellStorage.run(cell, work)),
    waitFor(work) {
      const settle = () => void cell.openCalls.delete(work)
      cell.openCalls.add(work)
      work.then(settle, settle)
    },
    fail(error) {
      if (cell.hasEnded) return printLate(error)
      cell.endChecks.push(() => {
        throw error
      })
    },
    hint(text) {
      if (!cell.hasEnded && cell.hints.length < maxHints && !cell.hints.includes(text)) cell.hints.push(text)
    },
  }
}
