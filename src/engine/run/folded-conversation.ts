// Stores long conversations in folded form and reads them back.
import { type FoldedConversation, foldConversation } from "../../agent/conversation/fold-conversation.ts"
import type { Conversation } from "../../agent/conversation.ts"
import type { AgentEvent } from "../../core/event.ts"
import { asJson } from "../../core/json.ts"
import type { Message } from "../../core/message.ts"
import { createOwnEventFilter, foldMessages } from "../../core/trajectory.ts"
import type { Store, StoreChange } from "../../stores/store.ts"
import { type RunHead, runKeys } from "../checkpoint.ts"

/** The stored record of a folded conversation, so that later runs need not read all earlier events. */
export interface FoldedRecord {
  /** `conversation` includes the first `at` events of this run, and all events of the runs before it. */
  run: string
  at: number
  conversation: FoldedConversation
}

/** The folded conversation and the events since. */
export interface LoadedConversation {
  folded: FoldedRecord | undefined
  events: AgentEvent[]
  /** The cost of reading the rest, counted in events. */
  cost: number
}

/** Reading one more run costs about as much as reading so many events. */
export const runReadCost = 100

/** Reads the folded conversation that a head names. Resolves to undefined if none is stored, or if a run that was
 *  deleted since had replaced it: the events of all runs are still stored. */
export async function readFoldedConversation(store: Store, { folded }: RunHead): Promise<FoldedRecord | undefined> {
  if (folded === undefined) return undefined
  const entry = await store.get(runKeys(folded).conversation)
  const value = entry?.value as unknown as FoldedRecord | undefined
  return value?.conversation?.version === 1 && value.run === folded ? value : undefined
}

export function conversationMessages({ folded, events }: LoadedConversation): Message[] {
  const messages = [...(folded?.conversation.messages ?? [])]
  const isOwn = createOwnEventFilter(folded?.conversation.runs)
  for (const event of events) if (isOwn(event)) foldMessages(messages, event)
  return messages
}

/** Decides during a run when its conversation is folded again. */
export interface ConversationFolder {
  /** The run that stores the folded conversation. */
  readonly run: string | undefined
  /** Counts events that are about to be saved. Returns a function that computes the changes to commit with them from
   *  the head that is committed. */
  advance(conversation: Conversation, id: string, events: number): (next: RunHead) => StoreChange[]
}

export function createConversationFolder(run: string | undefined, cost: number): ConversationFolder {
  const folding = { run, advance }

  // The conversation is folded again once reading the events costs more than reading the folded form, which is as long
  // as the conversation.
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

function foldingChanges(stored: FoldedRecord, replaced: string | undefined): StoreChange[] {
  const put: StoreChange = { type: "put", key: runKeys(stored.run).conversation, value: asJson(stored) }
  if (replaced === undefined || replaced === stored.run) return [put]
  return [put, { type: "delete", key: runKeys(replaced).conversation }]
}
