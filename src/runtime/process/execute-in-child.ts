// Runs one cell in a child and builds its execution result.
import { thrownText } from "../../core/errors.ts"
import { describeThrown } from "../js/cell-errors.ts"
import { CellStopped, type RunningCell } from "../js/running-cell.ts"
import type { CellExecuted, CellExecution, CellNotExecuted, RuntimeLoss } from "../runtime.ts"
import { type ExecuteInput, type ExecutionSummary, isLostList, parseExecuted } from "./child-protocol.ts"
import type { ChildSupervisor } from "./child-supervisor.ts"
import type { ConnectedChild } from "./connected-child.ts"

/** To stop a cell, the host first asks the child. If the cell or work that it started continues, the process is killed,
 *  and the result names what was lost. `takeUsed` returns the names of host objects that cells used. */
export async function executeInChild(
  cell: RunningCell,
  input: ExecuteInput,
  supervisor: ChildSupervisor,
  takeUsed: () => string[],
  check?: () => unknown,
): Promise<CellExecution> {
  const child = await supervisor.connect()
  const lostBefore = supervisor.takeLost()
  const startedAt = performance.now()
  const executed = await requestExecution(cell, input, child, () => supervisor.beginExecution(child, cell, check))
  const outcome = await cellResultOf(executed, cell, child)
  // Wait until an ending process is gone, so that the cell can do nothing after its result is returned.
  if (child.process.ending) await child.process.gone
  cell.end()
  // Stop the calls that the cell made to the supervisor.
  const { ending } = child.process
  if (ending) cell.stop(new CellStopped("aborted", `The cell's process is gone: ${ending.why}.`))
  supervisor.endExecutions(cell)
  const { changes = { created: [], reassigned: [], removed: [] }, hints: found = [], types } = executed?.summary ?? {}
  const kept = executed?.summary.kept
  supervisor.recordNameChanges(kept === undefined ? changes : { ...changes, created: [...changes.created, kept] })
  const used = takeUsed()
  const hints = [...found, ...cell.hints]
  const lost = [...lostBefore, ...(await supervisor.forgetEndedChild())]
  const { stdout, stderr, output } = cell
  return {
    ...outcome,
    ...{
      stdout,
      stderr,
      output,
      durationMs: performance.now() - startedAt,
      changes: used.length > 0 ? { ...changes, used } : changes,
    },
    ...(types && { types }),
    ...(hints.length > 0 && { hints }),
    ...(lost.length > 0 && { lost }),
  }
}

/** How long a cell may take to stop before its process is killed. */
const graceMs = 200

interface ChildExecution {
  summary: ExecutionSummary
  value: unknown
  thrown: unknown
}

async function requestExecution(
  cell: RunningCell,
  input: ExecuteInput,
  child: ConnectedChild,
  track: () => string,
): Promise<ChildExecution | undefined> {
  const { connection, process } = child
  let execution: string | undefined
  let killTimer: NodeJS.Timeout | undefined
  const { promise: stopped, resolve: onStopped } = Promise.withResolvers<void>()
  cell.begin(({ kind, message }: CellStopped) => {
    onStopped()
    if (execution === undefined) return
    connection.send({ k: "stop", x: execution, message })
    process.requestStop(execution, message)
    killTimer = setTimeout(() => process.kill({ kind, why: message }), graceMs)
  })
  if (cell.stopped) return undefined
  child.used = true
  process.startCell()
  const x = track()
  execution = x
  // The child measures the time-out as well; the host tells it when to pause the clock.
  const stopListening =
    input.timeoutMs === undefined ? undefined : cell.pauses?.((paused) => connection.send({ k: "pause", x, paused }))
  try {
    const { message, value } = await connection.ask("execute", { ...input, x })
    const executed = parseExecuted(message.s, value)
    if (!executed) child.killForViolation("an invalid execution")
    // The child's clock may be ahead of this cell's. Stopping the cell aborts its calls.
    const { kind, message: why = "" } = executed?.summary.error ?? {}
    if (kind === "timeout") cell.stop(new CellStopped(kind, why))
    // Wait for callbacks that host code called: they belong to the cell.
    while (executed && cell.openCalls.size > 0 && !cell.stopped) {
      await Promise.race([Promise.allSettled(cell.openCalls), stopped])
    }
    return executed
  } catch (error) {
    if (!process.ending) process.kill({ kind: "crash", why: `it could not run the cell: ${errorMessage(error)}` })
    return undefined
  } finally {
    stopListening?.()
    clearTimeout(killTimer)
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : thrownText(error)
}

async function undoCell(child: ConnectedChild): Promise<RuntimeLoss[]> {
  const lost = await child.ask("undo")
  if (!isLostList(lost)) throw child.killForViolation("an invalid answer to `undo`")
  return lost
}

type CellResult =
  | Pick<CellExecuted, "ok" | "value" | "preview" | "endsInUndefined" | "truncated" | "kept" | "finishText" | "undo">
  | Pick<CellNotExecuted, "ok" | "error" | "thrown" | "notRolledBack">

async function cellResultOf(
  executed: ChildExecution | undefined,
  cell: RunningCell,
  child: ConnectedChild,
): Promise<CellResult> {
  if (!executed) return { ok: false, error: processEndError(cell, child) }
  const { summary, value, thrown } = executed
  const { error, preview, cut, kept, endsInUndefined, finishText, notRolledBack, undoable, unclean } = summary
  if (unclean) child.process.kill({ kind: "aborted", why: "what the cell had under way had to be ended" })
  if (cell.stopped) return { ok: false, error: { ...positionOf(error), ...stopError(cell.stopped) } }
  if (error) {
    return { ok: false, error, ...(thrown !== undefined && { thrown }), ...(notRolledBack && { notRolledBack }) }
  }
  const failed = await unnoticedCallbackFailure(cell, undoable ? child : undefined)
  if (failed) return failed
  return {
    ok: true,
    value,
    ...(preview !== undefined && { preview }),
    ...(endsInUndefined && { endsInUndefined }),
    ...(cut && { truncated: true }),
    ...(kept !== undefined && { kept }),
    ...(cell.allowsFinish && finishText !== undefined && { finishText }),
    ...(undoable && { undo: () => undoCell(child) }),
  }
}

/** Returns the failure of a cell whose code succeeded while an unawaited callback failed. Undoes a transaction. */
async function unnoticedCallbackFailure(
  cell: RunningCell,
  undoing: ConnectedChild | undefined,
): Promise<CellResult | undefined> {
  try {
    for (const check of cell.endChecks) check()
    return undefined
  } catch (thrown) {
    const notRolledBack = undoing ? await undoCell(undoing) : undefined
    return { ok: false, error: describeThrown(thrown, ""), thrown, ...(notRolledBack && { notRolledBack }) }
  }
}

function processEndError({ stopped }: RunningCell, { process: { ending } }: ConnectedChild): CellNotExecuted["error"] {
  if (stopped) return stopError(stopped)
  const { kind = "crash", why = "it is gone" } = ending ?? {}
  return { kind, message: `The cell was stopped with its process: ${why}.` }
}

function stopError({ kind, message }: CellStopped): CellNotExecuted["error"] {
  return { kind, message }
}

function positionOf(error: ExecutionSummary["error"]): { line?: number; column?: number } {
  const { line, column } = error ?? {}
  return { ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}
