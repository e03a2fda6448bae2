import { setImmediate } from "node:timers/promises"
import { type Ambient, type CompiledCell, compileCell, type Guard } from "../compile.ts"
import { isCut, preview } from "../preview.ts"
import { checkRules } from "../rules/check-rules.ts"
import { explainViolations, type Rule } from "../rules/rules.ts"
import type { Execution, NotExecuted } from "../runtime.ts"
import { assignedBy, declaredBy, mentionedBy } from "../snapshot/origins.ts"
import { CellSyntaxError, parseCell } from "../syntax.ts"
import type { CellGate } from "../type-gate/cell-gate.ts"
import { realOf } from "./call.ts"
import { describeThrown, positionIn, rememberCell, trimFrames } from "./errors.ts"
import type { Namespace, ReadyCell } from "./namespace.ts"
import { CellStopped, type RunningCell, running } from "./running-cell.ts"
import type { Refusal, Transaction } from "./transaction.ts"

/** Where a cell runs. */
export interface CellPlace {
  namespace: Namespace
  ambient: Ambient
  ambientNames: ReadonlySet<string>
  guard: Guard
  rules: readonly Rule[]
  /** Whether the compiler puts checks around conditions and equalities. */
  checksValues?: boolean | undefined
}

/** Runs one cell from its text to its execution: parse, check the rules and the types, compile, run. Whatever happens in
 *  the cell is in the result; this rejects only for what is wrong with Karst itself. */
export async function executeCell(
  code: string,
  filename: string,
  cell: RunningCell,
  place: CellPlace,
  gate?: CellGate,
  transaction?: Transaction,
): Promise<Execution> {
  const startedAt = performance.now()
  const prepared = prepare(code, filename, place, gate)
  const { scope } = place.namespace
  const outcome = await new Promise<Outcome>((resolve) => {
    cell.begin((reason) => resolve({ stopped: reason }))
    if (cell.stopped) return
    if ("error" in prepared) return resolve(prepared)
    place.namespace.noteUse(prepared.mentions)
    // Not `resolve(promise)`: that would wait for the cell even when it is stopped.
    transaction?.begin(prepared)
    running.run(cell, () => perform(prepared, cell, place, transaction)).then(resolve)
  })
  cell.end()
  const notRolledBack = "value" in outcome ? undefined : transaction?.rollBack()
  const compiled = "error" in prepared || notRolledBack ? undefined : prepared
  const { stdout, stderr, output } = cell
  const changes = place.namespace.changesOf(compiled, scope, "value" in outcome)
  const hints = cell.hints.length > 0 ? { hints: cell.hints } : undefined
  const ran = { stdout, stderr, output, durationMs: performance.now() - startedAt, changes, ...hints }
  if (!("value" in outcome)) {
    return { ok: false, ...failureOf(outcome, filename), ...(notRolledBack && { notRolledBack }), ...ran }
  }
  const value = realOf(outcome.value)
  if (value === undefined || !compiled?.hasValue) return { ok: true, value, ...ran }
  const text = preview(value)
  return { ok: true, value, preview: trimFrames(text), ...(isCut(text) && { cut: true }), ...ran }
}

/** The execution of a cell that was stopped before its turn came. */
export function notStarted(message: string): NotExecuted {
  const changes = { created: [], reassigned: [], removed: [] }
  return { ok: false, error: { kind: "aborted", message }, stdout: "", stderr: "", output: "", durationMs: 0, changes }
}

type Outcome = { value: unknown } | Failed
type Failed = { thrown: unknown; error?: undefined } | { stopped: CellStopped } | Refusal

function failureOf(outcome: Failed, filename: string): Pick<NotExecuted, "error" | "thrown"> {
  if ("stopped" in outcome) return { error: stopError(outcome.stopped, filename) }
  return outcome.error ? outcome : { error: describeThrown(outcome.thrown, filename), thrown: outcome.thrown }
}

function prepare(code: string, filename: string, place: CellPlace, gate?: CellGate): ReadyCell | Refusal {
  try {
    const parsed = parseCell(code)
    const [violation, ...others] = checkRules(parsed, place.rules)
    if (violation) {
      const { line, column } = violation
      return { error: { kind: "security", message: explainViolations([violation, ...others]), line, column } }
    }
    const mistyped = gate?.check(parsed)
    if (mistyped) return { error: mistyped }
    const { scope, constants } = place.namespace
    const known = { has: (name: string) => Object.hasOwn(scope, name) }
    const { ambientNames: ambient, checksValues } = place
    const compiled = compileCell(parsed, { filename, known, constants, ambient, checksValues })
    rememberCell(filename, compiled.locate)
    const assigned = assignedBy(parsed, compiled.declares)
    return { ...compiled, declared: declaredBy(parsed, known), assigned, mentions: () => mentionedBy(parsed, known) }
  } catch (error) {
    if (!(error instanceof CellSyntaxError)) throw error
    const { line, column } = error
    return { error: { kind: "syntax", message: `${error.name}: ${error.message}`, line, column } }
  }
}

async function perform(
  compiled: CompiledCell,
  cell: RunningCell,
  place: CellPlace,
  transaction: Transaction | undefined,
): Promise<Outcome> {
  try {
    const value = await compiled.run(place.namespace.scope, place.ambient, place.guard)
    if (hasOpenCalls(cell)) await unawaited(cell)
    // A cell that kept the event loop to its end was late all the same.
    cell.checkTime()
    for (const report of cell.endReports) report()
    for (const check of cell.endChecks) check()
    const refusal = transaction && (await transaction.check())
    return refusal ?? { value }
  } catch (thrown) {
    if (hasOpenCalls(cell)) await unawaited(cell)
    if (!cell.stopped) for (const report of cell.endReports) report()
    return CellStopped.is(thrown) ? { stopped: thrown } : { thrown: realOf(thrown) }
  }
}

function hasOpenCalls({ calls, callFailed }: RunningCell): boolean {
  return calls.size > 0 || callFailed
}

/** A cell ends when every call it started has settled, also those it forgot to await. */
async function unawaited(cell: RunningCell): Promise<void> {
  while (cell.calls.size > 0) await Promise.allSettled(cell.calls)
  // The failure of a forgotten call is printed a turn later; it still belongs to this cell.
  await setImmediate()
}

function stopError(reason: CellStopped, filename: string): NotExecuted["error"] {
  return { kind: reason.kind, message: reason.message, ...positionIn(filename, reason) }
}
