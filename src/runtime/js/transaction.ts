// Transactions: a cell that fails, or whose check fails, is rolled back.
import { AgentError } from "../../core/errors.ts"
import type { CellExecution, CellNotExecuted, RuntimeLoss } from "../runtime.ts"
import { watchBuiltInClasses } from "../snapshot/undo/built-in-classes.ts"
import { createUndoImage } from "../snapshot/undo.ts"
import { formatThrown } from "./cell-errors.ts"
import type { Namespace, NamespaceImage, PreparedCell } from "./namespace.ts"
import { CellStopped, type RunningCell } from "./running-cell.ts"
import { findUncaptured, undoImageOptions } from "./undo-reach.ts"

/** The transaction of one cell. */
export interface Transaction {
  /** Takes an image of the namespace, right before the cell's first line. Without it there is nothing to undo. */
  begin(prepared: PreparedCell): void
  /** Calls the user's check after the cell ran to its end. Returns why the cell must be rolled back, if it must. */
  runCheck(): Promise<CellRefusal | undefined>
  /** Rolls back and stops leftovers of the cell. Returns what could not be undone: parts of the heap, and calls. */
  rollBack(): RuntimeLoss[]
  /** The execution of the cell, with `undo` if it succeeded. */
  withUndo(execution: CellExecution): CellExecution
  /** Ends the time in which the cell can be undone. */
  expire(): void
}

/** Why a cell was refused or rolled back. */
export interface CellRefusal {
  error: CellNotExecuted["error"]
  thrown?: unknown
}

export function createTransaction(
  cell: RunningCell,
  namespace: Namespace,
  check: (() => unknown) | undefined,
): Transaction {
  let image: NamespaceImage | undefined
  let mentions: PreparedCell["mentions"] = () => []
  let lostInBuiltIns: () => RuntimeLoss[] = () => []
  let tooLate: string | undefined
  const calls = new Map<string, number>()
  cell.callCounts = calls

  const rollBack = () => {
    // Leftovers of the cell, such as timers, would continue as if it had succeeded.
    if (image) cell.stop(new CellStopped("aborted", "The cell was rolled back."))
    const lost = image?.restore() ?? []
    // Report only values that the cell could have changed. If it called the host, that may be any value.
    const mentioned = calls.size === 0 ? mentions() : undefined
    const uncaptured =
      image && image.uncaptured.length > 0 ? (findUncaptured(mentioned, namespace) ?? image.uncaptured) : []
    image = undefined
    const notUndone = [...calls].map(([name, count]) => callNotUndone(name, count))
    return [...uncaptured, ...lost, ...lostInBuiltIns(), ...notUndone]
  }

  return {
    begin(prepared) {
      mentions = prepared.mentions
      lostInBuiltIns = watchBuiltInClasses()
      image = namespace.takeImage((scope) => createUndoImage(scope, undoImageOptions(namespace)))
    },
    async runCheck() {
      try {
        if ((await check?.()) !== false) return undefined
        return { error: { kind: "refused", message: "The check of the transaction gave false." } }
      } catch (thrown) {
        const message = `The check of the transaction failed: ${formatThrown(thrown)}`
        return { error: { kind: "refused", message }, thrown }
      }
    },
    rollBack,
    withUndo(execution) {
      if (!execution.ok) return execution
      const undo = async () => {
        if (tooLate !== undefined) throw new AgentError(`undo() came too late: ${tooLate}.`, { code: "too-late" })
        tooLate = "the cell was undone already"
        return rollBack()
      }
      return { ...execution, undo }
    },
    expire() {
      tooLate ??= "another cell has begun, or the runtime was reset or closed. Undo a cell before you run the next"
      image?.drop()
      image = undefined
    },
  }
}

function callNotUndone(name: string, count: number): RuntimeLoss {
  const times = count === 1 ? "once" : `${count} times`
  return {
    name,
    reason: `was called ${times}: its effects outside the namespace are not undone; check them before you call it again`,
  }
}
