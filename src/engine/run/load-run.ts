// Claims a run and loads what its next cycle needs: prompt, options, conversation, objects, journal.
import type { ConversationHead, StoredConversation } from "../../agent/conversation/restore-conversation.ts"
import type { DurableOptions, ResumedConversation } from "../../agent/run/durable-run.ts"
import { AgentError } from "../../core/errors.ts"
import type { AgentEvent } from "../../core/event.ts"
import type { UserMessage } from "../../core/message.ts"
import { initialMemory } from "../../memory.ts"
import type { Store } from "../../stores/store.ts"
import { damagedRunError, type RunHead, readHead, runKeys, type StoredRunHead } from "../checkpoint.ts"
import type { JournalEntry } from "../journal/run-journal.ts"
import { readSessionStart, type SessionStart } from "../session-info.ts"
import { mayStart, previousRun, previousRunId } from "../session-queue.ts"
import { parseEvents, parseJournal, parsePrompt, parseRunOptions } from "../stored-records.ts"
import { claimRun } from "./claim-run.ts"
import { refuseRun } from "./engine-events.ts"
import type { ConversationFolder, LoadedConversation } from "./folded-conversation.ts"
import { createConversationFolder, readFoldedConversation, runReadCost } from "./folded-conversation.ts"
import { type HeldRun, holdRun } from "./held-run.ts"
import type { LeaseObserver } from "./lease-observer.ts"
import { readInboxMessages } from "./run-inbox.ts"
import type { Owner } from "./run-owner.ts"
import { readSnapshot } from "./run-snapshots.ts"

/** A claimed run with everything that its next cycle needs. */
export interface LoadedRun {
  held: HeldRun
  prompt: UserMessage
  /** The journal of the cycle that was under way. */
  entries: JournalEntry[]
  options: DurableOptions | undefined
  resumed: ResumedConversation | undefined
  earlier: StoredConversation | undefined
  folding: ConversationFolder
  /** What earlier runs of its session have used, and its budget. Undefined without a session. */
  sessionStart: SessionStart | undefined
}

/** Claims a run and loads it, or returns why it cannot be executed now. */
export async function claimAndLoadRun(
  {
    store,
    owner,
    leaseMs,
    leaseObserver,
  }: { store: Store; owner: Owner; leaseMs: number; leaseObserver: LeaseObserver },
  found: StoredRunHead,
): Promise<LoadedRun | { type: "none" | "held" | "refused" }> {
  const { id } = found.head
  if (!(await mayStart(store, found.head))) return { type: "none" }
  const inbox = await readInboxMessages(store, id, found.head.inbox)
  const after = await previousRunId(store, found.head)
  const claim = { owner, leaseMs, leaseObserver, inbox, inboxFrom: found.head.inbox, after }
  const claimed = await claimRun(store, id, claim, found)
  if (!claimed) return { type: (await readHead(store, id))?.head.status === "running" ? "held" : "none" }
  try {
    return await loadClaimedRun(store, claimed, leaseMs)
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== "corrupt") throw error
    const held = holdRun(store, claimed, { leaseMs, journalLength: claimed.head.journal })
    return await refuseRun(held, error.message).finally(held.stopRenewing)
  }
}

async function loadClaimedRun(store: Store, claimed: StoredRunHead, leaseMs: number): Promise<LoadedRun> {
  const { head } = claimed
  const { id } = head
  const keys = runKeys(id)
  const [journal, input, options, resumed, earlier, sessionStart] = await Promise.all([
    Array.fromAsync(store.read(keys.journal, head.journal)),
    store.get(keys.input),
    store.get(keys.options),
    head.state && loadResumed(store, head, head.state),
    head.state ? undefined : loadEarlierRuns(store, head),
    readSessionStart(store, head),
  ])
  if (!input) throw damagedRunError(id, "its prompt is missing")
  const entries = parseJournal(journal, id)
  const prompt = parsePrompt(input.value, id)
  const given = options && parseRunOptions(options.value, id)
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
    folding: createConversationFolder(folded?.run, cost),
    sessionStart,
  }
}

/** The conversation and state from which a started run continues. */
async function loadResumed(
  store: Store,
  head: RunHead,
  state: NonNullable<RunHead["state"]>,
): Promise<Loaded<ResumedConversation>> {
  const { end, ...rest } = state
  const { kept, ...read } = await loadConversation(store, head)
  // A waiting run that was answered continues, so its end is removed.
  return { kept: { state: end && end.status !== "waiting" ? state : rest, ...kept }, ...read }
}

interface Loaded<Kept> extends Omit<LoadedConversation, "events"> {
  kept: Kept
}

/** The conversation that earlier runs of the session have left. */
async function loadEarlierRuns(store: Store, head: RunHead): Promise<Loaded<StoredConversation> | undefined> {
  const before = await previousRun(store, head)
  if (!before) return undefined
  // Only a run with a saved cycle has stored the names, approvals and objects of the conversation.
  const last = (await previousRun(store, head, ({ state }) => !state)) ?? before
  return loadConversation(store, before, last)
}

/** The conversation up to the run `head`, with the names, approvals and objects that the run `last` stored. */
async function loadConversation(store: Store, head: RunHead, last = head): Promise<Loaded<StoredConversation>> {
  const [{ folded, events, cost }, snapshot] = await Promise.all([
    readConversation(store, head),
    readSnapshot(store, last),
  ])
  const covered = eventsCoveredBySnapshot(events, last)
  return {
    kept: { events, folded: folded?.conversation, head: conversationHead(last), snapshot, covered },
    folded,
    cost,
  }
}

/** How many of the events came before the snapshot of that run; undefined if all did. */
function eventsCoveredBySnapshot(
  events: readonly AgentEvent[],
  { id, status, stored, failedFrom }: RunHead,
): number | undefined {
  if (status !== "failed" || failedFrom === undefined) return undefined
  const end = events.findLastIndex(({ run }) => run === id) + 1
  return Math.max(0, end - (stored - failedFrom))
}

/** Reads the conversation of a run and of the earlier runs of its session: the folded form, if one is stored, and the
 *  events since. `known` are all events of the run, if they were already read. */
export async function readConversation(
  store: Store,
  head: RunHead,
  known?: readonly AgentEvent[],
): Promise<LoadedConversation> {
  const folded = await readFoldedConversation(store, head)
  const runs: AgentEvent[][] = []
  let isWhole = false
  for (let each: RunHead | undefined = head; each; ) {
    isWhole = each.id === folded?.run
    const from = isWhole ? (folded?.at ?? 0) : 0
    const events = each === head && known ? known.slice(from) : await readEvents(store, each, from)
    runs.unshift(conversationEvents(each, events, from))
    if (isWhole) break
    each = await previousRun(store, each)
  }
  const events = runs.flat()
  return { folded: isWhole ? folded : undefined, events, cost: events.length + runs.length * runReadCost }
}

/** The events of a run, from that position of its log on, that belong to the conversation. */
export function conversationEvents({ skipped = [] }: RunHead, events: AgentEvent[], from = 0): AgentEvent[] {
  if (skipped.length === 0) return events
  return events.filter((_, index) => !skipped.some(([start, end]) => from + index >= start && from + index < end))
}

function conversationHead(head: RunHead): ConversationHead {
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

/** Reads the events of a run from that position on. A log that is shorter than the head says is an error of code
 *  `corrupt`. */
export async function readEvents(store: Store, { id, stored }: RunHead, from = 0): Promise<AgentEvent[]> {
  const events = parseEvents(await Array.fromAsync(store.read(runKeys(id).events, from)), id)
  if (from + events.length >= stored) return events
  throw damagedRunError(id, `its log has ${from + events.length} of ${stored} events`)
}
