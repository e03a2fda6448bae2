// Results of tool calls: from a returned value, a thrown error or a skipped call, and the event that reports them.
import { AgentError, abortReasonText, isAbortError } from "../core/errors.ts"
import type { ActionError, ActionErrorKind, EventBody } from "../core/event.ts"
import type { ToolCallPart } from "../core/message.ts"
import { wellFormed } from "../core/message.ts"
import { errorParts } from "../core/text/error-text.ts"
import { hideHostPaths } from "../core/text/host-paths.ts"
import { InvalidResult } from "../tools/check-tool-result.ts"
import { checkToolResult, isToolResult, type ToolResult, toolFailure, toolResult } from "../tools/tool.ts"
import { ApprovalDenied } from "./approval.ts"
import { CallTimeout } from "./call.ts"
import { CallRefused, HookFailed } from "./hooks.ts"
import { resultText } from "./result-text.ts"
import { CallLimitReached } from "./run-limits.ts"

export type SkipReason = "finish" | "ask" | "failure" | "steering" | "aborted" | "incomplete" | "stopped"

const skipTexts: Record<SkipReason, string> = {
  finish: "Not run: a call before it finished the task.",
  ask: "Not run: a call before it asked the user a question. Make the call again after the answer if you still need it.",
  failure: "Not finished: a call before it in the same answer failed. Read its result first, then finish.",
  steering: "Not run: the user sent a message first. Make the call again if you still need it.",
  aborted: "Not run: the run was interrupted.",
  incomplete: "Not run: the answer broke off.",
  stopped: "Not run: the run was stopped.",
}

export function skippedResult(reason: SkipReason): ToolResult {
  return toolFailure(`skipped-${reason}`, skipTexts[reason])
}

/** Turns a returned value into a result: text unchanged, other values as JSON. Throws if a result is malformed. */
export function toToolResult(value: unknown, tool: string): ToolResult {
  if (isToolResult(value)) return checkToolResult(value, tool)
  if (typeof value === "string") return toolResult({ text: value, value })
  if (value === undefined || value === null) return toolResult({ text: "Done.", value })
  return toolResult({ text: resultText(value), value })
}

/** Turns a thrown error into a result. An abort is recognised by its name, or as the signal's reason. */
export function failureResult(error: unknown, signal: AbortSignal): ToolResult {
  const { name, message: whole } = errorParts(error)
  const message = hideHostPaths(whole)
  for (const [kind, code] of failureCodes) if (error instanceof kind) return toolFailure(code, message)
  if (isAbortError(error) || (signal.aborted && error === signal.reason)) {
    const reason = abortReasonText(signal.aborted ? signal.reason : error)
    return toolFailure("aborted", `Interrupted before it was done${reason === undefined ? "." : `: ${reason}`}`)
  }
  if (name === "UnknownOutcome") return toolFailure("unknown-outcome", message)
  if (error instanceof AgentError && error.code !== "error") return toolFailure(error.code, message)
  return toolFailure("tool-failed", name === "Error" ? message : `${name}: ${message}`)
}

/** The input that a hook returned for a tool does not fit the tool's schema. */
export class InvalidInput extends TypeError {}

const failureCodes = [
  [InvalidInput, "invalid-input"],
  [InvalidResult, "invalid-result"],
  [ApprovalDenied, "not-approved"],
  [CallRefused, "refused"],
  [HookFailed, "hook-failed"],
  [CallLimitReached, "call-limit"],
  [CallTimeout, "timeout"],
] as const

export interface PerformedCall {
  call: ToolCallPart
  result: ToolResult
  shown: string
  /** The name under which the whole text is stored, if it is longer than `shown`. */
  keptName?: string | undefined
  retained?: boolean | undefined
  durationMs: number
  /** The arguments in short, if the answer calls the same tool more than once. */
  label?: string | undefined
}

export type ToolEnd = Extract<EventBody, { type: "tool-end" }>

export function toolEndEvent(performed: PerformedCall): ToolEnd {
  const { call, result, shown, keptName, retained, durationMs, label } = performed
  const { ok, code, images = [] } = result
  const text = ok ? shown : `Error (${code ?? "tool-failed"}): ${shown}`
  return {
    type: "tool-end",
    id: call.id,
    name: call.name,
    ok,
    text: wellFormed(label === undefined ? text : `[${label}]\n${text}`),
    durationMs,
    ...(ok ? {} : { error: toActionError(code, result.text) }),
    ...(keptName !== undefined && { kept: keptName }),
    ...(retained && { retained }),
    ...(images.length > 0 && { images: [...images] }),
  }
}

function toActionError(code = "tool-failed", message: string): ActionError {
  return { kind: errorKinds[code] ?? (code.startsWith("skipped-") ? "skipped" : "throw"), code, message }
}

const errorKinds: { [code: string]: ActionErrorKind } = {
  "unknown-tool": "input",
  "invalid-json": "input",
  "invalid-input": "input",
  "not-approved": "refused",
  refused: "refused",
  "call-limit": "refused",
  timeout: "timeout",
  aborted: "aborted",
}
