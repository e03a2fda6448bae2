import type { Json } from "../../core/json.ts"
import { expectList, expectRecord, expectText, ForgedMessage, type WireObject } from "../handles/wire.ts"

/** The report of a cell, which the kernel sends when the cell ends. */
export interface CellReport {
  changes: { created: string[]; reassigned: string[]; removed: string[] }
  hints: string[]
  error?: CellReportError | undefined
  /** Absent when the cell has no value. */
  value?: { value: unknown } | undefined
}

export interface CellReportError {
  kind: "throw" | "syntax" | "memory"
  message: string
  stack?: string
  line?: number
  column?: number
  /** The number of the error of a host function, when the cell failed with it. */
  thrown?: number
}

/** A failure in Python, as TypeScript sees it: its class is the name, its text the message. */
export class PythonError extends Error {
  /** Where in Python it was raised. */
  readonly traceback: string
  /** Of a value that could not cross: where in it. */
  readonly path: string | undefined
  /** Of a name that is not there: those that are. */
  readonly names: string[] | undefined

  constructor({ name, message, stack, path, names }: WireObject) {
    super(expectText(message))
    this.name = expectText(name)
    this.traceback = typeof stack === "string" ? stack : ""
    this.path = typeof path === "string" ? path : undefined
    this.names = names === undefined ? undefined : stringList(names)
  }
}

/** Reads a report. Code in the kernel may have written it: only its form is believed. */
export function parseReport(message: WireObject, read: () => unknown): CellReport {
  const { created, reassigned, removed } = expectRecord(message.changes)
  const changes = { created: stringList(created), reassigned: stringList(reassigned), removed: stringList(removed) }
  const hints = stringList(message.hints)
    .slice(0, maxHints)
    .map((hint) => hint.slice(0, maxHintLength))
  if (message.error !== undefined) return { changes, hints, error: parseReportError(expectRecord(message.error)) }
  return "v" in message ? { changes, hints, value: { value: readOrUndefined(read) } } : { changes, hints }
}

const maxHints = 20
const maxHintLength = 1_000

/** A value that cannot be read does not fail the cell. */
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
