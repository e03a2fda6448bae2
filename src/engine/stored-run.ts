import type { Resumed } from "../agent/durable.ts"
import type { ConversationHead, KeptConversation } from "../agent/restore.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { initialMemory } from "../memory.ts"
import type { Store } from "../stores/store.ts"
import { type Head, keysOf, readHead } from "./checkpoint.ts"
import { storedSnapshot } from "./snapshots.ts"

/** Where a run goes on. */
export async function resumedFrom(store: Store, head: Head, state: NonNullable<Head["state"]>): Promise<Resumed> {
  const { end, ...rest } = state
  return {
    // A run that waited and was answered has no end any more.
    state: end && end.status !== "waiting" ? state : rest,
    events: await eventsOf(store, head.id),
    head: conversationHead(head),
    snapshot: await storedSnapshot(store, head),
  }
}

/** What the runs of the same session before this one have left. */
export async function earlierOf(store: Store, { after }: Head): Promise<KeptConversation | undefined> {
  const last = after === undefined ? undefined : await readHead(store, after)
  if (!last) return undefined
  const events: AgentEvent[][] = []
  for (let each: Head | undefined = last.head; each; ) {
    events.unshift(await eventsOf(store, each.id))
    each = each.after === undefined ? undefined : (await readHead(store, each.after))?.head
  }
  return { events: events.flat(), head: conversationHead(last.head), snapshot: await storedSnapshot(store, last.head) }
}

function conversationHead({ systemRun, told, unheard, state }: Head): ConversationHead {
  const { approved = [], memory = initialMemory, tools = {} } = state ?? {}
  return {
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    told,
    steered: unheard,
    approved,
    memory,
    tools,
  }
}

export async function eventsOf(store: Store, id: string): Promise<AgentEvent[]> {
  return (await collect(store.read(keysOf(id).events))) as unknown as AgentEvent[]
}

export async function collect(items: AsyncIterable<Json>): Promise<Json[]> {
  return await Array.fromAsync(items)
}
