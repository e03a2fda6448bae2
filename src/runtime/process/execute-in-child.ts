import { thrownText } from "../../core/errors.ts"
import { describeThrown } from "../js/cell-errors.ts"
import { CellStopped, type RunningCell } from "../js/running-cell.ts"
import type { CellExecuted, CellExecution, CellNotExecuted, RuntimeLoss } from "../runtime.ts"
import { type ExecuteInput, type ExecutionSummary, isLostList, parseExecuted } from "./child-protocol.ts"
import type { ChildSupervisor } from "./child-supervisor.ts"
import type { ConnectedChild } from "./connected-child.ts"

/** Runs a cell in the child. `takeUsed` gives the names of host objects that cells used meanwhile. A cell that must stop is first told to. If it, or work that it started, goes on, the
 *  process is ended, and the execution names what was lost with it. */
export async function executeInChild(
  cell: RunningCell,
  input: ExecuteInput,
  host: ChildSupervisor,
  takeUsed: () => string[],
  check?: () => unknown,
): Promise<CellExecution> {
  const child = await host.connect()
  const lostBefore = host.takeLost()
  const startedAt = performance.now()
  const executed = await requestExecution(cell, input, child, () => host.beginExecution(child, cell, check))
  const outcome = await cellResultOf(executed, cell, child)
  // The result is returned only after the process has ended, so that the cell can do nothing afterwards.
  if (child.process.ending) await child.process.gone
  cell.end()
  // Calls that the cell made to the host are stopped.
  const { ending } = child.process
  if (ending) cell.stop(new CellStopped("aborted", `The cell's process is gone: ${ending.why}.`))
  host.endExecutions(cell)
  const { changes = { created: [], reassigned: [], removed: [] }, hints: found = [] } = executed?.summary ?? {}
  host.recordNameChanges(changes)
  const used = takeUsed()
  const hints = [...found, ...cell.hints]
  const lost = [...lostBefore, ...(await host.forgetEndedChild())]
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
    ...(hints.length > 0 && { hints }),
    ...(lost.length > 0 && { lost }),
  }
}

/** How long a cell that was told to stop may take before its process is ended. */
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
  let patience: NodeJS.Timeout | undefined
  const { promise: stopped, resolve: onStopped } = Promise.withResolvers<void>()
  cell.begin(({ kind, message }: CellStopped) => {
    onStopped()
    if (execution === undefined) return
    connection.send({ k: "stop", x: execution, message })
    patience = setTimeout(() => process.kill({ kind, why: message }), graceMs)
  })
  if (cell.stopped) return undefined
  child.used = true
  process.startCell()
  const x = track()
  execution = x
  // The child measures the time-out; the host tells it when to pause.
  const ignore =
    input.timeoutMs === undefined ? undefined : cell.pauses?.((paused) => connection.send({ k: "pause", x, paused }))
  try {
    const { message, value } = await connection.ask("execute", { ...input, x })
    const executed = parseExecuted(message.s, value)
    if (!executed) child.killForViolation("an invalid execution")
    // Callbacks that host code called belong to the cell.
    while (executed && cell.openCalls.size > 0 && !cell.stopped) {
      await Promise.race([Promise.allSettled(cell.openCalls), stopped])
    }
    return executed
  } catch (error) {
    if (!process.ending) process.kill({ kind: "crash", why: `it could not run the cell: ${errorMessage(error)}` })
    return undefined
  } finally {
    ignore?.()
    clearTimeout(patience)
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
  | Pick<CellExecuted, "ok" | "value" | "preview" | "cut" | "undo">
  | Pick<CellNotExecuted, "ok" | "error" | "thrown" | "notRolledBack">

async function cellResultOf(
  executed: ChildExecution | undefined,
  cell: RunningCell,
  child: ConnectedChild,
): Promise<CellResult> {
  if (!executed) return { ok: false, error: processEndError(cell, child) }
  const { summary, value, thrown } = executed
  const { error, preview, cut, notRolledBack, undoable, unclean } = summary
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
    ...(cut && { cut }),
    ...(undoable && { undo: () => undoCell(child) }),
  }
}

/** The outcome of a cell whose code succeeded while a callback of it failed unnoticed; a transaction is rolled back. */
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
