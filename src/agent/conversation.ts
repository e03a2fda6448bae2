// The state that the runs of one conversation share: the events, the messages folded from them, and the runtime.
import type { Limits } from "../core/agent.ts"
import { type AgentEvent, type EventOf, isDelta } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../core/trajectory.ts"
import { deepFreeze } from "../core/values/freeze.ts"
import { createHiddenField } from "../core/values/hidden-field.ts"
import { initialMemory, type MemoryState } from "../memory.ts"
import type { Runtime, RuntimeLoss } from "../runtime/runtime.ts"
import { type Artifacts, createArtifacts } from "../tools/artifacts.ts"
import { createToolState, type SharedState } from "../tools/tool-state.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import type { FoldedConversation } from "./conversation/fold-conversation.ts"
import type { InterruptedCall } from "./conversation/interruption.ts"
import type { ToolEnvironment } from "./toolbox.ts"

export interface Conversation {
  /** The session that the conversation belongs to. */
  session?: string | undefined
  readonly events: readonly AgentEvent[]
  /** The part of the conversation before `events`; undefined if `events` is complete. */
  readonly folded: FoldedConversation | undefined
  readonly messages: readonly Message[]
  readonly runtime: Runtime
  /** Whether the runtime was created for this conversation; then it is closed with it. */
  readonly ownsRuntime: boolean
  /** The system prompt. It stays the same after the first run, so that prompt caches hit. */
  system: string | undefined
  /** The run whose `run-start` event contains that prompt. */
  systemRun: string | undefined
  /** Identifies the agent definition behind the prompt: a hash of the prompt for a new, unchanged runtime. */
  promptHash: string | undefined
  /** The names that the model knows from the prompt, from announcements or from its own cells. */
  announcedNames: Set<string>
  /** When the prompt of each run was given, by the id of its message. */
  readonly promptTimes: Map<string, PromptTime>
  /** The activated skills, each with the id of the message that has its instructions. */
  readonly activatedSkills: Map<string, string>
  /** Steers that came too late for their run; the next run delivers them. */
  steered: string[]
  /** The objects that could not be restored; the next run reports them to the model once. */
  lost: readonly RuntimeLoss[]
  readonly namesReportedLost: Set<string>
  /** Set if the process of the last run ended before the run did, until the next run reports it to the model. */
  interrupted?: { calls: InterruptedCall[] | undefined } | undefined
  /** Warnings for the host; the next run emits them. */
  readonly warnings: { code: "archive" | "shared-runtime"; message: string }[]
  /** Names of stored values that the restored messages mention. No other value may get these names. */
  mentionedNames: ReadonlySet<string>
  /** What the session may still use; set before each run. Undefined without a budget. */
  sessionLimits?: Limits | undefined
  /** The calls that were approved with `always`. */
  approved: string[]
  memory: MemoryState
  readonly state: SharedState
  /** Texts too long to show, for an agent without a runtime. */
  readonly artifacts: Artifacts
  /** What the tools share; created when the first tool is used. */
  toolEnvironment: Promise<ToolEnvironment> | undefined
  record(event: AgentEvent): void
  /** Archives what is new: when a run has begun, after each cycle, and at its end. `undeliveredSteers` are those that
   *  the model has not received. Absent without an archive. */
  save?: ((ended: boolean, undeliveredSteers: readonly string[]) => Promise<void>) | undefined
}

export interface PromptTime {
  at: number
  /** The time as the model sees it; set by the first run that sends the prompt. */
  text?: string | undefined
}

/** Creates a conversation. If it continues an earlier one, it takes over what the model knows and the user approved.
 *  `workspace` replaces the workspace of its tools. */
export function createConversation(
  runtime: Runtime,
  ownsRuntime: boolean,
  earlier?: Conversation,
  options: { workspace?: Workspace | undefined; folded?: FoldedConversation | undefined } = {},
): Conversation {
  const { workspace, folded } = options
  const events: AgentEvent[] = [...(folded?.open ?? [])]
  const messages: Message[] = [...(folded?.messages ?? [])]
  const announced = new Set(earlier?.announcedNames)
  const state = createToolState(earlier?.state.values)
  const reportedLost = new Set(earlier?.namesReportedLost)
  const isOwn = createOwnEventFilter(folded?.runs)
  for (const event of events) isOwn(event)
  const noteTime = ({ messages, at }: EventOf<"run-start">): void => {
    const prompt = messages.findLast((message) => message.role === "user" && message.origin === "prompt")
    if (prompt) shared.promptTimes.set(prompt.id, { at })
  }
  const shared: Conversation = {
    events,
    folded,
    messages,
    runtime,
    ownsRuntime,
    system: earlier?.system,
    systemRun: undefined,
    promptHash: earlier?.promptHash,
    announcedNames: announced,
    promptTimes: new Map(earlier?.promptTimes ?? folded?.promptTimes?.map(([id, at]) => [id, { at }])),
    activatedSkills: new Map(earlier?.activatedSkills ?? folded?.activated),
    steered: [...(earlier?.steered ?? [])],
    lost: earlier?.lost ?? [],
    namesReportedLost: reportedLost,
    warnings: [],
    mentionedNames: earlier?.mentionedNames ?? new Set(),
    approved: [...(earlier?.approved ?? [])],
    memory: earlier?.memory ?? initialMemory,
    state,
    artifacts: earlier?.artifacts ?? createArtifacts(),
    toolEnvironment: earlier?.toolEnvironment?.then((environment) => environment.continueWith(state, workspace)),
    record(event) {
      // The engine stores checkpoints itself; this event is only for readers.
      if (isDelta(event) || event.type === "checkpoint-saved") return
      // Events that were read from a store are not frozen yet.
      events.push(deepFreeze(event))
      if (!isOwn(event)) return
      foldMessages(messages, event)
      if (event.type === "run-start") noteTime(event)
      if (event.type === "run-start" && event.system !== undefined && event.system === shared.system) {
        shared.systemRun = event.run
      }
      // The model knows the names that its own cells create.
      if (event.type !== "code-end") return
      for (const name of event.changes.created) {
        announced.add(name)
        reportedLost.delete(name)
      }
    },
  }
  return shared
}

/** The conversation of a result, so that `from` continues in its runtime. A result read from JSON has none. */
export const conversationOfResult = createHiddenField<Conversation>()
