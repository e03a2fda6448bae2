import { AgentError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"

/** What a cell left behind, told by the kernel when it ends. */
export interface Report {
  changes: { created: string[]; reassigned: string[]; removed: string[] }
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
  /** The number of what a function of the host threw, when that is what the cell failed of. */
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

  constructor({ name, message, stack, path, names }: { [key: string]: Json }) {
    super(text(message))
    this.name = text(name)
    this.traceback = typeof stack === "string" ? stack : ""
    this.path = typeof path === "string" ? path : undefined
    this.names = names === undefined ? undefined : texts(names)
  }
}

/** What the kernel says about itself may have been made up by the code in it: only its form is believed. */
export function reportOf(message: { [key: string]: Json }, read: () => unknown): Report {
  const { created, reassigned, removed } = record(message.changes)
  const changes = { created: texts(created), reassigned: texts(reassigned), removed: texts(removed) }
  if (message.error !== undefined) return { changes, error: errorOf(record(message.error)) }
  if (!("v" in message)) return { changes }
  try {
    return { changes, value: { value: read() } }
  } catch {
    return { changes, value: { value: undefined } }
  }
}

function errorOf({ kind, message, stack, line, column, thrown }: { [key: string]: Json }): ReportedError {
  return {
    kind: kind === "syntax" || kind === "memory" ? kind : "throw",
    message: text(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
    ...(typeof thrown === "number" && { thrown }),
  }
}

export function record(found: Json | undefined): { [key: string]: Json } {
  return typeof found === "object" && found !== null && !Array.isArray(found) ? found : {}
}

function texts(found: Json | undefined): string[] {
  return list(found).map(text)
}

export function list(found: Json | undefined): Json[] {
  return Array.isArray(found) ? found : []
}

// Not by `String` or `Number`: they would call what the kernel put under `toString`.
export function text(found: Json | undefined): string {
  if (typeof found !== "string") throw malformed("something that is no text")
  return found
}

export function number(found: Json | undefined): number {
  if (typeof found !== "number") throw malformed("something that is no number")
  return found
}

export function malformed(what: string): AgentError {
  return new AgentError(`The Python kernel sent ${what}.`, { code: "invalid-value" })
}

export function pairs(found: Json | undefined): Json[][] {
  return Array.isArray(found) ? found.filter((pair) => Array.isArray(pair)) : []
}
