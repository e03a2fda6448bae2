import { thrownText } from "../../core/errors.ts"
import { describeThrown } from "../cells/errors.ts"
import { CellStopped, type RunningCell } from "../cells/running-cell.ts"
import type { Executed, Execution, Lost, NotExecuted } from "../runtime.ts"
import type { Host } from "./host.ts"
import type { Live } from "./live.ts"
import { type ExecuteInput, isLost, readExecuted, type Summary } from "./protocol.ts"

/** Runs a cell in the child. `takeUsed` gives the names of host objects that cells used meanwhile. A cell that must stop is first told to. If it, or work that it started, goes on, the
 *  process is ended, and the execution names what was lost with it. */
export async function executeRemotely(
  cell: RunningCell,
  input: ExecuteInput,
  host: Host,
  takeUsed: () => string[],
  check?: () => unknown,
): Promise<Execution> {
  const child = await host.connect()
  const lostBefore = host.takeLost()
  const startedAt = performance.now()
  const executed = await execute(cell, input, child, () => host.track(child, cell, check))
  const outcome = await outcomeOf(executed, cell, child)
  // The result is returned only after the process has ended, so that the cell can do nothing afterwards.
  if (child.process.ending) await child.process.gone
  cell.end()
  // Calls that the cell made to the host are stopped.
  const { ending } = child.process
  if (ending) cell.stop(new CellStopped("aborted", `The cell's process is gone: ${ending.why}.`))
  host.untrack(cell)
  const { changes = { created: [], reassigned: [], removed: [] }, hints: found = [] } = executed?.summary ?? {}
  host.note(changes)
  const used = takeUsed()
  const hints = [...found, ...cell.hints]
  const lost = [...lostBefore, ...(await host.settle())]
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

interface RemoteExecution {
  summary: Summary
  value: unknown
  thrown: unknown
}

async function execute(
  cell: RunningCell,
  input: ExecuteInput,
  child: Live,
  track: () => string,
): Promise<RemoteExecution | undefined> {
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
    const executed = readExecuted(message.s, value)
    if (!executed) child.accuse("an invalid execution")
    // Callbacks that host code called belong to the cell.
    while (executed && cell.calls.size > 0 && !cell.stopped) {
      await Promise.race([Promise.allSettled(cell.calls), stopped])
    }
    return executed
  } catch (error) {
    if (!process.ending) process.kill({ kind: "crash", why: `it could not run the cell: ${reasonOf(error)}` })
    return undefined
  } finally {
    ignore?.()
    clearTimeout(patience)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : thrownText(error)
}

async function undoCell(child: Live): Promise<Lost[]> {
  const lost = await child.ask("undo")
  if (!isLost(lost)) throw child.accuse("an invalid answer to `undo`")
  return lost
}

type Outcome =
  | Pick<Executed, "ok" | "value" | "preview" | "cut" | "undo">
  | Pick<NotExecuted, "ok" | "error" | "thrown" | "notRolledBack">

async function outcomeOf(executed: RemoteExecution | undefined, cell: RunningCell, child: Live): Promise<Outcome> {
  if (!executed) return { ok: false, error: endError(cell, child) }
  const { summary, value, thrown } = executed
  const { error, preview, cut, notRolledBack, undoable, unclean } = summary
  if (unclean) child.process.kill({ kind: "aborted", why: "what the cell had under way had to be ended" })
  if (cell.stopped) return { ok: false, error: { ...placeOf(error), ...stopError(cell.stopped) } }
  if (error) {
    return { ok: false, error, ...(thrown !== undefined && { thrown }), ...(notRolledBack && { notRolledBack }) }
  }
  const failed = await hostFailure(cell, undoable ? child : undefined)
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
async function hostFailure(cell: RunningCell, undoing: Live | undefined): Promise<Outcome | undefined> {
  try {
    for (const check of cell.endChecks) check()
    return undefined
  } catch (thrown) {
    const notRolledBack = undoing ? await undoCell(undoing) : undefined
    return { ok: false, error: describeThrown(thrown, ""), thrown, ...(notRolledBack && { notRolledBack }) }
  }
}

function endError({ stopped }: RunningCell, { process: { ending } }: Live): NotExecuted["error"] {
  if (stopped) return stopError(stopped)
  const { kind = "crash", why = "it is gone" } = ending ?? {}
  return { kind, message: `The cell was stopped with its process: ${why}.` }
}

function stopError({ kind, message }: CellStopped): NotExecuted["error"] {
  return { kind, message }
}

function placeOf(error: Summary["error"]): { line?: number; column?: number } {
  const { line, column } = error ?? {}
  return { ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}
