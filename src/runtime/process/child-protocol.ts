// The host's requests to a child and the checks of its answers. Generated code may control the child, so the host
// checks the form of every answer and ends a child that sends an invalid one.
import type { ActionError, NameChanges } from "../../core/event.ts"
import { isRecord, withoutUndefined } from "../../core/object.ts"
import { reportedFinishText } from "../finish-text.ts"
import type { WireObject } from "../handles/wire.ts"
import type { RemoteEnv } from "../remote-env.ts"
import type { CellOptions, RuntimeLoss, RuntimeName, RuntimeSnapshot } from "../runtime.ts"
import { shortTypeText } from "./child-type-text.ts"

export interface BindEntry {
  name: string
  kind: "variable" | "function" | "type"
}

export interface BindInput {
  entries: BindEntry[]
  /** One for each entry. */
  values: unknown[]
}

export interface ExecuteInput {
  code: string
  timeoutMs?: number | undefined
  variables?: Record<string, string | undefined> | undefined
  env?: RemoteEnv | undefined
  /** The id of the execution that this one was started from. */
  within?: string | undefined
  /** `check`: the host decides whether the transaction is committed. */
  transaction?: "on" | "check" | undefined
  maxPreviewChars?: CellOptions["maxPreviewChars"]
  keepCutValue?: CellOptions["keepCutValue"]
  allowFinish?: CellOptions["allowFinish"]
  /** True if snapshots must know which injected values cells change. */
  trackInjected?: boolean | undefined
}

/** The result of an execution without its output, which was sent before. */
export interface ExecutionSummary {
  error?: (ActionError & { stack?: string | undefined }) | undefined
  preview?: string | undefined
  cut?: boolean | undefined
  /** The name under which the child kept the value. */
  kept?: string | undefined
  endsInUndefined?: boolean | undefined
  /** The text that the cell passed to `finish`. */
  finishText?: string | undefined
  changes: NameChanges
  types?: Record<string, string> | undefined
  hints?: string[] | undefined
  notRolledBack?: RuntimeLoss[] | undefined
  /** True if the execution can be undone until the next cell begins. */
  undoable?: boolean | undefined
  /** True if code of a stopped cell may still run. */
  unclean?: boolean | undefined
}

/** A name of the namespace, with the number of the host object behind it if there is one. */
export type NameReport = RuntimeName & { handle?: number | undefined }

/** Parses the answer to `execute`: the summary as plain JSON, and a list of at most the value and the thrown error.
 *  Returns undefined if the answer is invalid. */
export function parseExecuted(
  summary: unknown,
  values: unknown,
): { summary: ExecutionSummary; value: unknown; thrown: unknown } | undefined {
  if (!isBoundedArray(values) || values.length > 2) return undefined
  const read = parseExecutionSummary(summary)
  return read && { summary: read, value: values[0], thrown: values[1] }
}

export function summaryToWire(summary: ExecutionSummary): WireObject {
  const { error, preview, cut, kept, endsInUndefined, finishText, undoable, unclean } = summary
  const { changes, types, hints, notRolledBack } = summary
  const { created, reassigned, removed } = changes
  return {
    changes: { created, reassigned, removed },
    ...(types && { types }),
    ...(error && { error: withoutUndefined(error) }),
    ...withoutUndefined({ preview, cut, kept, endsInUndefined, finishText, undoable, unclean }),
    ...(hints && { hints }),
    ...(notRolledBack && { notRolledBack: notRolledBack.map((lost) => withoutUndefined(lost)) }),
  }
}

function parseExecutionSummary(value: unknown): ExecutionSummary | undefined {
  if (!isRecord(value)) return undefined
  const { error, preview, cut, kept, endsInUndefined, changes, types, hints, notRolledBack, undoable, unclean } = value
  const finishText = reportedFinishText(value.finishText)
  if (error !== undefined && !isActionError(error)) return undefined
  if (![preview, kept].every((text) => text === undefined || typeof text === "string")) return undefined
  if (!isRecord(changes) || ![unclean, undoable, cut, endsInUndefined].every(isOptionalBoolean)) return undefined
  const { created, reassigned, removed } = changes
  if (!isStringArray(created) || !isStringArray(reassigned) || !isStringArray(removed)) return undefined
  if (hints !== undefined && !isStringArray(hints)) return undefined
  if (notRolledBack !== undefined && !isLostList(notRolledBack)) return undefined
  const flags = {
    ...(undoable === true && { undoable }),
    ...(unclean === true && { unclean }),
    ...(cut === true && { cut }),
    ...(typeof kept === "string" && { kept }),
    ...(typeof preview === "string" && { preview }),
    ...(finishText !== undefined && { finishText }),
    ...(endsInUndefined === true && { endsInUndefined }),
    ...(types !== undefined && { types: readTypes(types) }),
  }
  const shortHints = hints?.slice(0, maxHints).map((hint) => hint.slice(0, maxHintLength))
  return { error, hints: shortHints, notRolledBack, ...flags, changes: { created, reassigned, removed } }
}

/** Reads the types of names that a child or a kernel sent: short texts, and not too many of them. */
export function readTypes(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value).slice(0, maxShownTypes) : []
  return Object.fromEntries(
    entries.flatMap(([name, type]) => (typeof type === "string" ? [[name, shortTypeText(type)] as const] : [])),
  )
}

const maxShownTypes = 20

/** The maximum number of hints in the result of a cell. */
export const maxHints = 50
const maxHintLength = 4_000

export function parseNameReports(value: unknown): NameReport[] | undefined {
  if (!isBoundedArray(value)) return undefined
  const reports = value.map((report: unknown): NameReport | undefined => {
    if (!isRecord(report)) return undefined
    const { name, kind, type, size, injected, handle } = report
    if (typeof name !== "string" || typeof type !== "string" || typeof injected !== "boolean") return undefined
    if (kind !== "variable" && kind !== "function" && kind !== "type" && kind !== "agent") return undefined
    if (size !== undefined && typeof size !== "number") return undefined
    if (handle !== undefined && typeof handle !== "number") return undefined
    return { name, kind, type: shortTypeText(type), injected, handle, ...(size !== undefined && { size }) }
  })
  const valid = reports.filter((report) => report !== undefined)
  return valid.length === reports.length ? valid : undefined
}

export function parseSnapshot(value: unknown): RuntimeSnapshot | undefined {
  if (!isRecord(value)) return undefined
  const { version, language, data, hash, lost, since } = value
  if (since !== undefined && typeof since !== "string") return undefined
  if (version !== 1 || language !== "typescript" || !(data instanceof Uint8Array)) return undefined
  return typeof hash === "string" && isLostList(lost) ? { version, language, data, hash, lost, since } : undefined
}

export function isStringArray(value: unknown): value is string[] {
  return isBoundedArray(value) && value.every((part) => typeof part === "string")
}

export function isLostList(value: unknown): value is RuntimeLoss[] {
  if (!isBoundedArray(value)) return false
  return value.every(
    (lost) =>
      isRecord(lost) &&
      typeof lost.name === "string" &&
      typeof lost.reason === "string" &&
      (lost.path === undefined || typeof lost.path === "string") &&
      (lost.object === undefined || typeof lost.object === "string") &&
      [undefined, "new", "kept"].some((data) => data === lost.otherData) &&
      isOptionalBoolean(lost.asInjected),
  )
}

/** Checks the length too: a sparse array may claim a length of billions in a few bytes. */
function isBoundedArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= maxListLength
}

const maxListLength = 1_000_000

function isOptionalBoolean(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean"
}

function isActionError(value: unknown): value is NonNullable<ExecutionSummary["error"]> {
  if (!isRecord(value)) return false
  const { kind, message, line, column, stack } = value
  if (typeof kind !== "string" || !errorKinds.has(kind) || typeof message !== "string") return false
  if (stack !== undefined && typeof stack !== "string") return false
  return [line, column].every((place) => place === undefined || typeof place === "number")
}

const errorKinds = new Set(["throw", "syntax", "security", "type", "timeout", "aborted", "memory", "refused"])
