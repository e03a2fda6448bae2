// The contract between a durable run and the engine that stores and resumes it.
import type { Journal } from "../../actions/journal-contract.ts"
import type { Limits, SessionBudget } from "../../core/agent.ts"
import type { Metadata } from "../../core/event.ts"
import type { UserMessage } from "../../core/message.ts"
import type { RunControl } from "../../core/run.ts"
import type { ReadArtifact } from "../../tools/artifacts.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { AgentConfig } from "../agent-config.ts"
import type { Interruption } from "../conversation/interruption.ts"
import type { StoredConversation } from "../conversation/restore-conversation.ts"
import type { Conversation } from "../conversation.ts"
import type { Outputs } from "../outputs.ts"
import type { RunState } from "./run-state.ts"

/** What the engine provides for one durable run. */
export interface DurableRun {
  run: string
  /** The session that the run belongs to. */
  session?: string | undefined
  /** What its session may still use; undefined without a budget. */
  budgetLeft?: SessionBudget | undefined
  prompt: UserMessage
  metadata: Metadata
  options?: DurableOptions | undefined
  /** Fires when the run must stop in this process, for good or to continue elsewhere. */
  signal: AbortSignal
  /** The number of the next event. */
  firstSeq: number
  /** Where the run continues, if it had begun. */
  resumed?: ResumedConversation | undefined
  /** Set if the run continues after a crash that the model does not know of yet. */
  interruption?: Interruption | undefined
  /** The conversation that a new run continues. */
  earlierConversation?: StoredConversation | undefined
  journal: Journal
  /** Reads an artifact that was stored with this run, or with an earlier run of its session. */
  readArtifact: ReadArtifact
  /** Takes over the configuration, the conversation and the events. Throws if the run must not continue with this
   *  agent. */
  attach(config: AgentConfig, conversation: Conversation, events: Pick<RunControl, "emit" | "nextSeq">): Promise<void>
  /** Commits what is new: before the first side effect, after each cycle, and at the end. Queues the next job if the
   *  slice's time is over. Throws if another process owns the run or saving fails; the run is then `isSuspended`. */
  saveAndRequeue(progress: RunProgress): Promise<void>
  /** Passes everything on that was sent to the run until now. */
  readInbox(): Promise<void>
  /** Called with the error that ended the run. If the run will be retried, it is `isSuspended` from then on. */
  planRetry(error: unknown): void
  /** Returns true if the run must stop between two cycles; it is then `isSuspended`. */
  shouldYield(): boolean
  /** Waits, with everything open, for the next job of the run. Resolves with true if it continues in this process. */
  parkUntilNextJob(): Promise<boolean>
  /** The run continues later from its last checkpoint; what happens until then is dropped and not reported. */
  readonly isSuspended: boolean
}

export interface DurableOptions {
  limits?: Limits
  outputs?: Outputs
  values?: Record<string, unknown>
  state?: StateValues
}

export interface ResumedConversation extends StoredConversation {
  state: RunState
}

export interface RunProgress {
  state: RunState
  conversation: Conversation
  undeliveredSteers: readonly string[]
  /** Whether `run-end` is among the events. */
  hasEnded: boolean
  objects?: Record<string, unknown> | undefined
}
