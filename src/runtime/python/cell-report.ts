// Parses the report that the kernel sends when a cell ends, and the errors of Python code.
import type { Json } from "../../core/json.ts"
import { reportedFinishText } from "../finish-text.ts"
import { expectList, expectRecord, expectText, ForgedMessage, type WireObject } from "../handles/wire.ts"
import { readTypes } from "../process/child-protocol.ts"

export interface CellReport {
  changes: { created: string[]; reassigned: string[]; removed: string[] }
  types: Record<string, string>
  /** Whether the cell ends with an expression whose value is None. */
  endsInUndefined: boolean
  hints: string[]
  /** The text that the cell passed to `finish`. */
  finishText?: string | undefined
  error?: CellReportError | undefined
  /** Absent when the cell has no value. */
  value?: { value: unknown } | undefined
  /** Whether the text of the value leaves something out. */
  isCut?: boolean
  /** The name under which the kernel kept the value. */
  kept?: string
}

export interface CellReportError {
  kind: "throw" | "syntax" | "memory"
  message: string
  stack?: string
  line?: number
  column?: number
  /** If the cell failed with an error of a host function, the number of that error. */
  thrown?: number
}

/** A Python exception: `name` is its class, `message` its text. */
export class PythonError extends Error {
  readonly traceback: string
  /** If a value could not cross: the path to the part that cannot. */
  readonly path: string | undefined
  /** If a name does not exist: the names that do. */
  readonly names: string[] | undefined

  constructor({ name, message, stack, path, names }: WireObject) {
    super(expectText(message))
    this.name = expectText(name)
    this.traceback = typeof stack === "string" ? stack : ""
    this.path = typeof path === "string" ? path : undefined
    this.names = names === undefined ? undefined : stringList(names)
  }
}

/** Parses a report. Cells can forge it, so its form is checked and its size limited. */
export function parseReport(message: WireObject, read: () => unknown): CellReport {
  const { created, reassigned, removed } = expectRecord(message.changes)
  const changes = { created: stringList(created), reassigned: stringList(reassigned), removed: stringList(removed) }
  const hints = stringList(message.hints)
    .slice(0, maxHints)
    .map((hint) => hint.slice(0, maxHintLength))
  const finishText = reportedFinishText(message.finish)
  const endsInUndefined = message.none === true
  const report = { changes, types: readTypes(message.types), endsInUndefined, hints, finishText }
  if (message.error !== undefined) return { ...report, error: parseReportError(expectRecord(message.error)) }
  if (!("v" in message)) return report
  const { cut, kept } = message
  return {
    ...report,
    value: { value: readOrUndefined(read) },
    ...(cut === true && { isCut: true }),
    ...(typeof kept === "string" && { kept }),
  }
}

const maxHints = 20
const maxHintLength = 1_000

/** A cell does not fail if its value cannot be decoded. */
function readOrUndefined(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (ForgedMessage.is(error)) throw error
    return undefined
  }
}

function parseReportError({ kind, message, stack, line, column, thrown }: WireObject): CellReportError {
  return {
    kind: kind === "syntax" || kind === "memory" ? kind : "throw",
    message: expectText(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
    ...(typeof thrown === "number" && { thrown }),
  }
}

function stringList(found: Json | undefined): string[] {
  return found === undefined ? [] : expectList(found).map(expectText)
}
