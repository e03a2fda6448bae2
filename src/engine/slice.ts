import type { Conversation } from "../agent/conversation.ts"
import { type Durable, durableStart, type Progress } from "../agent/durable.ts"
import type { Agent, Run } from "../core/agent.ts"
import { AbortError, ConflictError } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Store } from "../stores/store.ts"
import { createApprovals } from "./approvals.ts"
import { isPoison, poison, worksAlone } from "./attempts.ts"
import { type Head, readHead } from "./checkpoint.ts"
import { type Definition, describeDefinition, differences } from "./definition.ts"
import { readInbox } from "./inbox.ts"
import { createJournal } from "./journal.ts"
import type { KeptRuns } from "./kept-runs.ts"
import { approvalsAsked, failed, refuse } from "./own-events.ts"
import type { Owner } from "./owner.ts"
import { changedShape, goesOnChanged, Refusal, sharedRuntime, unknownAgent } from "./refusal.ts"
import { nextRetry, type RetryPolicy, retryLater } from "./retries.ts"
import { artifactReader, savedChanges } from "./saved-changes.ts"
import { failedHead, savedHead } from "./saved-head.ts"
import type { Silence } from "./silence.ts"
import { type SliceTimeSetup, startSliceTime } from "./slice-time.ts"
import type { Slots } from "./slots.ts"
import { takeSnapshot } from "./snapshots.ts"
import { type Found, findRun } from "./stored-run.ts"

export interface SliceSetup extends SliceTimeSetup {
  store: Store
  agents: Readonly<Record<string, Agent>>
  owner: Owner
  leaseMs: number
  silence: Silence
  holdMs: number
  maxSnapshotBytes: number
  unknown: UnknownPolicy
  allowChanged: boolean
  retry: RetryPolicy
  /** How many workers may end while they work on the run alone. */
  maxAttempts: number
  kept: KeptRuns
  /** Has a run worked on again after this job. */
  push(id: string, revision: number): Promise<void>
  slots: Slots
}

/** How a slice ended: the run goes on in another, waits, has ended, is another worker's, or not to be worked on. */
export type SliceEnd =
  | { type: "again"; pushed: Promise<void> | undefined }
  | { type: "later"; at: number }
  | { type: "waiting" | "ended" | "held" | "refused" | "none" }

/** Works on a run until it ends, waits, has had its time, or this worker is to stop. Rejects when it could not tell how far
 *  the run came. */
export async function workSlice(setup: SliceSetup, id: string): Promise<SliceEnd> {
  return setup.kept.alone(id, async () => {
    try {
      const kept = setup.kept.take(id)
      const end = kept && (await setup.slots.enter(false, () => kept.goOn()))
      if (end) return end
      const known = await readHead(setup.store, id)
      if (!known) return { type: "none" }
      return await setup.slots.enter(worksAlone(known.head, setup), async () => {
        const found = await findRun(setup, known)
        return "held" in found ? await newSlice(setup, found) : found
      })
    } catch (error) {
      // Another worker has it now: whatever this one still did was not written.
      if (error instanceof ConflictError) return { type: "none" }
      throw error
    }
  })
}

async function newSlice(setup: SliceSetup, found: Found): Promise<SliceEnd> {
  const { held } = found
  if (isPoison(held.head, setup.maxAttempts)) {
    await held.commit(...failed(held.head, poison(held.head))).finally(held.letGo)
    return { type: "ended" }
  }
  const start = durableStart(setup.agents[held.head.agent] ?? {})
  if (start) return openSlice(setup, found, start)
  try {
    return await refuse(held, unknownAgent(held.head, setup.agents))
  } finally {
    held.letGo()
  }
}

function openSlice(setup: SliceSetup, found: Found, start: (durable: Durable) => Run): Promise<SliceEnd> {
  const { store, stopping } = setup
  const { held, entries, prompt, options, resumed, earlier, folding } = found
  const { id, state: before, seed, metadata } = held.head
  const controller = new AbortController()
  const approvals = createApprovals(held, {
    // Other runs wait while this one works alone.
    holdMs: held.head.attempts?.alone ? 0 : setup.holdMs,
    stopping,
    given: controller.signal,
    late: () => void suspend(),
  })
  let begun = startSliceTime(setup, before?.cycle)
  let turn = Promise.withResolvers<SliceEnd>()
  let left: "again" | "waiting" | "approval" | "retry" | "ended" | undefined
  let pushed: Promise<void> | undefined
  let resting: PromiseWithResolvers<boolean> | undefined
  let saved = 0
  let config: Parameters<Durable["check"]>[0] | undefined
  let definition: Definition | undefined
  let emit: Emit = () => undefined

  held.lost.addEventListener("abort", () => controller.abort(new AbortError("The run goes on elsewhere.")))

  const journal = createJournal({
    run: id,
    cycle: begun.cycle,
    seed,
    entries,
    async append(entries, when) {
      const items = entries as readonly Json[]
      if (when === "now") await held.append(items)
      else held.note(items)
    },
    unknown: setup.unknown,
    approval: approvals,
    diverged: (what) =>
      emit({
        type: "warning-raised",
        code: "journal-diverged",
        message: `Run again, the cycle took another way: ${what}.`,
      }),
    effect: (what) => emit({ type: "warning-raised", code: "effect-not-journaled", message: notJournaled(what) }),
  })

  // Past its time: what is under way comes to its end, then the cell is given up and the run waits without a worker.
  async function suspend(): Promise<void> {
    await journal.idle()
    if (left || approvals.open(held.head).length === 0) return
    left = "approval"
    const reason = new AbortError("The run waits for an approval.")
    journal.close(reason)
    controller.abort(reason)
  }

  async function save({ state, conversation, unheard, ended, objects }: Progress): Promise<void> {
    if (state.end?.status === "failed") return saveFailure(conversation, ended)
    const { received } = inbox
    const isCycle = state.cycle > begun.cycle && !ended
    if (isCycle) journal.endCycle()
    const events = conversation.events.slice(saved)
    saved = conversation.events.length
    const taken = config && (await takeSnapshot(config, conversation, events, held.head, setup.maxSnapshotBytes))
    const own = events.filter((event) => event.run === id)
    const end = own.findLast((event) => event.type === "run-end")
    const waiting = !ended && state.end?.status === "waiting" ? state.end.pending : undefined
    const leaves = isCycle && !state.end && (await begun.isOver())
    const artifacts = conversation.artifacts.unsaved()
    const changes = savedChanges(id, { events, artifacts, objects, snapshot: taken?.changes })
    const folded = folding.advance(conversation, id, events.length)
    const status = end?.type === "run-end" ? end.status : waiting ? "waiting" : leaves ? "queued" : "running"
    const next = (head: Head): Head =>
      savedHead(head, {
        status,
        state,
        conversation,
        events,
        isCycle,
        leaseMs: setup.leaseMs,
        // The last ones were stored after the loop had put `unheard` together.
        unheard: [...unheard, ...inbox.steersAfter(received)],
        definition,
        snapshot: taken?.note,
        pending: waiting,
        folded: folding.run,
      })
    // It goes to the queue while it is saved: whoever takes it before that finds it held, and comes again.
    if (leaves) pushed = setup.push(id, held.revision)
    pushed?.catch(() => undefined)
    await held.commit(next, (head) => [...changes, ...folded(head)], { endsCycle: true })
    conversation.artifacts.saved(artifacts)
    if (status !== "running") left = ended ? "ended" : leaves ? "again" : "waiting"
    journal.nextCycle(state.cycle)
    if (!ended) emit({ type: "checkpoint-saved", revision: held.revision })
  }

  // The head stays as the last saved cycle left it, with the journal since then: a retry goes on from there.
  async function saveFailure(conversation: Conversation, ended: boolean): Promise<void> {
    if (!ended) return
    const events = conversation.events.slice(saved)
    const changes = savedChanges(id, { events, artifacts: conversation.artifacts.unsaved() })
    await held.commit((head) => failedHead(head, conversation, events), changes)
    left = "ended"
  }

  const durable: Durable = {
    run: id,
    prompt,
    options,
    metadata,
    signal: controller.signal,
    firstSeq: held.head.seq,
    resumed,
    earlier,
    interruption: held.head.interrupted && { answered: journal.answered, calls: journal.pastCalls },
    journal: journal.journal,
    readArtifact: artifactReader(store, held.head),
    async check(given, conversation, tell) {
      config = given
      emit = tell
      saved = conversation.events.length
      if (typeof given.runtime === "object") throw new Refusal(sharedRuntime(held.head.agent))
      const shape = await describeDefinition(given, conversation.runtime)
      const changed = held.head.definition ? differences(held.head.definition, shape) : []
      if (changed.length > 0 && !setup.allowChanged) throw new Refusal(changedShape(held.head, changed))
      if (changed.length > 0) emit({ type: "warning-raised", code: "agent-changed", message: goesOnChanged(changed) })
      if (!held.head.definition || changed.length > 0) definition = shape
    },
    save,
    failed(error) {
      if (nextRetry(held.head, error, setup.retry)) left = "retry"
    },
    leaves: () => left !== undefined,
    stays() {
      if (left !== "again" || stopping.aborted) return Promise.resolve(false)
      resting = Promise.withResolvers()
      held.letGo()
      setup.kept.keep(id, { goOn, close })
      turn.resolve({ type: "again", pushed })
      return resting.promise
    },
    get suspended() {
      return (left !== undefined && left !== "ended") || held.lost.aborted
    },
  }

  // The next job of the same run, with everything as the one before has left it.
  async function goOn(): Promise<SliceEnd | undefined> {
    try {
      await held.claim(setup.owner)
    } catch (error) {
      await close()
      if (error instanceof ConflictError) return undefined
      throw error
    }
    begun = startSliceTime(setup, held.head.state?.cycle)
    turn = Promise.withResolvers()
    left = undefined
    resting?.resolve(true)
    return turn.promise
  }

  async function close(): Promise<void> {
    resting?.resolve(false)
    await ending
  }

  async function end(failure: unknown): Promise<SliceEnd> {
    if (left === "ended" || left === "waiting") return { type: left }
    if (left === "again") return { type: left, pushed }
    if (held.lost.aborted) throw held.lost.reason
    if (left === "approval") {
      await held.commit(...approvalsAsked(held.head, approvals.open))
      if (held.head.status === "waiting") return { type: "waiting" }
      return { type: "again", pushed: setup.push(id, held.revision) }
    }
    const retry = controller.signal.aborted ? undefined : nextRetry(held.head, failure, setup.retry)
    if (retry) {
      held.note([{ type: "retry", key: "" }])
      await held.commit(...retryLater(held.head, retry))
      return { type: "later", at: retry.at }
    }
    if (failure instanceof Refusal) return await refuse(held, failure.message)
    await held.commit(...failed(held.head, failure))
    return { type: "ended" }
  }

  const run = start(durable)
  // A run that has begun gets these with its conversation.
  if (!before) for (const text of held.head.unheard) run.steer(text)
  const inbox = readInbox(store, held, {
    abort: (reason) => controller.abort(new AbortError(reason)),
    decided: approvals.decide,
    steer: (text) => run.steer(text),
    holding: async () => (await resting?.promise) ?? true,
  })
  const ending = run.settled
    .then(({ error }) => end(error?.cause))
    .finally(() => {
      held.letGo()
      return inbox.close()
    })
    .then(
      (end) => turn.resolve(end),
      (error) => turn.reject(error),
    )
  return turn.promise
}

const notJournaled = (what: string) =>
  `A cell used ${what}: such ambient effects are not journaled. If it is run again, so are they.`
