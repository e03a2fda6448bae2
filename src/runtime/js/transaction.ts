import { AgentError } from "../../core/errors.ts"
import type { CellExecution, CellNotExecuted, RuntimeLoss } from "../runtime.ts"
import { watchBuiltInClasses } from "../snapshot/undo/built-in-classes.ts"
import { createUndoImage } from "../snapshot/undo.ts"
import { formatThrown } from "./cell-errors.ts"
import type { Namespace, NamespaceImage, PreparedCell } from "./namespace.ts"
import { CellStopped, type RunningCell } from "./running-cell.ts"
import { findUncaptured, undoImageOptions } from "./undo-reach.ts"

/** What makes a cell leave nothing behind when it fails. */
export interface Transaction {
  /** Remembers everything as it is. Comes right before the cell's first line; without it there is nothing to undo. */
  begin(ready: PreparedCell): void
  /** Why the cell must not stand although it ran to its end; undefined when it may. */
  runCheck(): Promise<CellRefusal | undefined>
  /** Puts everything back, stops what is left of the cell, and gives what could not be put back: parts of the heap, and
   *  calls that were made. */
  rollBack(): RuntimeLoss[]
  /** The execution of its cell, with `undo` where there is something to undo. */
  withUndo(execution: CellExecution): CellExecution
  /** From now on nothing can be undone. */
  expire(): void
}

/** Why a cell must not run, or must not stand. */
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
  let added: () => RuntimeLoss[] = () => []
  let ending: string | undefined
  const called = new Map<string, number>()
  cell.callCounts = called

  const rollBack = () => {
    // What the cell left behind, waiting for a timer or a promise, would go on as if it had succeeded.
    if (image) cell.stop(new CellStopped("aborted", "The cell was rolled back."))
    const lost = image?.restore() ?? []
    // Named is only what the cell could have changed; what the host did in a call, nobody knows.
    const mentioned = called.size === 0 ? mentions() : undefined
    const beyond =
      image && image.uncaptured.length > 0 ? (findUncaptured(mentioned, namespace) ?? image.uncaptured) : []
    image = undefined
    return [...beyond, ...lost, ...added(), ...[...called].map(([name, count]) => callNotUndone(name, count))]
  }

  return {
    begin(ready) {
      mentions = ready.mentions
      added = watchBuiltInClasses()
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
        if (ending !== undefined) throw new AgentError(`undo() came too late: ${ending}.`, { code: "too-late" })
        ending = "the cell was undone already"
        return rollBack()
      }
      return { ...execution, undo }
    },
    expire() {
      ending ??= "another cell has begun, or the runtime was reset or closed. Undo a cell before you run the next"
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
