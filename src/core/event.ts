// The events of a run: the union of all event types, and the types they are made of.
import type { ErrorData } from "./errors.ts"
import type { Json } from "./json.ts"
import type { AssistantMessage, ImagePart, Message, UserMessage } from "./message.ts"
import type { Usage } from "./usage.ts"
import type { Verdict } from "./verdict.ts"

/** One step of a run as plain JSON. The event log is the source of truth: messages, trajectory, usage and display
 *  are folds over it, so stored events contain everything these folds need. */
export type AgentEvent = EventBody & EventStamp

export interface EventStamp {
  run: string
  /** The run that started this one, if this is a sub-agent's run. */
  parent?: string
  /** Counts up from 0 within a run, deltas included. */
  seq: number
  /** Milliseconds since the epoch. */
  at: number
}

export type Status = "done" | "waiting" | "stopped" | "aborted" | "failed"

/** Why a run was stopped: a limit; `unknown-usage`: a limit that could not be checked; `outputs`: it was asked too
 *  often to fill its declared outputs; `hook` or `guardrail`: one of its hooks. */
export type StopReason =
  | "cycles"
  | "tokens"
  | "uncached-tokens"
  | "cost"
  | "time"
  | "unknown-usage"
  | "outputs"
  | "hook"
  | "guardrail"

/** What a waiting run is waiting for. */
export type Pending = ({ kind: "question"; id: string } & Question) | PendingApproval

/** A call that waits for approval. */
export interface PendingApproval {
  kind: "approval"
  /** The id of its `approval-requested` event. */
  id: string
  call: CallPreview
}

/** A question for the user, and the offered answers. */
export interface Question {
  question: string
  options?: string[]
  /** True if more than one option can be chosen. Default false. */
  multiple?: boolean
  /** True if other answers are allowed. Default true. */
  custom?: boolean
}

export type Metadata = { [key: string]: Json }

/** A call for display: names, and shortened arguments. Never used to make the call. */
export interface CallPreview {
  binding: string
  method?: string
  args: string
}

/** An error that the model can fix: a throw, a violation, a type error, a time-out. */
export interface ActionError {
  kind: ActionErrorKind
  /** A stable word for the result of a tool call, such as `invalid-input`; docs/tools.md lists them. */
  code?: string
  message: string
  /** 1-based, in the text of the cell. */
  line?: number
  column?: number
}

export type ActionErrorKind =
  | "throw"
  | "syntax"
  | "security"
  | "type"
  | "timeout"
  | "aborted"
  | "incomplete"
  | "refused"
  | "input"
  | "crash"
  | "memory"
  | "skipped"

/** Names that a cell created, reassigned or removed. */
export interface NameChanges {
  created: string[]
  reassigned: string[]
  removed: string[]
  /** Injected objects that the cell used and whose state is not in snapshots. Absent if there are none. */
  used?: string[]
}

export type EventBody =
  // `messages` are those that this run adds to the conversation before its first cycle. `system` is set only if it is
  // new.
  | { type: "run-start"; agent: string; model?: string; messages: Message[]; system?: string; metadata: Metadata }
  | {
      type: "run-end"
      status: Status
      output: string
      cycles: number
      usage: Usage
      reason?: StopReason
      detail?: string
      pending?: Pending
      error?: ErrorData
      verdict?: Verdict
    }
  | { type: "cycle-start"; cycle: number }
  | { type: "cycle-end"; cycle: number; usage: Usage }
  // The model's answer. Deltas are never stored; `message-end` contains the complete message.
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  // With `finish: "cell"` no model wrote the message: a cell passed its text to `finish`.
  // `model` and `provider` are set if a coding CLI reports which one answered; the usage is then in `cycle-end`.
  | {
      type: "message-end"
      message: AssistantMessage
      finish: string
      usage: Usage
      model?: string
      provider?: string
    }
  // A cell. `code-delta` streams its source, then its output; `code-end` has the text that the model sees.
  | { type: "code-start"; id: string; language: string }
  | { type: "code-delta"; id: string; of: "source" | "stdout" | "stderr"; text: string }
  | {
      type: "code-end"
      id: string
      ok: boolean
      text: string
      durationMs: number
      changes: NameChanges
      calls: number
      error?: ActionError
      /** The variable that holds the complete text, if it was too long to show. */
      kept?: string
      /** The variable that holds the value of the last expression, if it is shown in part. */
      keptValue?: string
      /** The variables of earlier cells' output that were dropped. */
      dropped?: readonly string[]
      images?: ImagePart[]
    }
  | { type: "tool-start"; id: string; name: string; input: Json }
  | { type: "tool-delta"; id: string; text: string }
  | {
      type: "tool-end"
      id: string
      name: string
      ok: boolean
      text: string
      durationMs: number
      error?: ActionError
      /** The name that holds the complete text, if it was too long to show. */
      kept?: string
      /** Set if the result must stay in the conversation when memory is cleared. */
      retained?: true
      images?: ImagePart[]
    }
  // A call of a function binding or handle method inside a cell; `within` is the id of the cell.
  | { type: "call-start"; id: string; within: string; call: CallPreview }
  // `call`: the call as made, if a hook changed its arguments. `by`: a hook returned the value.
  | { type: "call-end"; id: string; ok: boolean; durationMs: number; error?: string; call?: CallPreview; by?: "hook" }
  // With `answerer`, the agent's own approver answers; otherwise `run.approve` or `engine.approve` does.
  | { type: "approval-requested"; id: string; call: CallPreview; reason?: string; answerer?: "agent" }
  // `reason`: why it was resolved without an answer.
  | { type: "approval-resolved"; id: string; decision: "allow" | "deny" | "always"; reason?: string }
  | ({ type: "question-asked"; id: string } & Question)
  | { type: "prompt-steered"; message: UserMessage }
  // Replaces the messages from id `from` up to, but not including, id `to` by `messages`. Without `to`: all after
  // `from`.
  | { type: "memory-compacted"; tier: 1 | 2 | 3; from: string; to?: string; messages: Message[]; usage: Usage }
  | { type: "skill-activated"; name: string; messages: Message[] }
  | { type: "checkpoint-saved"; revision: number }
  | { type: "provider-changed"; from: string; to: string; reason: string }
  | { type: "limit-waiting"; reason: string; until: number }
  // `names`: the names that the warning is about, if any.
  | { type: "warning-raised"; code: string; message: string; names?: string[] }
  | { type: "raw-received"; source: string; data: Json }

export type Emit = (event: EventBody) => void

export type EventType = EventBody["type"]

export type EventOf<T extends EventType> = Extract<AgentEvent, { type: T }>

/** Returns true for events that only show progress. They are never stored; the `…-end` event that follows has
 *  everything. */
export function isDelta(event: EventBody): boolean {
  return event.type.endsWith("-delta")
}
