import { CellStopped, type RunningCell } from "../cells/running-cell.ts"
import type { Executed, Execution, Lost, NotExecuted } from "../runtime.ts"
import type { Host } from "./host.ts"
import type { Reply } from "./link.ts"
import type { Live } from "./live.ts"
import { type ExecuteInput, isLost, readSummary, type Summary } from "./protocol.ts"

/** Runs a cell in the child. A cell that must stop is asked to first; if that is not the end of it at once, and of all it
 *  has started, its process is ended: what cells had in it is then lost, and named. */
export async function executeRemotely(
  cell: RunningCell,
  input: ExecuteInput,
  host: Host,
  check?: () => unknown,
): Promise<Execution> {
  const child = await host.connect()
  const lostBefore = host.takeLost()
  const startedAt = performance.now()
  const reply = await ask(cell, input, child, (id) => host.track(id, cell, check))
  const summary = reply?.ok ? summaryOf(reply, child) : undefined
  if (reply && !reply.ok)
    child.link.kill({ kind: "crash", why: `it could not run the cell: ${reasonOf(reply, child)}` })
  const outcome = outcomeOf(summary, cell, child)
  // The process is gone before anybody hears of it: nothing can happen afterwards.
  if (child.link.ending) await child.link.gone
  cell.end()
  // What it has asked the host for is for nobody now.
  if (child.link.ending) cell.stop(new CellStopped("aborted", `The cell's process is gone: ${child.link.ending.why}.`))
  host.untrack(cell)
  const { changes = { created: [], reassigned: [], removed: [] }, hints } = summary ?? {}
  host.note(changes)
  const lost = [...lostBefore, ...(await host.settle())]
  const { stdout, stderr, output } = cell
  return {
    ...outcome,
    ...{ stdout, stderr, output, durationMs: performance.now() - startedAt, changes },
    ...(hints && { hints }),
    ...(lost.length > 0 && { lost }),
  }
}

/** How long a cell that was told to stop may take before its process is ended. */
const graceMs = 200

async function ask(
  cell: RunningCell,
  input: ExecuteInput,
  child: Live,
  track: (id: number) => void,
): Promise<Reply | undefined> {
  let execution: number | undefined
  let patience: NodeJS.Timeout | undefined
  cell.begin(({ kind, message }: CellStopped) => {
    if (execution === undefined) return
    child.link.send({ type: "stop", id: execution, message })
    patience = setTimeout(() => child.link.kill({ kind, why: message }), graceMs)
  })
  if (cell.stopped) return undefined
  child.used = true
  child.link.startCell()
  let ignore: (() => void) | undefined
  const reply = await child.link.ask("execute", { body: input }, (id) => {
    execution = id
    track(id)
    // Its clock is there.
    if (input.timeoutMs === undefined) return
    ignore = cell.pauses?.((paused) => child.link.send({ type: "pause", id, paused }))
  })
  ignore?.()
  clearTimeout(patience)
  return reply
}

function summaryOf({ value }: Reply, child: Live): Summary | undefined {
  const summary = readSummary(value.body)
  if (!summary) child.accuse("an execution that is none")
  return summary
}

function reasonOf({ value }: Reply, child: Live): string {
  try {
    const error = child.take(value)
    return error instanceof Error ? error.message : "it did not say why"
  } catch {
    return "it did not say why"
  }
}

async function undoCell(child: Live): Promise<Lost[]> {
  const lost = await child.ask("undo", undefined)
  if (!isLost(lost)) throw child.accuse("an undoing that is none")
  return lost
}

type Outcome =
  | Pick<Executed, "ok" | "value" | "preview" | "undo">
  | Pick<NotExecuted, "ok" | "error" | "thrown" | "notRolledBack">

function outcomeOf(summary: Summary | undefined, cell: RunningCell, child: Live): Outcome {
  if (!summary) return { ok: false, error: endError(cell, child) }
  const { error, value, thrown, preview, notRolledBack, undoable, unclean } = summary
  if (unclean) child.link.kill({ kind: "aborted", why: "what the cell had under way had to be ended" })
  if (cell.stopped) return { ok: false, error: { ...placeOf(error), ...stopError(cell.stopped) } }
  try {
    if (!error) {
      const told = { ...(preview !== undefined && { preview }), ...(undoable && { undo: () => undoCell(child) }) }
      return { ok: true, value: value && child.take(value), ...told }
    }
    const rest = { ...(thrown && { thrown: child.take(thrown) }), ...(notRolledBack && { notRolledBack }) }
    return { ok: false, error, ...rest }
  } catch {
    return { ok: false, error: endError(cell, child) }
  }
}

function endError({ stopped }: RunningCell, { link: { ending } }: Live): NotExecuted["error"] {
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
