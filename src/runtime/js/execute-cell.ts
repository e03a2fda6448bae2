// Runs one cell: parse, check rules and types, compile, run, and build the execution result.
import { setImmediate } from "node:timers/promises"
import { type Ambient, type CompiledCell, compileCell, type LoopGuard } from "../compiler/compile-cell.ts"
import { CellSyntaxError, parseCell } from "../compiler/parse-cell.ts"
import { checkRules } from "../rules/check-rules.ts"
import { explainViolations, type Rule } from "../rules/rules.ts"
import type { CellExecuted, CellExecution, CellNotExecuted, CellOptions } from "../runtime.ts"
import { defaultShownChars, showValue } from "../show/show-value.ts"
import { assignedNames, cellDeclarations, mentionedNames } from "../snapshot/code-origins.ts"
import type { CellTypeGate } from "../type-gate/in-process-type-gate.ts"
import { cleanStackText, describeThrown, positionInCell, registerCellLocator } from "./cell-errors.ts"
import type { Namespace, PreparedCell } from "./namespace.ts"
import { unwrapObjectProxy } from "./proxies/function-proxy.ts"
import { CellStopped, cellStorage, type RunningCell } from "./running-cell.ts"
import type { CellRefusal, Transaction } from "./transaction.ts"

/** What the cells of a runtime run in. */
export interface CellContext {
  namespace: Namespace
  ambient: Ambient
  ambientNames: ReadonlySet<string>
  guard: LoopGuard
  rules: readonly Rule[]
  /** Whether the compiler adds checks of values that may be remote. */
  checkRemoteValues?: boolean | undefined
}

/** Everything that happens in the cell is part of the result; this rejects only for errors of Karst itself. */
export async function executeCell(
  code: string,
  filename: string,
  cell: RunningCell,
  context: CellContext,
  typeGate?: CellTypeGate,
  transaction?: Transaction,
): Promise<CellExecution> {
  const startedAt = performance.now()
  const prepared = prepareCell(code, filename, context, typeGate)
  const { scope } = context.namespace
  const outcome = await new Promise<Outcome>((resolve) => {
    cell.begin((reason) => resolve({ stopped: reason }))
    if (cell.stopped) return
    if ("error" in prepared) return resolve(prepared)
    context.namespace.markMentionedObjectsUsed(prepared.mentions)
    transaction?.begin(prepared)
    // Not `resolve(promise)`: that would wait for the cell even if it is stopped.
    cellStorage.run(cell, () => runPreparedCell(prepared, cell, context, transaction)).then(resolve)
  })
  cell.end()
  const notRolledBack = "value" in outcome ? undefined : transaction?.rollBack()
  const compiled = "error" in prepared || notRolledBack ? undefined : prepared
  const { stdout, stderr, output } = cell
  const changes = context.namespace.recordChanges(compiled, scope, "value" in outcome)
  const types = context.namespace.describeTypes(changes)
  const hints = cell.hints.length > 0 ? { hints: cell.hints } : undefined
  const base = { stdout, stderr, output, durationMs: performance.now() - startedAt, changes, ...types, ...hints }
  if (!("value" in outcome)) {
    return { ok: false, ...failureOf(outcome, filename), ...(notRolledBack && { notRolledBack }), ...base }
  }
  const value = unwrapObjectProxy(outcome.value)
  const done = { ok: true, value, ...(cell.finishText !== undefined && { finishText: cell.finishText }) } as const
  if (!compiled?.hasValue) return { ...done, ...base }
  if (value === undefined) return { ...done, endsInUndefined: true, ...base }
  context.ambient._ = outcome.value
  return { ...done, ...shownValue(value, outcome.value, cell.previewOptions, output.length, context), ...base }
}

/** Shows the value within what the printed output leaves of the limit, at least half of it. `cellValue` is the value as
 *  cells have it, with its guards. */
function shownValue(
  value: unknown,
  cellValue: unknown,
  { maxPreviewChars = defaultShownChars, keepCutValue }: PreviewOptions,
  printedChars: number,
  { namespace }: CellContext,
): Pick<CellExecuted, "preview" | "truncated" | "kept"> {
  const { text, cut } = showValue(value, Math.max(maxPreviewChars - printedChars, Math.floor(maxPreviewChars / 2)))
  const preview = cleanStackText(text)
  if (!cut) return { preview }
  if (!keepCutValue) return { preview, truncated: true }
  const { prefix, reservedNames } = keepCutValue
  return { preview, truncated: true, kept: namespace.keep(prefix, cellValue, reservedNames) }
}

type PreviewOptions = Pick<CellOptions, "maxPreviewChars" | "keepCutValue">

/** The execution of a cell that was aborted while it waited in the queue. */
export function notStartedExecution(message: string): CellNotExecuted {
  const changes = { created: [], reassigned: [], removed: [] }
  return { ok: false, error: { kind: "aborted", message }, stdout: "", stderr: "", output: "", durationMs: 0, changes }
}

type Outcome = { value: unknown } | Failed
type Failed = { thrown: unknown; error?: undefined } | { stopped: CellStopped } | CellRefusal

function failureOf(outcome: Failed, filename: string): Pick<CellNotExecuted, "error" | "thrown"> {
  if ("stopped" in outcome) return { error: stopError(outcome.stopped, filename) }
  return outcome.error ? outcome : { error: describeThrown(outcome.thrown, filename), thrown: outcome.thrown }
}

function prepareCell(
  code: string,
  filename: string,
  context: CellContext,
  typeGate?: CellTypeGate,
): PreparedCell | CellRefusal {
  try {
    const parsed = parseCell(code)
    const [violation, ...others] = checkRules(parsed, context.rules)
    if (violation) {
      const { line, column } = violation
      return { error: { kind: "security", message: explainViolations([violation, ...others]), line, column } }
    }
    const typeError = typeGate?.check(parsed)
    if (typeError) return { error: typeError }
    const { scope, constants } = context.namespace
    const known = { has: (name: string) => Object.hasOwn(scope, name) }
    const { ambientNames: ambient, checkRemoteValues } = context
    const compiled = compileCell(parsed, { filename, known, constants, ambient, checkRemoteValues })
    registerCellLocator(filename, compiled.locate)
    const assigned = assignedNames(parsed, compiled.declares)
    return {
      ...compiled,
      declared: cellDeclarations(parsed, known),
      assigned,
      mentions: () => mentionedNames(parsed, known),
    }
  } catch (error) {
    if (!(error instanceof CellSyntaxError)) throw error
    const { line, column } = error
    return { error: { kind: "syntax", message: `${error.name}: ${error.message}`, line, column } }
  }
}

async function runPreparedCell(
  compiled: CompiledCell,
  cell: RunningCell,
  context: CellContext,
  transaction: Transaction | undefined,
): Promise<Outcome> {
  try {
    const value = await compiled.run(context.namespace.scope, context.ambient, context.guard)
    if (hasOpenCalls(cell)) await waitForOpenCalls(cell)
    // A cell that blocked the event loop until its end may have missed its deadline.
    cell.throwIfStoppedOrLate()
    for (const report of cell.endReports) report()
    for (const check of cell.endChecks) check()
    const refusal = transaction && (await transaction.runCheck())
    return refusal ?? { value }
  } catch (thrown) {
    if (hasOpenCalls(cell)) await waitForOpenCalls(cell)
    if (!cell.stopped) for (const report of cell.endReports) report()
    return CellStopped.is(thrown) ? { stopped: thrown } : { thrown: unwrapObjectProxy(thrown) }
  }
}

function hasOpenCalls({ openCalls, hasFailedCall }: RunningCell): boolean {
  return openCalls.size > 0 || hasFailedCall
}

/** A cell ends when every call it started has settled, also calls that it did not await. */
async function waitForOpenCalls(cell: RunningCell): Promise<void> {
  while (cell.openCalls.size > 0) await Promise.allSettled(cell.openCalls)
  // The failure of a call that was not awaited is printed one event-loop turn later; it still belongs to this cell.
  await setImmediate()
}

function stopError(reason: CellStopped, filename: string): CellNotExecuted["error"] {
  return { kind: reason.kind, message: reason.message, ...positionInCell(filename, reason) }
}
