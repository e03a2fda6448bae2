import type { Json } from "../../core/json.ts"
import { Forged, listIn, recordIn, textIn, type WireObject } from "../handles/wire.ts"

/** The report of a cell, which the kernel sends when the cell ends. */
export interface Report {
  changes: { created: string[]; reassigned: string[]; removed: string[] }
  hints: string[]
  error?: ReportedError | undefined
  /** Absent when the cell has no value. */
  value?: { value: unknown } | undefined
}

export interface ReportedError {
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
    super(textIn(message))
    this.name = textIn(name)
    this.traceback = typeof stack === "string" ? stack : ""
    this.path = typeof path === "string" ? path : undefined
    this.names = names === undefined ? undefined : texts(names)
  }
}

/** Reads a report. Code in the kernel may have written it: only its form is believed. */
export function reportOf(message: WireObject, read: () => unknown): Report {
  const { created, reassigned, removed } = recordIn(message.changes)
  const changes = { created: texts(created), reassigned: texts(reassigned), removed: texts(removed) }
  const hints = texts(message.hints)
    .slice(0, mostHints)
    .map((hint) => hint.slice(0, longestHint))
  if (message.error !== undefined) return { changes, hints, error: errorOf(recordIn(message.error)) }
  return "v" in message ? { changes, hints, value: { value: readable(read) } } : { changes, hints }
}

const mostHints = 20
const longestHint = 1_000

/** A value that cannot be read does not fail the cell. */
function readable(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (Forged.is(error)) throw error
    return undefined
  }
}

function errorOf({ kind, message, stack, line, column, thrown }: WireObject): ReportedError {
  return {
    kind: kind === "syntax" || kind === "memory" ? kind : "throw",
    message: textIn(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
    ...(typeof thrown === "number" && { thrown }),
  }
}

function texts(found: Json | undefined): string[] {
  return found === undefined ? [] : listIn(found).map(textIn)
}
