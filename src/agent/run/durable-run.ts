import type { Journal } from "../../actions/run-journal.ts"
import type { Limits } from "../../core/agent.ts"
import type { Emit, Metadata } from "../../core/event.ts"
import type { UserMessage } from "../../core/message.ts"
import type { ReadArtifact } from "../../tools/artifacts.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { AgentConfig } from "../agent-config.ts"
import type { Interruption } from "../conversation/interruption.ts"
import type { StoredConversation } from "../conversation/restore-conversation.ts"
import type { Conversation } from "../conversation.ts"
import type { Outputs } from "../outputs.ts"
import type { RunState } from "./run-state.ts"

/** What makes a run outlive its process; an engine gives it. */
export interface DurableRun {
  run: string
  prompt: UserMessage
  metadata: Metadata
  /** The options of this run alone. */
  options?: DurableOptions | undefined
  /** Fires when the run must stop here, for good or to go on elsewhere. */
  signal: AbortSignal
  /** The number of the next event. */
  firstSeq: number
  /** Where the run goes on, if it has begun. */
  resumed?: ResumedConversation | undefined
  /** Set where the run goes on after a crash that the model was not told of yet. */
  interruption?: Interruption | undefined
  /** The conversation that a new run goes on with. */
  earlierConversation?: StoredConversation | undefined
  journal: Journal
  /** Reads an artifact that was stored with a checkpoint of this run, or of an earlier run of its session. */
  readArtifact: ReadArtifact
  /** Looks at what the run is about to work with, and throws where it must not. */
  attach(config: AgentConfig, conversation: Conversation, emit: Emit): Promise<void>
  /** Commits what is new: before the first side effect, after each cycle, and at the end. Throws when the run is no longer
   *  ours, or cannot be saved; it is then `suspended`. */
  saveAndRequeue(progress: RunProgress): Promise<void>
  /** Called with the error that ended the run. Where the run is tried again, it is `suspended` from then on. */
  planRetry(error: unknown): void
  /** Whether to leave off between two cycles; it is then `suspended`. */
  shouldYield(): boolean
  /** Stays as it is instead, with what it has open, until somebody says where it goes on: here (true) or not. */
  parkUntilNextJob(): Promise<boolean>
  /** The run goes on later, from what was saved: nothing that comes now counts. */
  readonly suspended: boolean
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
  /** What the user has said and the model has not heard. */
  undeliveredSteers: readonly string[]
  /** Whether `run-end` is among the events. */
  ended: boolean
  /** The declared outputs of a run that has ended. */
  objects?: Record<string, unknown> | undefined
}
