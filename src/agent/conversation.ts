import { type AgentEvent, isDelta } from "../core/event.ts"
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

/** What runs of one conversation share: the log, the messages folded from it, and the runtime. */
export interface Conversation {
  readonly events: readonly AgentEvent[]
  /** The part of the conversation before `events`; undefined where these are all of it. */
  readonly folded: FoldedConversation | undefined
  readonly messages: readonly Message[]
  readonly runtime: Runtime
  /** Whether the runtime was made for this conversation, and ends with it. */
  readonly ownsRuntime: boolean
  /** Frozen with the first run, so that prompt caches hit. */
  system: string | undefined
  /** The run whose `run-start` has that prompt. */
  systemRun: string | undefined
  /** Identifies the definition that the prompt was written for: a hash of the prompt over a new runtime, before runs change its
   *  objects. */
  promptHash: string | undefined
  /** Names the model was told about. */
  announcedNames: Set<string>
  /** The skills that were activated, each with the id of the message that has its instructions. */
  readonly activatedSkills: Map<string, string>
  /** What was said too late for the run it was meant for. */
  steered: string[]
  /** What was not brought back with it; the model is told once. */
  lost: readonly RuntimeLoss[]
  /** The names that the model was told are gone. */
  readonly namesReportedLost: Set<string>
  /** Set where the process of the last run ended before the run did, until the next run tells the model. */
  interrupted?: { calls: InterruptedCall[] | undefined } | undefined
  /** What the owner should know, told with the next run. */
  readonly warnings: string[]
  /** Names of kept values that what was brought back speaks of: given to nothing else. */
  mentionedNames: ReadonlySet<string>
  /** What was approved for good. */
  approved: string[]
  memory: MemoryState
  /** The state that its tools share. */
  readonly state: SharedState
  /** Texts that are too long to show, of an agent without a runtime. */
  readonly artifacts: Artifacts
  /** What tools stand on, once some are used. */
  toolEnvironment: Promise<ToolEnvironment> | undefined
  record(event: AgentEvent): void
  /** Stores what is new, where the conversation is archived: when a run has begun, after each cycle, and at its end.
   *  `unheard` is what the user has said and the model has not heard. */
  save?: ((ended: boolean, unheard: readonly string[]) => Promise<void>) | undefined
}

/** A new conversation; one that goes on from an earlier keeps what the model was told and the user allowed. With a
 *  `workspace` its tools work there from now on. */
export function createConversation(
  runtime: Runtime,
  ownsRuntime: boolean,
  earlier?: Conversation,
  options: { workspace?: Workspace | undefined; folded?: FoldedConversation | undefined } = {},
): Conversation {
  const { workspace, folded } = options
  const events: AgentEvent[] = [...(folded?.open ?? [])]
  const messages: Message[] = [...(folded?.messages ?? [])]
  const told = new Set(earlier?.announcedNames)
  const state = createToolState(earlier?.state.values)
  const gone = new Set(earlier?.namesReportedLost)
  const isOwn = createOwnEventFilter(folded?.runs)
  for (const event of events) isOwn(event)
  const shared: Conversation = {
    events,
    folded,
    messages,
    runtime,
    ownsRuntime,
    system: earlier?.system,
    systemRun: undefined,
    promptHash: earlier?.promptHash,
    announcedNames: told,
    activatedSkills: new Map(earlier?.activatedSkills ?? folded?.activated),
    steered: [...(earlier?.steered ?? [])],
    lost: earlier?.lost ?? [],
    namesReportedLost: gone,
    warnings: [],
    mentionedNames: earlier?.mentionedNames ?? new Set(),
    approved: [...(earlier?.approved ?? [])],
    memory: earlier?.memory ?? initialMemory,
    state,
    artifacts: earlier?.artifacts ?? createArtifacts(),
    toolEnvironment: earlier?.toolEnvironment?.then((ground) => ground.continueWith(state, workspace)),
    record(event) {
      // That it was saved is known where it was saved, and only told.
      if (isDelta(event) || event.type === "checkpoint-saved") return
      // An event that was read from a store is not frozen yet.
      events.push(deepFreeze(event))
      if (!isOwn(event)) return
      foldMessages(messages, event)
      if (event.type === "run-start" && event.system !== undefined && event.system === shared.system) {
        shared.systemRun = event.run
      }
      // What the model has made itself, it need not be told of.
      if (event.type !== "code-end") return
      for (const name of event.changes.created) {
        told.add(name)
        gone.delete(name)
      }
    },
  }
  return shared
}

/** Which conversation a result came from, so that `from` goes on in the same runtime. A result read back from JSON has
 *  none: it brings its messages into a fresh one. */
export const conversationOfResult = createHiddenField<Conversation>()
