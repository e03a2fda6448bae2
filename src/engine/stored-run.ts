import type { DurableOptions, Resumed } from "../agent/durable.ts"
import type { ConversationHead, KeptConversation } from "../agent/restore.ts"
import { AgentError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import { initialMemory } from "../memory.ts"
import type { Store } from "../stores/store.ts"
import { damagedRun, type Head, keysOf, readHead, type StoredHead } from "./checkpoint.ts"
import { claimRun } from "./claim.ts"
import { type HeldRun, holdRun } from "./held-run.ts"
import { messagesFrom } from "./inbox.ts"
import type { JournalEntry } from "./journal.ts"
import { refuse } from "./own-events.ts"
import type { Owner } from "./owner.ts"
import type { Silence } from "./silence.ts"
import { storedSnapshot } from "./snapshots.ts"
import { eventsIn, journalIn, optionsIn, promptIn } from "./stored-shapes.ts"

/** A run that was claimed, with what its next cycle goes on from. */
export interface Found {
  held: HeldRun
  prompt: UserMessage
  /** What the journal has of the cycle that was under way. */
  entries: JournalEntry[]
  options: DurableOptions | undefined
  resumed: Resumed | undefined
  earlier: KeptConversation | undefined
}

/** Claims a run and reads what it goes on from; says why where it is not to be worked on now. */
export async function findRun(
  { store, owner, leaseMs, silence }: { store: Store; owner: Owner; leaseMs: number; silence: Silence },
  found: StoredHead,
): Promise<Found | { type: "none" | "held" | "refused" }> {
  const { id } = found.head
  if (!(await isItsTurn(store, found.head))) return { type: "none" }
  const inbox = await messagesFrom(store, id, found.head.inbox)
  const claimed = await claimRun(store, id, { owner, leaseMs, silence, inbox, inboxFrom: found.head.inbox }, found)
  if (!claimed) return { type: (await readHead(store, id))?.head.status === "running" ? "held" : "none" }
  try {
    return await readClaimed(store, claimed, leaseMs)
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== "corrupt") throw error
    const held = holdRun(store, claimed, { leaseMs, journalLength: claimed.head.journal })
    return await refuse(held, error.message).finally(held.letGo)
  }
}

async function readClaimed(store: Store, claimed: StoredHead, leaseMs: number): Promise<Found> {
  const { head } = claimed
  const { id } = head
  const keys = keysOf(id)
  const [journal, input, options, resumed, earlier] = await Promise.all([
    collect(store.read(keys.journal, head.journal)),
    store.get(keys.input),
    store.get(keys.options),
    head.state && resumedFrom(store, head, head.state),
    head.state ? undefined : earlierOf(store, head),
  ])
  if (!input) throw damagedRun(id, "its prompt is missing")
  const entries = journalIn(journal, id)
  const prompt = promptIn(input.value, id)
  const given = options && optionsIn(options.value, id)
  const held = holdRun(store, claimed, {
    leaseMs,
    journalLength: head.journal + entries.length,
  })
  return { held, prompt, entries, options: given, resumed, earlier }
}

/** Whether the run before it in its session has ended. */
async function isItsTurn(store: Store, { after, state }: Head): Promise<boolean> {
  if (after === undefined || state) return true
  const before = (await readHead(store, after))?.head
  return !before || (before.lease === undefined && !["queued", "running", "waiting"].includes(before.status))
}

/** Where a run goes on. */
async function resumedFrom(store: Store, head: Head, state: NonNullable<Head["state"]>): Promise<Resumed> {
  const { end, ...rest } = state
  const [events, snapshot] = await Promise.all([conversationOf(store, head), storedSnapshot(store, head)])
  // A run that waited and was answered has no end any more.
  return { state: end && end.status !== "waiting" ? state : rest, events, head: conversationHead(head), snapshot }
}

/** What the runs of the same session before this one have left. */
async function earlierOf(store: Store, { after }: Head): Promise<KeptConversation | undefined> {
  const last = after === undefined ? undefined : await readHead(store, after)
  if (!last) return undefined
  const [events, snapshot] = await Promise.all([conversationOf(store, last.head), storedSnapshot(store, last.head)])
  return { events, head: conversationHead(last.head), snapshot }
}

/** The events of a run, after those of the runs before it in its session. */
export async function conversationOf(store: Store, head: Head): Promise<AgentEvent[]> {
  const events: AgentEvent[][] = []
  for (let each: Head | undefined = head; each; ) {
    events.unshift(withoutSkipped(await eventsOf(store, each), each))
    each = each.after === undefined ? undefined : (await readHead(store, each.after))?.head
  }
  return events.flat()
}

function withoutSkipped(events: AgentEvent[], { skipped = [] }: Head): AgentEvent[] {
  if (skipped.length === 0) return events
  return events.filter((_, position) => !skipped.some(([from, to]) => position >= from && position < to))
}

function conversationHead({ systemRun, told, gone, unheard, state }: Head): ConversationHead {
  const { approved = [], memory = initialMemory, tools = {} } = state ?? {}
  return {
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    told,
    ...(gone && { gone }),
    steered: unheard,
    approved,
    memory,
    tools,
  }
}

/** The events of a run that were stored with this head, or later. A shorter log is an error. */
export async function eventsOf(store: Store, { id, stored }: Head): Promise<AgentEvent[]> {
  const events = eventsIn(await collect(store.read(keysOf(id).events)), id)
  if (events.length >= stored) return events
  throw damagedRun(id, `its log has ${events.length} of ${stored} events`)
}

async function collect(items: AsyncIterable<Json>): Promise<Json[]> {
  return await Array.fromAsync(items)
}
