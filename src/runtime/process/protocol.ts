import type { ActionError, NameChanges } from "../../core/event.ts"
import type { Lost, Name, OutputChunk, Snapshot } from "../runtime.ts"
import type { SentEnv } from "../sent-env.ts"
import type { Crossing, Stand } from "./crossing.ts"

/** What the host asks of its child. Every `ask` gets one `result`, every `call` of the child one `answer`. */
export type ToChild =
  | { type: "ask"; id: number; ask: Ask; input: Crossing }
  /** Comes first: the longest message that the host takes. */
  | { type: "limit"; maxBytes: number }
  | { type: "stop"; id: number; message: string }
  /** Time stands still for an execution, or goes on. */
  | { type: "pause"; id: number; paused: boolean }
  | { type: "answer"; id: number; ok: boolean; value: Crossing }

export type Ask =
  | "inject"
  | "update"
  | "retrieve"
  | "execute"
  | "undo"
  | "names"
  | "types"
  | "look"
  | "keep"
  | "reset"
  | "snapshot"
  | "restore"
  | "load"
  | "describe"

/** What a child may say. The host believes nothing of it: see `readMessage`. */
export type FromChild =
  | { type: "result"; id: number; ok: boolean; value: Crossing }
  | { type: "output"; id: number; stream: OutputChunk["stream"]; text: string }
  | { type: "call"; id: number; execution: number; operation: Operation }
  | { type: "release"; handles: [id: number, count: number][] }
  /** What the clock of an execution has shown, and by what it has reached outside; before what comes of it. */
  | { type: "news"; id: number; reads: number[]; effects: string[] }

export interface Operation {
  /** A function binding by its name, or a handle. */
  on: string | number
  /** Members to go through to what is meant. */
  path: string[]
  op: "call" | "new" | "get" | "set" | "iterate" | "dispose" | "check"
  args: Crossing
}

/** One binding as the child gets it; functions are made there from their name alone. */
export interface Entry {
  name: string
  kind: "variable" | "function" | "type"
}

export interface BindInput {
  entries: Entry[]
  /** One for each entry. */
  values: unknown[]
}

export interface ExecuteInput {
  code: string
  timeoutMs?: number | undefined
  variables?: Record<string, string | undefined> | undefined
  env?: SentEnv | undefined
  /** The execution that this one was started from. */
  within?: number | undefined
  /** `check`: the host has a say before it stands. */
  transaction?: "on" | "check" | undefined
}

/** An execution as the child tells it; the host has its output already. What is not there takes no part of a message. */
export interface Summary {
  error?: (ActionError & { stack?: string | undefined }) | undefined
  value?: Crossing | undefined
  thrown?: Crossing | undefined
  preview?: string | undefined
  changes: NameChanges
  hints?: string[] | undefined
  notRolledBack?: Lost[] | undefined
  /** Whether it can be undone until the next cell begins. */
  undoable?: boolean | undefined
  /** Whether something of a stopped cell may still run. */
  unclean?: boolean | undefined
}

/** A name with, where a handle or a function binding is behind it, which. */
export type NameReport = Name & { handle?: number | undefined; binding?: string | undefined }

/** Checks the shape of a message, all of it but the data it carries; undefined when it is none of ours. */
export function readMessage(message: unknown): FromChild | undefined {
  if (!isRecord(message)) return undefined
  switch (message.type) {
    case "result": {
      const { id, ok, value } = message
      if (!isId(id) || typeof ok !== "boolean" || !isCrossing(value)) return undefined
      return { type: "result", id, ok, value }
    }
    case "output": {
      const { id, stream, text } = message
      if (!isId(id) || (stream !== "stdout" && stream !== "stderr") || typeof text !== "string") return undefined
      return { type: "output", id, stream, text }
    }
    case "call": {
      const { id, execution, operation } = message
      if (!isId(id) || !isId(execution) || !isOperation(operation)) return undefined
      return { type: "call", id, execution, operation }
    }
    case "release": {
      const { handles } = message
      if (!isList(handles) || !handles.every(isRelease)) return undefined
      return { type: "release", handles }
    }
    case "news": {
      const { id, reads, effects } = message
      if (!isId(id) || !isList(reads) || !reads.every(Number.isFinite) || !isStrings(effects)) return undefined
      return { type: "news", id, reads: reads.map(Number), effects }
    }
    default:
      return undefined
  }
}

/** The same for what an execution came to. */
export function readSummary(value: unknown): Summary | undefined {
  if (!isRecord(value)) return undefined
  const { error, value: given, thrown, preview, changes, hints, notRolledBack, undoable, unclean } = value
  if (error !== undefined && !isActionError(error)) return undefined
  if ((given !== undefined && !isCrossing(given)) || (thrown !== undefined && !isCrossing(thrown))) return undefined
  if (preview !== undefined && typeof preview !== "string") return undefined
  if (!isRecord(changes) || !isFlag(unclean) || !isFlag(undoable)) return undefined
  const { created, reassigned, removed } = changes
  if (!isStrings(created) || !isStrings(reassigned) || !isStrings(removed)) return undefined
  if (hints !== undefined && !isStrings(hints)) return undefined
  if (notRolledBack !== undefined && !isLost(notRolledBack)) return undefined
  const whole = { error, value: given, thrown, preview, hints, notRolledBack, undoable, unclean }
  return { ...whole, changes: { created, reassigned, removed } }
}

export function readNames(value: unknown): NameReport[] | undefined {
  if (!isList(value)) return undefined
  const reports = value.map((report: unknown): NameReport | undefined => {
    if (!isRecord(report)) return undefined
    const { name, kind, type, size, injected, handle, binding } = report
    if (typeof name !== "string" || typeof type !== "string" || typeof injected !== "boolean") return undefined
    if (kind !== "variable" && kind !== "function" && kind !== "type" && kind !== "agent") return undefined
    if (size !== undefined && typeof size !== "number") return undefined
    if (handle !== undefined && !isId(handle)) return undefined
    if (binding !== undefined && typeof binding !== "string") return undefined
    return { name, kind, type, injected, handle, binding, ...(size !== undefined && { size }) }
  })
  const whole = reports.filter((report) => report !== undefined)
  return whole.length === reports.length ? whole : undefined
}

export function readSnapshot(value: unknown): Snapshot | undefined {
  if (!isRecord(value)) return undefined
  const { version, language, data, hash, lost } = value
  if (version !== 1 || language !== "typescript" || !(data instanceof Uint8Array)) return undefined
  return typeof hash === "string" && isLost(lost) ? { version, language, data, hash, lost } : undefined
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isStrings(value: unknown): value is string[] {
  return isList(value) && value.every((part) => typeof part === "string")
}

/** An array that can be walked: one may claim a length of billions in a few bytes. */
function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= longestList
}

const longestList = 1_000_000

function isFlag(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean"
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isCrossing(value: unknown): value is Crossing {
  if (!isRecord(value)) return false
  const { marks, stands } = value
  if (marks === undefined && stands === undefined) return true
  if (!isList(marks) || !isList(stands) || marks.length !== stands.length) return false
  return marks.every((mark) => isRecord(mark)) && stands.every(isStand)
}

function isStand(value: unknown): value is Stand {
  if (!isRecord(value)) return false
  switch (value.type) {
    case "handle":
      return isId(value.id) && value.shape === undefined
    case "function":
      return typeof value.name === "string"
    case "error": {
      const { name, message, stack, fields } = value
      if (typeof name !== "string" || typeof message !== "string" || !isRecord(fields)) return false
      return stack === undefined || typeof stack === "string"
    }
    default:
      return false
  }
}

function isOperation(value: unknown): value is Operation {
  if (!isRecord(value)) return false
  const { on, path, op, args } = value
  if (!isId(on) && typeof on !== "string") return false
  if (!isStrings(path) || path.length > longestPath) return false
  if (!isCrossing(args) || !isList(args.body) || args.body.length > mostArguments) return false
  return typeof op === "string" && operations.has(op)
}

const operations = new Set(["call", "new", "get", "set", "iterate", "dispose", "check"])
const longestPath = 32
const mostArguments = 1_000

function isRelease(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(isId)
}

function isActionError(value: unknown): value is NonNullable<Summary["error"]> {
  if (!isRecord(value)) return false
  const { kind, message, line, column, stack } = value
  if (typeof kind !== "string" || !errorKinds.has(kind) || typeof message !== "string") return false
  if (stack !== undefined && typeof stack !== "string") return false
  return [line, column].every((place) => place === undefined || typeof place === "number")
}

const errorKinds = new Set(["throw", "syntax", "security", "type", "timeout", "aborted", "memory", "refused"])

export function isLost(value: unknown): value is Lost[] {
  if (!isList(value)) return false
  return value.every(
    (lost) =>
      isRecord(lost) &&
      typeof lost.name === "string" &&
      typeof lost.reason === "string" &&
      (lost.path === undefined || typeof lost.path === "string"),
  )
}
