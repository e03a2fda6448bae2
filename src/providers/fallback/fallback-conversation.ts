// The state that the runs of one conversation with a fallback share.
import { type AgentEvent, isDelta } from "../../core/event.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../../core/trajectory.ts"

export interface FallbackConversation {
  /** The index of the candidate that has the conversation, once one has answered. */
  committedIndex: number | undefined
  readonly events: readonly AgentEvent[]
  readonly messages: readonly Message[]
  /** Files known to be created or changed. */
  readonly files: Set<string>
  record(event: AgentEvent): void
  /** Stores new events; at the end of a run also metadata and snapshot. Undefined if nothing is archived. */
  save?: ((ended: boolean) => Promise<void>) | undefined
  /** Warnings for the next run to raise. */
  readonly warnings: string[]
}

/** Creates a conversation that continues from earlier events or messages. */
export function createFallbackConversation(
  past: { events?: readonly AgentEvent[] | undefined; messages?: readonly Message[] | undefined } = {},
): FallbackConversation {
  const events: AgentEvent[] = []
  const messages: Message[] = [...(past.messages ?? [])]
  const isOwn = createOwnEventFilter()

  function record(event: AgentEvent): void {
    if (isDelta(event)) return
    events.push(event)
    if (isOwn(event)) foldMessages(messages, event)
  }

  for (const event of past.events ?? []) record(event)
  return { committedIndex: undefined, events, messages, files: new Set(), warnings: [], record }
}
