// Runs one cell: emits its events and turns its output into the text that the model sees.
import { errorData } from "../core/errors.ts"
import type { ActionError, Emit, EventBody } from "../core/event.ts"
import type { CodePart } from "../core/message.ts"
import { bindToThisRun } from "../core/run-context.ts"
import { indentFurtherLines, oneLine, taggedText } from "../core/text/tagged-text.ts"
import type { CallGate, CellExecution, CellOptions, RuntimeLoss, TypeGateMode } from "../runtime/runtime.ts"
import { type CountingGate, callGate, type GateServices } from "./call.ts"
import { endsWithName, type OutputServices, shapeOutput } from "./cell-output.ts"

export interface CodeServices extends GateServices, OutputServices {
  signal: AbortSignal
  cellTimeoutMs?: number | undefined
  typeGate?: TypeGateMode | undefined
  /** The time left for the run. A cell that blocks the event loop can only be stopped by its own time limit. */
  leftMs(): number | undefined
  transaction?: CellOptions["transaction"]
  /** Whether cells may call `finish`. Default false. */
  allowFinish?: boolean | undefined
  /** Returns the clock and the random source of the next cell. Default: the real ones. */
  cellEnv?: (() => CellOptions["env"]) | undefined
}

export type CodeEnd = Extract<EventBody, { type: "code-end" }>

export interface CodeOutcome {
  /** The event that ended the cell, as it was emitted. */
  end: CodeEnd
  /** The text that the cell passed to `finish`; absent if the cell failed. */
  finishText?: string | undefined
  /** The error of a runtime that no longer works; only the host can fix that. */
  failure?: unknown
}

/** Runs a cell, emits its events and returns the last one. The result text holds the printed output and the value of
 *  the last expression, up to `maxOutputChars`. Longer output is stored whole in a fresh variable: printed output as
 *  text, a value as itself. Never throws. */
export async function performCode(part: CodePart, services: CodeServices, emit: Emit): Promise<CodeOutcome> {
  const outcome = part.closed ? await runCell(part, services, emit) : { end: neverClosed(part) }
  emit(outcome.end)
  return outcome
}

function neverClosed({ id }: CodePart): CodeEnd {
  const error: ActionError = { kind: "incomplete", message: "The code block was never closed, so it was not run." }
  return codeNotRun(id, error, `${error.message} Send it again, complete.`)
}

async function runCell(part: CodePart, services: CodeServices, emit: Emit): Promise<CodeOutcome> {
  const calls = callGate(services, part.id, emit)
  try {
    return await executeCell(part, calls, services, emit)
  } catch (failure) {
    const message = `The runtime failed: ${errorData(failure).message}`
    return { end: { ...codeNotRun(part.id, { kind: "crash", message }), calls: calls.count }, failure }
  }
}

async function executeCell(
  part: CodePart,
  calls: CountingGate,
  services: CodeServices,
  emit: Emit,
): Promise<CodeOutcome> {
  const started = services.activeMs()
  const execution = await services.runtime.execute(part.code, {
    signal: services.signal,
    timeoutMs: shorterTime(services.cellTimeoutMs, services.leftMs()),
    subscribeToPauses: services.pauseSignal,
    typeGate: services.typeGate,
    callGate: withinThisRun(calls.gate),
    owner: services.approved,
    transaction: services.transaction,
    allowFinish: services.allowFinish,
    env: services.cellEnv?.(),
    maxPreviewChars: services.maxOutputChars,
    // A value that has a name needs no other.
    ...(endsWithName(part.code) ? {} : { keepCutValue: keptOutput(services) }),
    onOutput: (chunk) => emit({ type: "code-delta", id: part.id, of: chunk.stream, text: chunk.text }),
  })
  const shaped = await shapeOutput(part.code, execution, services)
  const end: CodeEnd = {
    type: "code-end",
    id: part.id,
    ok: execution.ok,
    text: [shaped.text, ...executionNotes(execution)].join("\n"),
    durationMs: Math.round(services.activeMs() - started),
    changes: execution.changes,
    calls: calls.count,
    ...(execution.ok ? {} : { error: toActionError(execution.error) }),
    ...(shaped.kept === undefined ? {} : { kept: shaped.kept }),
    ...(shaped.keptValue === undefined ? {} : { keptValue: shaped.keptValue }),
    ...(shaped.dropped.length > 0 ? { dropped: shaped.dropped } : {}),
    ...(execution.images?.length ? { images: execution.images } : {}),
  }
  return execution.ok && execution.finishText !== undefined ? { end, finishText: execution.finishText } : { end }
}

function keptOutput({ reservedNames }: CodeServices): CellOptions["keepCutValue"] {
  return { prefix: "_output", reservedNames: [...reservedNames].filter((name) => name.startsWith("_output_")) }
}

// Calls may arrive from another process without a run context. Runs that they start end with the cell or the call.
function withinThisRun(gate: CallGate): CallGate {
  const within = bindToThisRun()
  return (call, next) =>
    within(call.signal, () =>
      gate(call, (change) => (change?.signal ? within(change.signal, () => next(change)) : next(change))),
    )
}

function shorterTime(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b)
}

/** Returns the `code-end` event of a cell that did not run, or not to its end. */
export function codeNotRun(id: string, error: ActionError, text = error.message): CodeEnd {
  const changes = { created: [], reassigned: [], removed: [] }
  return { type: "code-end", id, ok: false, text: taggedText("error", text), durationMs: 0, changes, calls: 0, error }
}

// What the model must know beyond the printed output. Cells control these texts, so they stay inside `<output>`.
function executionNotes(execution: CellExecution): string[] {
  const { hints = [], lost = [] } = execution
  return [
    ...(hints.length > 0
      ? [`Doubtful, by its types:\n${hints.map((hint) => `- ${indentFurtherLines(hint)}`).join("\n")}`]
      : []),
    ...(lost.length > 0 ? [restartedText(lost)] : []),
    ...(execution.ok || !execution.notRolledBack ? [] : [rolledBackText(execution.error, execution.notRolledBack)]),
  ]
    .filter((note) => note !== "")
    .map((note) => taggedText("output", note))
}

// The runtime does not know which injected objects cells had changed, so all are listed, apart from lost names.
function restartedText(lost: readonly RuntimeLoss[]): string {
  const gone = lost.filter(({ asInjected }) => !asInjected)
  const names = lost.filter(({ asInjected }) => asInjected).map(({ name }) => name)
  return [
    "The session was started again.",
    ...(gone.length > 0 ? [`Gone: ${listLost(gone)}.`] : []),
    ...(names.length > 0
      ? [`As injected again, without what cells did to them: ${joinSome(names.map((name) => oneLine(name)))}.`]
      : []),
  ].join(" ")
}

// A cell that never ran needs no rollback.
function rolledBackText({ kind }: ActionError, except: readonly RuntimeLoss[]): string {
  if (except.length > 0) return `The cell was rolled back, except: ${listLost(except)}`
  if (kind === "syntax" || kind === "security" || kind === "type") return ""
  return "The cell was rolled back: nothing that it did to the namespace is left."
}

function listLost(lost: readonly RuntimeLoss[]): string {
  return joinSome(lost.map(({ name, path = "", reason }) => oneLine(`${name}${path} (${reason})`)))
}

function joinSome(texts: readonly string[]): string {
  const shown = texts.slice(0, 20)
  return texts.length > shown.length ? `${shown.join(", ")} and ${texts.length - shown.length} more` : shown.join(", ")
}

function toActionError({ kind, message, line, column }: ActionError): ActionError {
  return { kind, message, ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}
