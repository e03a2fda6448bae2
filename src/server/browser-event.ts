// The events that a browser receives: what the model wrote and what happened, without results of functions and tools.
import type { ActionErrorKind, AgentEvent, CallPreview, Pending, Question, Status, StopReason } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { AssistantMessage } from "../core/message.ts"
import { messageText } from "../core/message.ts"

/** An event as a browser receives it. */
export type BrowserEvent =
  | { type: "run-start"; run: string; agent: string }
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  /** A message of the model is complete. `text` is its prose, without code. */
  | { type: "message-end"; text: string }
  | { type: "code-start"; id: string; language: string }
  /** A piece of the code that the model writes. */
  | { type: "code-delta"; id: string; text: string }
  | { type: "code-end"; id: string; ok: boolean; durationMs: number; error?: ActionErrorKind }
  | { type: "tool-start"; id: string; name: string; input: Json }
  | { type: "tool-end"; id: string; name: string; ok: boolean; durationMs: number; error?: ActionErrorKind }
  /** Answer with `run.approve(id, …)`. With `answerer`, the agent's own approver answers. */
  | { type: "approval-requested"; id: string; call: CallPreview; reason?: string; answerer?: "agent" }
  | { type: "approval-resolved"; id: string; decision: "allow" | "deny" | "always" }
  | ({ type: "question-asked"; id: string } & Question)
  /** A text that was sent to the model with `steer`. */
  | { type: "prompt-steered"; text: string }
  /** The run waits for a usage limit, until this time in milliseconds since 1970. */
  | { type: "limit-waiting"; until: number }
  | {
      type: "run-end"
      status: Status
      output: string
      reason?: StopReason
      /** More about the limit that stopped the run: whether the budget of the session is used up. */
      detail?: string
      pending?: Pending
      error?: BrowserEventError
    }

/** Why a run failed, without details of the server. */
export interface BrowserEventError {
  code?: string
  retryable?: boolean
  message: string
}

/** Returns what a browser may know of an event, or undefined for nothing. It gets no results of cells and tools, error
 *  messages, warnings, system prompts, usage or raw data. Of the runs that `run` started, it gets approvals only.
 *  `run` is the id of the streamed run; default: the run without a parent. */
export function toBrowserEvent(event: AgentEvent, run?: string): BrowserEvent | undefined {
  const isChild = run === undefined ? event.parent !== undefined : event.run !== run
  if (isChild && !event.type.startsWith("approval-")) return undefined
  switch (event.type) {
    case "run-start":
      return { type: "run-start", run: event.run, agent: event.agent }
    case "text-delta":
    case "reasoning-delta":
      return { type: event.type, text: event.text }
    case "message-end":
      return { type: "message-end", text: proseOf(event.message) }
    case "code-start":
      return { type: "code-start", id: event.id, language: event.language }
    case "code-delta":
      return event.of === "source" ? { type: "code-delta", id: event.id, text: event.text } : undefined
    case "code-end": {
      const { id, ok, durationMs, error } = event
      return { type: "code-end", id, ok, durationMs, ...(error && { error: error.kind }) }
    }
    case "tool-start":
      return { type: "tool-start", id: event.id, name: event.name, input: event.input }
    case "tool-end": {
      const { id, name, ok, durationMs, error } = event
      return { type: "tool-end", id, name, ok, durationMs, ...(error && { error: error.kind }) }
    }
    case "approval-requested": {
      const { id, call, reason, answerer } = event
      return { type: "approval-requested", id, call, ...(reason && { reason }), ...(answerer && { answerer }) }
    }
    case "approval-resolved":
      return { type: "approval-resolved", id: event.id, decision: event.decision }
    case "question-asked": {
      const { id, question, options, multiple, custom } = event
      return {
        type: "question-asked",
        id,
        question,
        ...(options && { options }),
        ...(multiple !== undefined && { multiple }),
        ...(custom !== undefined && { custom }),
      }
    }
    case "prompt-steered":
      return event.message.origin === "steer" ? { type: "prompt-steered", text: messageText(event.message) } : undefined
    case "limit-waiting":
      return { type: "limit-waiting", until: event.until }
    case "run-end": {
      const { run, status, output, reason, detail, pending, error } = event
      // Your hooks and your abort write the other details.
      const isLimit = reason !== undefined && reason !== "hook" && reason !== "guardrail"
      return {
        type: "run-end",
        status,
        output,
        ...(reason && { reason }),
        ...(isLimit && detail !== undefined && { detail }),
        ...(pending && { pending }),
        ...(error && { error: errorForBrowser(run, error) }),
      }
    }
    default:
      return undefined
  }
}

// Messages of errors may name files, addresses and accounts of the server.
function errorForBrowser(run: string, { code, retryable }: { code?: string; retryable?: boolean }): BrowserEventError {
  return {
    ...(code !== undefined && { code }),
    ...(retryable !== undefined && { retryable }),
    message: `The run ended with an error. The server knows it as run ${run}.`,
  }
}

/** The text of a message, without code. */
export function proseOf({ parts }: AssistantMessage): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}
