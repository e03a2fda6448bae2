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
import { costOfRun, createFolding, type Folding, type ReadConversation, readFolded } from "./folded-conversation.ts"
import { type HeldRun, holdRun } from "./held-run.ts"
import { messagesFrom } from "./inbox.ts"
import type { JournalEntry } from "./journal.ts"
import { refuse } from "./own-events.ts"
import type { Owner } from "./owner.ts"
import { isItsTurn, previousOf, runBefore } from "./session-queue.ts"
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
  folding: Folding
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
  const entries = journalIn(journal, id)
  const prompt = promptIn(input.value, id)
  const given = options && optionsIn(options.value, id)
  const held = holdRun(store, claimed, {
    leaseMs,
    journalLength: head.journal + entries.length,
  })
  const { folded, cost } = resumed ?? earlier ?? { folded: undefined, cost: 0 }
  return {
    held,
    prompt,
    entries,
    options: given,
    resumed: resumed?.kept,
    earlier: earlier?.kept,
    folding: createFolding(folded?.run, cost),
  }
}

/** Where a run goes on. */
async function resumedFrom(store: Store, head: Head, state: NonNullable<Head["state"]>): Promise<Read<Resumed>> {
  const { end, ...rest } = state
  const { kept, ...read } = await keptBy(store, head)
  // A run that waited and was answered has no end any more.
  return { kept: { state: end && end.status !== "waiting" ? state : rest, ...kept }, ...read }
}

interface Read<Kept> extends Omit<ReadConversation, "events"> {
  kept: Kept
}

/** What the runs of the same session before this one have left. */
async function earlierOf(store: Store, head: Head): Promise<Read<KeptConversation> | undefined> {
  const before = await runBefore(store, head)
  if (!before) return undefined
  // Only a run with a saved cycle knows the names, approvals and objects of the conversation.
  const last = (await runBefore(store, head, ({ state }) => !state)) ?? before
  return keptBy(store, before, last)
}

/** The conversation up to the run `head`, with the names, approvals and objects that the run `last` has saved. */
async function keptBy(store: Store, head: Head, last = head): Promise<Read<KeptConversation>> {
  const [{ folded, events, cost }, snapshot] = await Promise.all([
    conversationOf(store, head),
    storedSnapshot(store, last),
  ])
  const covered = coveredBySnapshot(events, last)
  return {
    kept: { events, folded: folded?.conversation, head: conversationHead(last), snapshot, covered },
    folded,
    cost,
  }
}

/** How many of the events had come when the objects of that run were kept; undefined where that is all of them. */
function coveredBySnapshot(
  events: readonly AgentEvent[],
  { id, status, stored, failedFrom }: Head,
): number | undefined {
  if (status !== "failed" || failedFrom === undefined) return undefined
  const end = events.findLastIndex(({ run }) => run === id) + 1
  return Math.max(0, end - (stored - failedFrom))
}

/** The conversation of a run and of the runs before it in its session: in folded form as far as that was stored, and the
 *  events since. */
export async function conversationOf(store: Store, head: Head): Promise<ReadConversation> {
  const folded = await readFolded(store, head)
  const runs: AgentEvent[][] = []
  let isWhole = false
  for (let each: Head | undefined = head; each; ) {
    isWhole = each.id === folded?.run
    runs.unshift(await conversationEvents(store, each, isWhole ? folded?.at : 0))
    if (isWhole) break
    each = await runBefore(store, each)
  }
  const events = runs.flat()
  return { folded: isWhole ? folded : undefined, events, cost: events.length + runs.length * costOfRun }
}

/** The events of a run that are part of the conversation, from that position of its log on. */
export async function conversationEvents(store: Store, head: Head, from = 0): Promise<AgentEvent[]> {
  const events = await eventsOf(store, head, from)
  const { skipped = [] } = head
  if (skipped.length === 0) return events
  return events.filter((_, index) => !skipped.some(([start, end]) => from + index >= start && from + index < end))
}

function conversationHead(head: Head): ConversationHead {
  const { systemRun, promptHash, told, gone, unheard, state, failedWith } = head
  const { memory = initialMemory } = state ?? {}
  const { approved = [], tools = {} } = failedWith ?? state ?? {}
  const { artifacts } = failedWith ?? head
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

/** The events of a run that were stored with this head, or later, from that position on. A shorter log is an error. */
export async function eventsOf(store: Store, { id, stored }: Head, from = 0): Promise<AgentEvent[]> {
  const events = eventsIn(await collect(store.read(keysOf(id).events, from)), id)
  if (from + events.length >= stored) return events
  throw damagedRun(id, `its log has ${from + events.length} of ${stored} events`)
}

async function collect(items: AsyncIterable<Json>): Promise<Json[]> {
  return await Array.fromAsync(items)
}
