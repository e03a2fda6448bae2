import { type Durable, durableStart, type Progress } from "../agent/durable.ts"
import type { Agent, Run } from "../core/agent.ts"
import { AbortError, ConflictError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UserMessage } from "../core/message.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Change, Store } from "../stores/store.ts"
import { createApprovals } from "./approvals.ts"
import { claimRun, type HeldRun, holdRun, keysOf, readHead } from "./checkpoint.ts"
import { describeDefinition, differences } from "./definition.ts"
import { type Inbox, readInbox } from "./inbox.ts"
import { createJournal, type JournalEntry, type RunJournal } from "./journal.ts"
import { approvalsAsked, failed, refuse } from "./own-events.ts"
import type { Owner } from "./owner.ts"
import { changedShape, Refusal, sharedRuntime, timeNotRecorded, unknownAgent } from "./refusal.ts"
import { takeSnapshot } from "./snapshots.ts"
import { collect, earlierOf, resumedFrom } from "./stored-run.ts"

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
    journal.nextCycle(state.cycle)
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

// State is JSON, but shares its parts with the run.
function plain<T>(state: T): T {
  return structuredClone(state)
}
