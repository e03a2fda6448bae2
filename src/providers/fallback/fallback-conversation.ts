// The state that the runs of one conversation with a fallback share.
import { type AgentEvent, isDelta } from "../../core/event.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../../core/trajectory.ts"
import type { CliConversation } from "../cli-conversation.ts"

export interface FallbackConversation
  extends Pick<CliConversation, "events" | "messages" | "record" | "save" | "warnings"> {
  /** The index of the candidate that has the conversation, once one has answered. */
  committedIndex: number | undefined
  /** The agent that had the conversation, if it cannot be resumed. The next run passes on the record as text. */
  handoffFrom?: string | undefined
  /** Files known to be created or changed. */
  readonly files: Set<string>
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
