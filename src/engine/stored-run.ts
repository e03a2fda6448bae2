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
import { optionsBack, type StoredRunOptions } from "./run-options.ts"
import { isItsTurn, previousOf, runBefore } from "./session-queue.ts"
import type { Silence } from "./silence.ts"
import { storedSnapshot } from "./snapshots.ts"

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
  const after = await previousOf(store, found.head)
  const claim = { owner, leaseMs, silence, inbox, inboxFrom: found.head.inbox, after }
  const claimed = await claimRun(store, id, claim, found)
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
  // Only the engine writes there.
  const entries = journal as unknown as JournalEntry[]
  const prompt = input.value as unknown as UserMessage
  const held = holdRun(store, claimed, {
    leaseMs,
    journalLength: head.journal + entries.length,
  })
  const given = options && optionsBack(options.value as unknown as StoredRunOptions)
  return { held, prompt, entries, options: given, resumed, earlier }
}

/** Where a run goes on. */
async function resumedFrom(store: Store, head: Head, state: NonNullable<Head["state"]>): Promise<Resumed> {
  const { end, ...rest } = state
  const [events, snapshot] = await Promise.all([conversationOf(store, head), storedSnapshot(store, head)])
  // A run that waited and was answered has no end any more.
  return { state: end && end.status !== "waiting" ? state : rest, events, head: conversationHead(head), snapshot }
}

/** What the runs of the same session before this one have left. */
async function earlierOf(store: Store, head: Head): Promise<KeptConversation | undefined> {
  const before = await runBefore(store, head)
  if (!before) return undefined
  // Only a run with a saved cycle knows the names, approvals and objects of the conversation.
  const last = (await runBefore(store, head, ({ state }) => !state)) ?? before
  const [events, snapshot] = await Promise.all([conversationOf(store, before), storedSnapshot(store, last)])
  return { events, head: conversationHead(last), snapshot }
}

/** The events of a run, after those of the runs before it in its session. */
export async function conversationOf(store: Store, head: Head): Promise<AgentEvent[]> {
  const events: AgentEvent[][] = []
  for (let each: Head | undefined = head; each; ) {
    events.unshift(withoutSkipped(await eventsOf(store, each), each))
    each = await runBefore(store, each)
  }
  return events.flat()
}

function withoutSkipped(events: AgentEvent[], { skipped = [] }: Head): AgentEvent[] {
  if (skipped.length === 0) return events
  return events.filter((_, position) => !skipped.some(([from, to]) => position >= from && position < to))
}

function conversationHead({ systemRun, promptHash, told, gone, artifacts, unheard, state }: Head): ConversationHead {
  const { approved = [], memory = initialMemory, tools = {} } = state ?? {}
  return {
    version: 1,
    ...(systemRun !== undefined && { systemRun }),
    ...(promptHash !== undefined && { promptHash }),
    told,
    ...(gone && { gone }),
    ...(artifacts && { artifacts }),
    steered: unheard,
    approved,
    memory,
    tools,
  }
}

/** The events of a run that were stored with this head, or later. A shorter log is an error. */
export async function eventsOf(store: Store, { id, stored }: Head): Promise<AgentEvent[]> {
  const events = (await collect(store.read(keysOf(id).events))) as unknown as AgentEvent[]
  if (events.length >= stored) return events
  throw damagedRun(id, `its log has ${events.length} of ${stored} events`)
}

async function collect(items: AsyncIterable<Json>): Promise<Json[]> {
  return await Array.fromAsync(items)
}
