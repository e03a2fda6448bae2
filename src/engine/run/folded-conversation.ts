import { type FoldedConversation, foldConversation } from "../../agent/conversation/fold-conversation.ts"
import type { Conversation } from "../../agent/conversation.ts"
import type { AgentEvent } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../../core/trajectory.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import { type RunHead, runKeys } from "../checkpoint.ts"

/** A conversation that is stored in folded form, so that the runs after it need not read all events before them. */
export interface StoredConversation {
  /** The run whose first `at` events, with those of the runs before it, are in `conversation`. */
  run: string
  at: number
  conversation: FoldedConversation
}

/** What a run goes on from: the stored form, and the events since. */
export interface LoadedConversation {
  folded: StoredConversation | undefined
  events: AgentEvent[]
  /** How much was read beside the stored form, in events. */
  cost: number
}

/** To read one more run costs about as much as to read so many messages. */
export const runReadCost = 100

/** The stored form of the conversation that a head names. Undefined where none was stored, and where it was replaced by one
 *  of a run that was deleted since: the events of all runs are still there. */
export async function readFoldedConversation(
  store: Store,
  { folded }: RunHead,
): Promise<StoredConversation | undefined> {
  if (folded === undefined) return undefined
  const entry = await store.get(runKeys(folded).conversation)
  const value = entry?.value as unknown as StoredConversation | undefined
  return value?.conversation?.version === 1 && value.run === folded ? value : undefined
}

/** The messages of a conversation. */
export function conversationMessages({ folded, events }: LoadedConversation): Message[] {
  const messages = [...(folded?.conversation.messages ?? [])]
  const isOwn = createOwnEventFilter(folded?.conversation.runs)
  for (const event of events) if (isOwn(event)) foldMessages(messages, event)
  return messages
}

/** Where the folded form of a conversation is while a run of it is worked on. */
export interface ConversationFolder {
  /** The run that has it. */
  readonly run: string | undefined
  /** Takes note of events that are about to be saved, and gives the changes to be committed with them. They are asked for
   *  with the head that is committed. */
  advance(conversation: Conversation, id: string, events: number): (next: RunHead) => StoreChange[]
}

export function createConversationFolder(run: string | undefined, cost: number): ConversationFolder {
  const folding = { run, advance }

  // To read the events since must not cost more than to read the folded form: that form is as long as the conversation.
  function advance(conversation: Conversation, id: string, events: number): (next: RunHead) => StoreChange[] {
    cost += events
    if (cost <= 2 * runReadCost + conversation.messages.length) return () => []
    const replaced = folding.run
    cost = 0
    folding.run = id
    const folded = foldConversation(conversation, id)
    return ({ stored }) => foldingChanges({ run: id, at: stored, conversation: folded }, replaced)
  }

  return folding
}

function foldingChanges(stored: StoredConversation, replaced: string | undefined): StoreChange[] {
  const put: StoreChange = { type: "put", key: runKeys(stored.run).conversation, value: stored as unknown as Json }
  if (replaced === undefined || replaced === stored.run) return [put]
  return [put, { type: "delete", key: runKeys(replaced).conversation }]
}
