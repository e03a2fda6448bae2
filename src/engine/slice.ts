import type { Durable, Progress, Resumed } from "../agent/durable.ts"
import { durableStart } from "../agent/durable.ts"
import type { ConversationHead, KeptConversation } from "../agent/restore.ts"
import type { Agent, Decision, Run } from "../core/agent.ts"
import { AbortError, ConfigError, ConflictError, errorData } from "../core/errors.ts"
import type { AgentEvent, CallPreview, Emit, EventBody } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import { noUsage } from "../core/usage.ts"
import { initialMemory } from "../memory.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Change, Store } from "../stores/store.ts"
import { claimRun, type Head, type HeldRun, holdRun, keysOf, readHead } from "./checkpoint.ts"
import { describeDefinition, differences } from "./definition.ts"
import { type Inbox, readInbox } from "./inbox.ts"
import { createJournal, type JournalEntry, type RunJournal } from "./journal.ts"
import type { Owner } from "./owner.ts"
import { storedSnapshot, takeSnapshot } from "./snapshots.ts"

export interface SliceSetup {
  store: Store
  agents: Readonly<Record<string, Agent>>
  owner: Owner
  leaseMs: number
  holdMs: number
  sliceMs: number
  maxSnapshotBytes: number
  unknown: UnknownPolicy
  allowChanged: boolean
  /** How many other jobs wait. */
  queued(): Promise<number>
  /** Fires when this worker is to stop. */
  stopping: AbortSignal
}

/** How a slice ended: the run goes on in another, waits, has ended, or was not ours to work on. */
export type SliceEnd = "again" | "waiting" | "ended" | "none"

/** Works on a run until it ends, waits, has had its time, or this worker is to stop. Rejects when it could not tell how far
 *  the run came. */
export async function workSlice(setup: SliceSetup, id: string): Promise<SliceEnd> {
  const { store, owner, leaseMs } = setup
  if (!(await isItsTurn(store, id))) return "none"
  const claimed = await claimRun(store, id, { owner, leaseMs })
  if (!claimed) return "none"
  const keys = keysOf(id)
  const { head } = claimed
  const entries = (await collect(store.read(keys.journal, head.journal))) as unknown as JournalEntry[]
  const held = holdRun(store, claimed, { leaseMs, journalLength: head.journal + entries.length })
  const start = durableStart(setup.agents[head.agent] ?? {})
  try {
    if (!start) return await refuse(held, unknownAgent(head, setup.agents))
    const slice = await openSlice(setup, held, entries)
    try {
      const { error } = await slice.run(start).settled
      return await slice.end(error?.cause)
    } finally {
      await slice.inbox.close()
    }
  } catch (error) {
    // Another worker has it now: whatever this one still did was not written.
    if (error instanceof ConflictError) return "none"
    throw error
  } finally {
    held.letGo()
  }
}

interface Slice {
  run(start: (durable: Durable) => Run): Run
  inbox: Inbox
  end(failure: unknown): Promise<SliceEnd>
}

async function openSlice(setup: SliceSetup, held: HeldRun, entries: readonly JournalEntry[]): Promise<Slice> {
  const { store, stopping } = setup
  const { id, state, seed, metadata } = held.head
  const keys = keysOf(id)
  const controller = new AbortController()
  const approvals = createApprovals(held, setup.holdMs, () => void suspend())
  const begun = Date.now()
  let left: "again" | "waiting" | "approval" | "ended" | undefined
  let cycles = 0
  let saved = 0
  let config: Parameters<Durable["check"]>[0] | undefined
  let emit: Emit = () => undefined
  let run: Run | undefined
  const early: string[] = []

  const inbox = readInbox(store, id, held.head.inbox, (letter) => {
    if (letter.type === "abort") controller.abort(new AbortError(letter.reason))
    else if (letter.type === "decision") approvals.decide(letter.key, letter.decision)
    else if (run) run.steer(letter.text)
    else early.push(letter.text)
  })
  held.lost.addEventListener("abort", () => controller.abort(new AbortError("The run goes on elsewhere.")))

  const journal: RunJournal = createJournal({
    run: id,
    cycle: state?.cycle ?? 0,
    seed,
    entries,
    append: (items) => held.append(items as unknown as Json[]),
    unknown: setup.unknown,
    approval: approvals,
    diverged: (what) =>
      emit({
        type: "warning-raised",
        code: "journal-diverged",
        message: `Run again, the cycle took another way: ${what}.`,
      }),
  })

  // Past its time: what is under way comes to its end, then the cell is given up and the run waits without a worker.
  async function suspend(): Promise<void> {
    await journal.idle()
    if (left || approvals.open().length === 0) return
    left = "approval"
    const reason = new AbortError("The run waits for an approval.")
    journal.close(reason)
    controller.abort(reason)
  }

  async function save({ state, conversation, unheard, ended }: Progress): Promise<void> {
    const { read } = inbox
    if (cycles > 0 && !ended) journal.endCycle()
    const events = conversation.events.slice(saved)
    saved = conversation.events.length
    const taken = config && (await takeSnapshot(config, conversation, events, held.head, setup.maxSnapshotBytes))
    const end = events.findLast((event) => event.type === "run-end" && event.run === id)
    const waiting = !ended && state.end?.status === "waiting" ? state.end.pending : undefined
    const changes: Change[] = [...(taken?.changes ?? [])]
    if (events.length > 0) changes.push({ type: "append", log: keys.events, items: events as unknown as Json[] })
    const status = end?.type === "run-end" ? end.status : waiting ? "waiting" : "running"
    if (status !== "running") left = ended ? "ended" : "waiting"
    await held.commit((head) => {
      const { pending: _, lease, ...rest } = head
      return {
        ...rest,
        status,
        state: plain(state),
        ...(conversation.systemRun !== undefined && { systemRun: conversation.systemRun }),
        told: [...conversation.told],
        unheard: [...unheard],
        stored: head.stored + events.length,
        seq: (events.at(-1)?.seq ?? head.seq - 1) + 1,
        journal: held.journalLength(),
        inbox: read,
        asked: [],
        ...(taken && { snapshot: taken.note }),
        ...(waiting && { pending: waiting }),
        ...(status === "running" && lease && { lease }),
      }
    }, changes)
    approvals.clear()
    journal.nextCycle()
  }

  const durable: Durable = {
    run: id,
    prompt: (await store.get(keys.input))?.value as unknown as UserMessage,
    metadata,
    signal: controller.signal,
    firstSeq: held.head.seq,
    ...(state
      ? { resumed: await resumedFrom(store, held.head, state) }
      : { earlier: await earlierOf(store, held.head) }),
    journal: journal.journal,
    async check(given, conversation, tell) {
      config = given
      emit = tell
      saved = conversation.events.length
      if (typeof given.runtime === "object") throw new Refusal(sharedRuntime(held.head.agent))
      const definition = await describeDefinition(given, conversation.runtime)
      const changed = held.head.definition ? differences(held.head.definition, definition) : []
      if (changed.length > 0 && !setup.allowChanged) throw new Refusal(changedShape(held.head, changed))
      if (!held.head.definition || changed.length > 0) await held.commit((head) => ({ ...head, definition }))
      if (given.usesCode && conversation.runtime.isolation !== "none" && !held.head.stored) emit(timeNotRecorded)
    },
    save,
    async leaves() {
      if (cycles++ === 0) return false
      const spent = Date.now() - begun
      const isOver = stopping.aborted || spent >= setup.sliceMs
      if (isOver || (spent >= fairMs && (await setup.queued()) > 0)) left = "again"
      return left !== undefined
    },
    get suspended() {
      return (left !== undefined && left !== "ended") || held.lost.aborted
    },
  }

  async function end(failure: unknown): Promise<SliceEnd> {
    if (left === "ended" || left === "waiting") return left
    if (held.lost.aborted) throw held.lost.reason
    if (left === "again") {
      await held.commit(({ lease: _, ...head }) => ({ ...head, status: "queued" }))
      return "again"
    }
    if (left === "approval") {
      await held.commit(...approvalsAsked(held.head, approvals.open(), inbox.read))
      return "waiting"
    }
    if (failure instanceof Refusal) return await refuse(held, failure.message)
    await held.commit(...failed(held.head, failure))
    return "ended"
  }

  return {
    inbox,
    end,
    run(start) {
      run = start(durable)
      for (const text of early) run.steer(text)
      return run
    },
  }
}

// Other work does not wait longer than this for a run that could leave.
const fairMs = 1_000

/** Whether the run before it in its session has ended. */
async function isItsTurn(store: Store, id: string): Promise<boolean> {
  const found = await readHead(store, id)
  if (!found?.head.after || found.head.state) return found !== undefined
  const before = await readHead(store, found.head.after)
  return !before || (before.head.lease === undefined && !["queued", "running", "waiting"].includes(before.head.status))
}

interface Approvals {
  decided(key: string): Decision | undefined
  wait(key: string, id: string, call: CallPreview): Promise<Decision>
  decide(key: string, decision: Decision): void
  /** Those that nobody has answered. */
  open(): Head["asked"]
  clear(): void
}

function createApprovals(held: HeldRun, holdMs: number, late: () => void): Approvals {
  const waiting = new Map<string, (decision: Decision) => void>()
  let asked = held.head.asked.filter(({ decision }) => decision)
  const decisions = new Map(asked.map(({ key, decision }) => [key, decision]))
  return {
    decided: (key) => decisions.get(key),
    async wait(key, id, call) {
      const { promise, resolve } = Promise.withResolvers<Decision>()
      waiting.set(key, resolve)
      asked = [...asked, { key, id, call }]
      // Told at once, so that it can be answered from anywhere while the cell is held.
      await held.commit((head) => ({ ...head, asked }))
      const timer = setTimeout(late, holdMs)
      return promise.finally(() => clearTimeout(timer))
    },
    decide(key, decision) {
      decisions.set(key, decision)
      asked = asked.map((each) => (each.key === key ? { ...each, decision } : each))
      waiting.get(key)?.(decision)
      waiting.delete(key)
    },
    open: () => asked.filter(({ decision }) => decision === undefined),
    clear() {
      asked = []
      decisions.clear()
    },
  }
}

type Commit = [next: (head: Head) => Head, changes: Change[]]

function approvalsAsked({ id }: Head, open: Head["asked"], inbox: number): Commit {
  return withEvents(
    id,
    open.map(({ id, call }) => ({ type: "approval-requested", id, call })),
    ({ lease: _, ...head }) => {
      const [first] = open
      return {
        ...head,
        status: "waiting",
        inbox,
        ...(first && { pending: { kind: "approval", id: first.id, call: first.call } }),
      }
    },
  )
}

function failed({ id, state }: Head, failure: unknown): Commit {
  const { cycle: cycles = 0, usage = noUsage, output = "" } = state ?? {}
  const error = errorData(failure ?? new Error("The run broke off."))
  const end: EventBody = { type: "run-end", status: "failed", output, cycles, usage, error }
  return withEvents(id, [end], ({ lease: _, ...head }) => ({ ...head, status: "failed" }))
}

async function refuse(held: HeldRun, refused: string): Promise<SliceEnd> {
  const warning: EventBody = { type: "warning-raised", code: "run-refused", message: refused }
  await held.commit(
    ...withEvents(held.head.id, [warning], ({ lease: _, ...head }) => ({ ...head, status: "queued", refused })),
  )
  return "waiting"
}

/** Events that the engine tells itself, between slices, with what they do to the head. */
export function withEvents(run: string, bodies: readonly EventBody[], next: (head: Head) => Head): Commit {
  const items: Json[] = []
  const at = Date.now()
  return [
    (head) => {
      items.push(...bodies.map((body, index) => ({ ...body, run, seq: head.seq + index, at }) as unknown as Json))
      return next({ ...head, seq: head.seq + bodies.length, stored: head.stored + bodies.length })
    },
    [{ type: "append", log: keysOf(run).events, items }],
  ]
}

async function resumedFrom(store: Store, head: Head, state: NonNullable<Head["state"]>): Promise<Resumed> {
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
async function earlierOf(store: Store, { after }: Head): Promise<KeptConversation | undefined> {
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

async function collect(items: AsyncIterable<Json>): Promise<Json[]> {
  return await Array.fromAsync(items)
}

// State is JSON, but shares its parts with the run.
function plain<T>(state: T): T {
  return structuredClone(state)
}

/** A run that cannot go on here and now, and may elsewhere or later. */
class Refusal extends ConfigError {}

function unknownAgent({ id, agent }: Head, agents: object): string {
  const known = Object.keys(agents).join(", ") || "none"
  return `Run ${id} is of the agent "${agent}", which this engine does not have. It has: ${known}.`
}

function sharedRuntime(agent: string): string {
  return `The agent "${agent}" has one runtime for all its runs. Give it a factory: runtime: () => jsRuntime({ … }).`
}

function changedShape({ id, agent }: Head, changed: readonly string[]): string {
  return (
    `Run ${id} does not go on: the agent "${agent}" has changed since it began: ${changed.join("; ")}. ` +
    "Go on with the agent as it was, or say allowChanged: true."
  )
}

const timeNotRecorded: EventBody = {
  type: "warning-raised",
  code: "time-not-recorded",
  message:
    "Time and randomness of cells are not recorded in this kind of runtime: a cell that is run again sees others.",
}
