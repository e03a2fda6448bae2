import { setImmediate } from "node:timers/promises"
import { type Ambient, type CompiledCell, compileCell, type Guard } from "../compile.ts"
import { isCut, preview } from "../preview.ts"
import { checkRules, explainViolations, type Rule } from "../rules/rules.ts"
import type { Execution, NotExecuted } from "../runtime.ts"
import { CellSyntaxError, parseCell } from "../syntax.ts"
import { describeThrown, positionIn, rememberCell, trimFrames } from "./errors.ts"
import type { Namespace } from "./namespace.ts"
import { CellStopped, type RunningCell, running } from "./running-cell.ts"

/** Where a cell runs. */
export interface CellPlace {
  namespace: Namespace
  ambient: Ambient
  ambientNames: ReadonlySet<string>
  guard: Guard
  rules: readonly Rule[]
}

/** Runs one cell from its text to its execution: parse, check the rules, compile, run. Whatever happens in the cell is
 *  in the result; this rejects only for what is wrong with Karst itself. */
export async function executeCell(
  code: string,
  filename: string,
  cell: RunningCell,
  place: CellPlace,
): Promise<Execution> {
  const startedAt = performance.now()
  const prepared = prepare(code, filename, place)
  const { scope } = place.namespace
  const outcome = await new Promise<Outcome>((resolve) => {
    cell.begin((reason) => resolve({ stopped: reason }))
    if (cell.stopped) return
    if ("error" in prepared) return resolve(prepared)
    // Not `resolve(promise)`: that would wait for the cell even when it is stopped.
    running.run(cell, () => perform(prepared, cell, place)).then(resolve)
  })
  cell.end()
  const compiled = "error" in prepared ? undefined : prepared
  const { stdout, stderr, output } = cell
  const changes = place.namespace.changesOf(compiled, scope)
  const ran = { stdout, stderr, output, durationMs: performance.now() - startedAt, changes }
  if ("error" in outcome) return { ok: false, error: outcome.error, ...ran }
  if ("stopped" in outcome) return { ok: false, error: stopError(outcome.stopped, filename), ...ran }
  if ("thrown" in outcome) {
    return { ok: false, error: describeThrown(outcome.thrown, filename), thrown: outcome.thrown, ...ran }
  }
  const { value } = outcome
  if (value === undefined || !compiled?.hasValue) return { ok: true, value, ...ran }
  const text = preview(value)
  return { ok: true, value, preview: trimFrames(text), ...(isCut(text) && { cut: true }), ...ran }
}

/** The execution of a cell that was stopped before its turn came. */
export function notStarted(message: string): NotExecuted {
  const changes = { created: [], reassigned: [], removed: [] }
  return { ok: false, error: { kind: "aborted", message }, stdout: "", stderr: "", output: "", durationMs: 0, changes }
}

type Outcome = { value: unknown } | { thrown: unknown } | { stopped: CellStopped } | Refused
type Refused = { error: NotExecuted["error"] }

function prepare(code: string, filename: string, place: CellPlace): CompiledCell | Refused {
  try {
    const parsed = parseCell(code)
    const [violation, ...others] = checkRules(parsed, place.rules)
    if (violation) {
      const { line, column } = violation
      return { error: { kind: "security", message: explainViolations([violation, ...others]), line, column } }
    }
    const { scope, constants } = place.namespace
    const known = new Set(Object.keys(scope))
    const compiled = compileCell(parsed, { filename, known, constants, ambient: place.ambientNames })
    rememberCell(filename, compiled.locate)
    return compiled
  } catch (error) {
    if (!(error instanceof CellSyntaxError)) throw error
    const { line, column } = error
    return { error: { kind: "syntax", message: `${error.name}: ${error.message}`, line, column } }
  }
}

async function perform(compiled: CompiledCell, cell: RunningCell, place: CellPlace): Promise<Outcome> {
  try {
    const value = await compiled.run(place.namespace.scope, place.ambient, place.guard)
    await unawaited(cell)
    return { value }
  } catch (thrown) {
    await unawaited(cell)
    return thrown instanceof CellStopped ? { stopped: thrown } : { thrown }
  }
}

/** A cell ends when every call it started has settled, also those it forgot to await. */
async function unawaited(cell: RunningCell): Promise<void> {
  if (cell.calls.size === 0) return
  while (cell.calls.size > 0) await Promise.allSettled(cell.calls)
  // The failure of a forgotten call is printed a turn later; it still belongs to this cell.
  await setImmediate()
}

function stopError(reason: CellStopped, filename: string): NotExecuted["error"] {
  return { kind: reason.kind, message: reason.message, ...positionIn(filename, reason) }
}
