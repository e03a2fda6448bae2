import { type AgentEvent, isDelta } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { foldMessages } from "../core/trajectory.ts"
import type { Runtime } from "../runtime/runtime.ts"

/** What runs of one conversation share: the log, the messages folded from it, and the runtime. */
export interface Conversation {
  readonly events: readonly AgentEvent[]
  readonly messages: readonly Message[]
  readonly runtime: Runtime
  /** Whether the runtime was made for this conversation, and ends with it. */
  readonly ownsRuntime: boolean
  /** Frozen with the first run, so that prompt caches hit. */
  system: string | undefined
  /** Names the model was told about. */
  told: Set<string>
  /** What was said too late for the run it was meant for. */
  steered: string[]
  /** What was approved for good. */
  approved: string[]
  record(event: AgentEvent): void
}

/** A new conversation; one that goes on from an earlier keeps what the model was told and the user allowed. */
export function conversation(runtime: Runtime, ownsRuntime: boolean, earlier?: Conversation): Conversation {
  const events: AgentEvent[] = []
  const messages: Message[] = []
  return {
    events,
    messages,
    runtime,
    ownsRuntime,
    system: earlier?.system,
    told: new Set(earlier?.told),
    steered: [...(earlier?.steered ?? [])],
    approved: [...(earlier?.approved ?? [])],
    record(event) {
      if (isDelta(event)) return
      events.push(event)
      if (event.parent === undefined) foldMessages(messages, event)
    },
  }
}
