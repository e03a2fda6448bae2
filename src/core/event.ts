import type { ErrorData } from "./errors.ts"
import type { Json } from "./json.ts"
import type { AssistantMessage, ImagePart, Message, UserMessage } from "./message.ts"
import type { Usage } from "./usage.ts"
import type { Verdict } from "./verdict.ts"

/** One fact about a run, plain JSON. The log of these is the truth: messages, trajectory, usage and display are folds
 *  over it, so every stored event carries what the fold needs. */
export type AgentEvent = EventBody & EventStamp

export interface EventStamp {
  run: string
  /** The run this one was started from, when it is a sub-agent's. */
  parent?: string
  /** Counts up from 0 within a run, deltas included. */
  seq: number
  /** Milliseconds since the epoch. */
  at: number
}

export type Status = "done" | "waiting" | "stopped" | "aborted" | "failed"

/** What stopped a run: a limit; `unknown-usage`: a limit that nobody could keep; `outputs`: it was sent back too often
 *  without filling what it had to; `hook` or `guardrail`: one of its hooks. */
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

/** What a waiting run waits for. */
export type Pending =
  | ({ kind: "question"; id: string } & Question)
  | { kind: "approval"; id: string; call: CallPreview }

/** What the user is asked, and the answers offered. */
export interface Question {
  question: string
  options?: string[]
  /** Whether more than one option may be chosen. Default false. */
  multiple?: boolean
  /** Whether another answer may be given. Default true. */
  custom?: boolean
}

export type Metadata = { [key: string]: Json }

/** A call as people see it: names, and arguments cut short. Never used to make the call. */
export interface CallPreview {
  binding: string
  method?: string
  args: string
}

/** What the model can mend: a throw, a violation, a type error, a time-out. */
export interface ActionError {
  kind: ActionErrorKind
  /** A stable word for what became of a tool call, such as `invalid-input`; docs/tools.md lists them. */
  code?: string
  message: string
  /** 1-based, in the cell's own text. */
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

/** Names a cell made, gave a new value or removed. */
export interface NameChanges {
  created: string[]
  reassigned: string[]
  removed: string[]
  /** Injected objects that the cell used and whose state no snapshot keeps; absent where there are none. */
  used?: string[]
}

export type EventBody =
  // The run. `messages` are what this run adds to the conversation before its first cycle; `system` only when it is new.
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
  // What the model says. Deltas are never stored; `message-end` holds the whole.
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  // `model` and `provider` are those that answered, where a coding CLI says so; what the answer used is then in its `cycle-end`.
  | {
      type: "message-end"
      message: AssistantMessage
      finish: string
      usage: Usage
      model?: string
      provider?: string
    }
  // A cell. `code-delta` streams its source, then what it prints; `code-end` holds the shaped text the model sees.
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
      /** The variable that holds the whole output, when it was too long to show. */
      kept?: string
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
      /** What holds the whole text, when it was too long to show. */
      kept?: string
      /** Set where the result must stay in sight. */
      retained?: true
      images?: ImagePart[]
    }
  // A use of a function binding or handle method inside a cell (`within` is the cell's id).
  | { type: "call-start"; id: string; within: string; call: CallPreview }
  // `call`: as it was made, where a hook gave it other arguments. `by`: a hook gave the value.
  | { type: "call-end"; id: string; ok: boolean; durationMs: number; error?: string; call?: CallPreview; by?: "hook" }
  // With `answerer` the function that the agent was given answers; without, `run.approve` or `engine.approve` does.
  | { type: "approval-requested"; id: string; call: CallPreview; reason?: string; answerer?: "agent" }
  // `reason`: why it was decided without an answer.
  | { type: "approval-resolved"; id: string; decision: "allow" | "deny" | "always"; reason?: string }
  | ({ type: "question-asked"; id: string } & Question)
  | { type: "prompt-steered"; message: UserMessage }
  // Replaces the messages from the one id to before the other by `messages`; without `to`, all that follow.
  | { type: "memory-compacted"; tier: 1 | 2 | 3; from: string; to?: string; messages: Message[]; usage: Usage }
  | { type: "skill-activated"; name: string; messages: Message[] }
  | { type: "checkpoint-saved"; revision: number }
  | { type: "provider-changed"; from: string; to: string; reason: string }
  | { type: "limit-waiting"; reason: string; until: number }
  // `names`: the names that it is about, where there are some.
  | { type: "warning-raised"; code: string; message: string; names?: string[] }
  | { type: "raw-received"; source: string; data: Json }

/** Tells one fact. */
export type Emit = (event: EventBody) => void

export type EventType = EventBody["type"]

export type EventOf<T extends EventType> = Extract<AgentEvent, { type: T }>

/** Deltas show progress and are never stored: the `…-end` event that follows holds the whole. */
export function isDelta(event: EventBody): boolean {
  return event.type.endsWith("-delta")
}
