import { internalsOf } from "../../agent/agent-internals.ts"
import type { Conversation } from "../../agent/conversation.ts"
import type { DurableRun, RunProgress } from "../../agent/run/durable-run.ts"
import type { Agent, Run } from "../../core/agent.ts"
import { AbortError, ConflictError } from "../../core/errors.ts"
import type { Emit } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import type { UnknownPolicy } from "../../runtime/bindings.ts"
import type { Store } from "../../stores/store.ts"
import { type RunHead, readHead } from "../checkpoint.ts"
import { createRunJournal } from "../journal/run-journal.ts"
import {
  changedAgentMessage,
  changedAgentWarning,
  Refusal,
  sharedRuntimeMessage,
  unknownAgentMessage,
} from "../run-refusal.ts"
import { nextRetry, type RetryPolicy, retryLaterCommit } from "../run-retries.ts"
import { type AgentDefinition, definitionChanges, describeAgent } from "./agent-definition.ts"
import { headAfterFailure, headAfterSave } from "./checkpoint-head.ts"
import { checkpointChanges, runArtifactReader } from "./checkpoint-records.ts"
import { isPoison, poisonError, worksAlone } from "./claim-attempts.ts"
import { approvalWaitCommit, failureCommit, refuseRun } from "./engine-events.ts"
import type { LeaseObserver } from "./lease-observer.ts"
import { claimAndLoadRun, type LoadedRun } from "./load-run.ts"
import { createApprovals } from "./run-approvals.ts"
import { followInbox } from "./run-inbox.ts"
import type { Owner } from "./run-owner.ts"
import type { RunSlots } from "./run-slots.ts"
import { takeSnapshot } from "./run-snapshots.ts"
import { type SliceTimerSetup, startSliceTimer } from "./slice-timer.ts"
import type { WarmRuns } from "./warm-runs.ts"

export interface SliceSetup extends SliceTimerSetup {
  store: Store
  agents: Readonly<Record<string, Agent>>
  owner: Owner
  leaseMs: number
  silence: LeaseObserver
  holdMs: number
  maxSnapshotBytes: number
  unknown: UnknownPolicy
  allowChanged: boolean
  retry: RetryPolicy
  /** How many workers may end while they work on the run alone. */
  maxAttempts: number
  warmRuns: WarmRuns
  /** Has a run worked on again after this job. */
  push(id: string, revision: number): Promise<void>
  slots: RunSlots
}

/** How a slice ended: the run goes on in another, waits, has ended, is another worker's, or not to be worked on. */
export type SliceEnd =
  | { type: "again"; pushed: Promise<void> | undefined }
  | { type: "later"; at: number }
  | { type: "waiting" | "ended" | "held" | "refused" | "none" }

/** Works on a run until it ends, waits, has had its time, or this worker is to stop. Rejects when it could not tell how far
 *  the run came. */
export async function executeSlice(setup: SliceSetup, id: string): Promise<SliceEnd> {
  return setup.warmRuns.runExclusively(id, async () => {
    try {
      const kept = setup.warmRuns.take(id)
      const end = kept && (await setup.slots.enter(false, () => kept.resume()))
      if (end) return end
      const known = await readHead(setup.store, id)
      if (!known) return { type: "none" }
      return await setup.slots.enter(worksAlone(known.head, setup), async () => {
        const found = await claimAndLoadRun(setup, known)
        return "held" in found ? await startSlice(setup, found) : found
      })
    } catch (error) {
      // Another worker has it now: whatever this one still did was not written.
      if (error instanceof ConflictError) return { type: "none" }
      throw error
    }
  })
}

async function startSlice(setup: SliceSetup, found: LoadedRun): Promise<SliceEnd> {
  const { held } = found
  if (isPoison(held.head, setup.maxAttempts)) {
    await held.commit(...failureCommit(held.head, poisonError(held.head))).finally(held.stopRenewing)
    return { type: "ended" }
  }
  const start = internalsOf(setup.agents[held.head.agent])?.startDurableRun
  if (start) return executeClaimedRun(setup, found, start)
  try {
    return await refuseRun(held, unknownAgentMessage(held.head, setup.agents))
  } finally {
    held.stopRenewing()
  }
}

function executeClaimedRun(
  setup: SliceSetup,
  found: LoadedRun,
  start: (durable: DurableRun) => Run,
): Promise<SliceEnd> {
  const { store, stopping } = setup
  const { held, entries, prompt, options, resumed, earlier, folding } = found
  const { id, state: before, seed, metadata } = held.head
  const controller = new AbortController()
  const approvals = createApprovals(held, {
    // Other runs wait while this one works alone.
    holdMs: held.head.attempts?.alone ? 0 : setup.holdMs,
    stopping,
    cellAborted: controller.signal,
    onHoldExpired: () => void suspend(),
  })
  let begun = startSliceTimer(setup, before?.cycle)
  let turn = Promise.withResolvers<SliceEnd>()
  let left: "again" | "waiting" | "approval" | "retry" | "ended" | undefined
  let pushed: Promise<void> | undefined
  let resting: PromiseWithResolvers<boolean> | undefined
  let saved = 0
  let config: Parameters<DurableRun["attach"]>[0] | undefined
  let definition: AgentDefinition | undefined
  let emit: Emit = () => undefined

  held.lost.addEventListener("abort", () => controller.abort(new AbortError("The run goes on elsewhere.")))

  const journal = createRunJournal({
    run: id,
    cycle: begun.cycle,
    seed,
    entries,
    async append(entries, when) {
      const items = entries as readonly Json[]
      if (when === "now") await held.appendNow(items)
      else held.appendSoon(items)
    },
    unknown: setup.unknown,
    approval: approvals,
    onDiverged: (what) =>
      emit({
        type: "warning-raised",
        code: "journal-diverged",
        message: `Run again, the cycle took another way: ${what}.`,
      }),
    onEffect: (what) => emit({ type: "warning-raised", code: "effect-not-journaled", message: effectWarning(what) }),
  })

  // Past its time: what is under way comes to its end, then the cell is given up and the run waits without a worker.
  async function suspend(): Promise<void> {
    await journal.untilIdle()
    if (left || approvals.undecided(held.head).length === 0) return
    left = "approval"
    const reason = new AbortError("The run waits for an approval.")
    journal.close(reason)
    controller.abort(reason)
  }

  async function save({ state, conversation, undeliveredSteers: unheard, ended, objects }: RunProgress): Promise<void> {
    if (state.end?.status === "failed") return saveFailure(conversation, ended)
    const { received } = inbox
    const isCycle = state.cycle > begun.cycle && !ended
    if (isCycle) journal.reportUnaskedCalls()
    const events = conversation.events.slice(saved)
    saved = conversation.events.length
    const taken = config && (await takeSnapshot(config, conversation, events, held.head, setup.maxSnapshotBytes))
    const own = events.filter((event) => event.run === id)
    const end = own.findLast((event) => event.type === "run-end")
    const waiting = !ended && state.end?.status === "waiting" ? state.end.pending : undefined
    const leaves = isCycle && !state.end && (await begun.isOver())
    const artifacts = conversation.artifacts.unsaved()
    const changes = checkpointChanges(id, { events, artifacts, objects, snapshot: taken?.changes })
    const folded = folding.advance(conversation, id, events.length)
    const status = end?.type === "run-end" ? end.status : waiting ? "waiting" : leaves ? "queued" : "running"
    const next = (head: RunHead): RunHead =>
      headAfterSave(head, {
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
    conversation.artifacts.removeSaved(artifacts)
    if (status !== "running") left = ended ? "ended" : leaves ? "again" : "waiting"
    journal.startCycle(state.cycle)
    if (!ended) emit({ type: "checkpoint-saved", revision: held.revision })
  }

  // The head stays as the last saved cycle left it, with the journal since then: a retry goes on from there.
  async function saveFailure(conversation: Conversation, ended: boolean): Promise<void> {
    if (!ended) return
    const events = conversation.events.slice(saved)
    const changes = checkpointChanges(id, { events, artifacts: conversation.artifacts.unsaved() })
    await held.commit((head) => headAfterFailure(head, conversation, events), changes)
    left = "ended"
  }

  const durable: DurableRun = {
    run: id,
    prompt,
    options,
    metadata,
    signal: controller.signal,
    firstSeq: held.head.seq,
    resumed,
    earlierConversation: earlier,
    interruption: held.head.interrupted && { answered: journal.hasRecordedAnswer, calls: journal.pastCalls },
    journal: journal.journal,
    readArtifact: runArtifactReader(store, held.head),
    async attach(given, conversation, tell) {
      config = given
      emit = tell
      saved = conversation.events.length
      if (typeof given.runtime === "object") throw new Refusal(sharedRuntimeMessage(held.head.agent))
      const shape = await describeAgent(given, conversation.runtime)
      const changed = held.head.definition ? definitionChanges(held.head.definition, shape) : []
      if (changed.length > 0 && !setup.allowChanged) throw new Refusal(changedAgentMessage(held.head, changed))
      if (changed.length > 0)
        emit({ type: "warning-raised", code: "agent-changed", message: changedAgentWarning(changed) })
      if (!held.head.definition || changed.length > 0) definition = shape
    },
    saveAndRequeue: save,
    planRetry(error) {
      if (nextRetry(held.head, error, setup.retry)) left = "retry"
    },
    shouldYield: () => left !== undefined,
    parkUntilNextJob() {
      if (left !== "again" || stopping.aborted) return Promise.resolve(false)
      resting = Promise.withResolvers()
      held.stopRenewing()
      setup.warmRuns.park(id, { resume: goOn, close })
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
      await held.reclaim(setup.owner)
    } catch (error) {
      await close()
      if (error instanceof ConflictError) return undefined
      throw error
    }
    begun = startSliceTimer(setup, held.head.state?.cycle)
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
      await held.commit(...approvalWaitCommit(held.head, approvals.undecided))
      if (held.head.status === "waiting") return { type: "waiting" }
      return { type: "again", pushed: setup.push(id, held.revision) }
    }
    const retry = controller.signal.aborted ? undefined : nextRetry(held.head, failure, setup.retry)
    if (retry) {
      held.appendSoon([{ type: "retry", key: "" }])
      await held.commit(...retryLaterCommit(held.head, retry))
      return { type: "later", at: retry.at }
    }
    if (failure instanceof Refusal) return await refuseRun(held, failure.message)
    await held.commit(...failureCommit(held.head, failure))
    return { type: "ended" }
  }

  const run = start(durable)
  // A run that has begun gets these with its conversation.
  if (!before) for (const text of held.head.unheard) run.steer(text)
  const inbox = followInbox(store, held, {
    abort: (reason) => controller.abort(new AbortError(reason)),
    decide: approvals.decide,
    steer: (text) => run.steer(text),
    untilHeld: async () => (await resting?.promise) ?? true,
  })
  const ending = run.settled
    .then(({ error }) => end(error?.cause))
    .finally(() => {
      held.stopRenewing()
      return inbox.close()
    })
    .then(
      (end) => turn.resolve(end),
      (error) => turn.reject(error),
    )
  return turn.promise
}

const effectWarning = (what: string) =>
  `A cell used ${what}: such ambient effects are not journaled. If it is run again, so are they.`
