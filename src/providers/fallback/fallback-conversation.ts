import { type AgentEvent, isDelta } from "../../core/event.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../../core/trajectory.ts"

/** What the runs of one conversation with a fallback share. */
export interface FallbackConversation {
  /** The place of the candidate that it is with, once one has answered. */
  committedIndex: number | undefined
  readonly events: readonly AgentEvent[]
  readonly messages: readonly Message[]
  /** What was made or changed, as far as it is known. */
  readonly files: Set<string>
  record(event: AgentEvent): void
  /** Stores what is new, where the conversation is archived. */
  save?: ((ended: boolean) => Promise<void>) | undefined
  /** What the owner should know, told with the next run. */
  readonly warnings: string[]
}

/** One that goes on from what happened, or from what was said, before. */
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
