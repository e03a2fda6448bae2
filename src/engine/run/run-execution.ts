// Executes a claimed run until it ends, waits or yields to other jobs. Between two slices the run may stay warm.
import type { AgentConfig } from "../../agent/agent-config.ts"
import type { Conversation } from "../../agent/conversation.ts"
import type { DurableRun } from "../../agent/run/durable-run.ts"
import { budgetLeft } from "../../agent/session-budget.ts"
import type { Run } from "../../core/agent.ts"
import { AbortError, abortDetail, ConflictError } from "../../core/errors.ts"
import type { AgentEvent, Emit } from "../../core/event.ts"
import type { Json } from "../../core/json.ts"
import { createRunJournal, type JournalEntry, type RunJournal } from "../journal/run-journal.ts"
import { changedAgentMessage, changedAgentWarning, Refusal, sharedRuntimeMessage } from "../run-refusal.ts"
import { nextRetry, retryLaterCommit } from "../run-retries.ts"
import { type AgentDefinition, definitionChanges, describeAgent } from "./agent-definition.ts"
import { runArtifactReader } from "./checkpoint-records.ts"
import { abortCommit, approvalWaitCommit, failRun, failureCommit, type HeadCommit, refuseRun } from "./engine-events.ts"
import type { HeldRun } from "./held-run.ts"
import type { LoadedRun } from "./load-run.ts"
import { type Approvals, createApprovals } from "./run-approvals.ts"
import { followInbox, type Inbox } from "./run-inbox.ts"
import { saveCheckpoint } from "./save-checkpoint.ts"
import type { SliceEnd, SliceSetup } from "./slice.ts"
import { type SliceTimer, startSliceTimer } from "./slice-timer.ts"

/** A claimed run while this worker has it: during one slice, and the following ones if it stays warm. */
export interface RunExecution {
  readonly setup: SliceSetup
  readonly loaded: LoadedRun
  readonly held: HeldRun
  readonly approvals: Approvals
  readonly journal: RunJournal
  /** Stops the run in this process. */
  readonly controller: AbortController
  /** Set once the run has started. */
  inbox: Inbox | undefined
  timer: SliceTimer
  /** Settles when the current slice has ended. */
  slice: PromiseWithResolvers<SliceEnd>
  /** Why the run stops here; undefined while it continues. */
  stop: "requeued" | "waiting" | "approval" | "retry" | "ended" | undefined
  /** The push of the job that continues the run. */
  nextJob: Promise<void> | undefined
  /** While the run is warm between two slices: resolves to true if it resumes here, to false if it is closed. */
  parked: PromiseWithResolvers<boolean> | undefined
  /** Absent until the agent has attached its conversation. */
  config: AgentConfig | undefined
  emit: Emit
  /** The number of the run's next event. */
  nextSeq(): number
  /** The events of the cycle under way. */
  unsavedEvents(): AgentEvent[]
  /** How many events of the conversation are stored. */
  savedEvents: number
  /** The definition to store with the next checkpoint, if it is new or has changed. */
  definition: AgentDefinition | undefined
}

/** Starts or resumes the run and resolves when its first slice ends. */
export function executeClaimedRun(
  setup: SliceSetup,
  loaded: LoadedRun,
  start: (durable: DurableRun) => Run,
): Promise<SliceEnd> {
  const execution = createExecution(setup, loaded)
  const { held, approvals, controller } = execution
  const { state, unheard } = held.head
  let ending: Promise<void> = Promise.resolve()
  let run: Run
  try {
    run = start(durableRun(execution, () => ending))
  } catch (error) {
    // The agent of this worker cannot keep an option of the run, such as a limit on the cost.
    return failRun(held, error)
  }
  // A run that has begun gets these texts with its conversation.
  if (!state) for (const text of unheard) run.steer(text)
  const inbox = followInbox(setup.store, held, {
    abort: (reason) => controller.abort(new AbortError(reason)),
    decide: approvals.decide,
    steer: (text) => run.steer(text),
    untilHeld: async () => (await execution.parked?.promise) ?? true,
  })
  execution.inbox = inbox
  ending = run.settled
    .then(({ error }) => endSlice(execution, error?.cause))
    .finally(() => {
      held.stopRenewing()
      return inbox.close()
    })
    .then(
      (end) => execution.slice.resolve(end),
      (error) => execution.slice.reject(error),
    )
  return execution.slice.promise
}

function createExecution(setup: SliceSetup, loaded: LoadedRun): RunExecution {
  const { held, entries } = loaded
  const controller = new AbortController()
  held.lost.addEventListener("abort", () => controller.abort(new AbortError("The run goes on elsewhere.")))
  const approvals = createApprovals(held, {
    // Other runs wait while this one works alone.
    holdMs: held.head.attempts?.alone ? 0 : setup.holdMs,
    stopping: setup.stopping,
    cellAborted: controller.signal,
    onHoldExpired: () => void suspendForApproval(execution),
    unsavedEvents: () => execution.unsavedEvents(),
  })
  const timer = startSliceTimer(setup, held.head.state?.cycle)
  const journal = createExecutionJournal(setup, held, approvals, {
    cycle: timer.cycle,
    entries,
    warn: (code, message) => execution.emit({ type: "warning-raised", code, message }),
  })
  const execution: RunExecution = {
    setup,
    loaded,
    held,
    approvals,
    journal,
    controller,
    inbox: undefined,
    timer,
    slice: Promise.withResolvers(),
    stop: undefined,
    nextJob: undefined,
    parked: undefined,
    config: undefined,
    emit: () => undefined,
    nextSeq: () => held.head.seq,
    unsavedEvents: () => [],
    savedEvents: 0,
    definition: undefined,
  }
  return execution
}

interface ExecutionJournalSetup {
  cycle: number
  entries: readonly JournalEntry[]
  warn(code: string, message: string): void
}

function createExecutionJournal(
  { unknown }: SliceSetup,
  held: HeldRun,
  approval: Approvals,
  { cycle, entries, warn }: ExecutionJournalSetup,
): RunJournal {
  return createRunJournal({
    run: held.head.id,
    cycle,
    seed: held.head.seed,
    entries,
    async append(added, when) {
      const items = added as readonly Json[]
      if (when === "now") await held.appendNow(items)
      else held.appendSoon(items)
    },
    checkHeld: held.checkHeld,
    claims: () => held.head.fence,
    unknown,
    approval,
    onDiverged: (what) => warn("journal-diverged", `Run again, the cycle took another way: ${what}.`),
    onEffect: (what) =>
      warn(
        "effect-not-journaled",
        `A cell used ${what}: such ambient effects are not journaled. If it is run again, so are they.`,
      ),
  })
}

/** The engine's side of the run, as the agent sees it. `ending` resolves when the run has left this process. */
function durableRun(execution: RunExecution, ending: () => Promise<void>): DurableRun {
  const { setup, held, loaded, journal, controller } = execution
  const { id, session, metadata, seq, interrupted } = held.head
  const { budget, usedBefore } = loaded.sessionStart ?? {}
  return {
    run: id,
    session,
    budgetLeft: budget && usedBefore && budgetLeft(budget, usedBefore),
    prompt: loaded.prompt,
    options: loaded.options,
    metadata,
    signal: controller.signal,
    firstSeq: seq,
    resumed: loaded.resumed,
    earlierConversation: loaded.earlier,
    usedByFailedAnswers: journal.lostUsage,
    interruption: interrupted && { answered: journal.hasRecordedAnswer, calls: journal.pastCalls },
    journal: journal.journal,
    readArtifact: runArtifactReader(setup.store, held.head),
    async attach(config, conversation, { emit, nextSeq }) {
      Object.assign(execution, { config, emit, nextSeq })
      execution.unsavedEvents = () => conversation.events.slice(execution.savedEvents)
      execution.savedEvents = conversation.events.length
      await checkDefinition(execution, config, conversation)
    },
    readInbox: async () => await execution.inbox?.catchUp(),
    saveAndRequeue: (progress) => saveCheckpoint(execution, progress),
    planRetry(error) {
      if (nextRetry(held.head, error, setup.retry)) execution.stop = "retry"
    },
    shouldYield: () => execution.stop !== undefined,
    parkUntilNextJob: () => parkUntilNextJob(execution, ending),
    get isSuspended() {
      return (execution.stop !== undefined && execution.stop !== "ended") || held.lost.aborted
    },
  }
}

/** Throws a `Refusal` if the agent cannot continue this run. A changed definition that is allowed raises a warning. */
async function checkDefinition(execution: RunExecution, config: AgentConfig, { runtime }: Conversation): Promise<void> {
  const { setup, held } = execution
  if (typeof config.runtime === "object") throw new Refusal(sharedRuntimeMessage(held.head.agent))
  const definition = await describeAgent(config, runtime)
  const changed = held.head.definition ? definitionChanges(held.head.definition, definition) : []
  if (changed.length > 0 && !setup.allowChanged) throw new Refusal(changedAgentMessage(held.head, changed))
  if (changed.length > 0) {
    execution.emit({ type: "warning-raised", code: "agent-changed", message: changedAgentWarning(changed) })
  }
  if (!held.head.definition || changed.length > 0) execution.definition = definition
}

/** Called when an approval was not answered within the hold time. Waits for the calls under way, then stops the cell;
 *  the run waits without a worker. */
async function suspendForApproval(execution: RunExecution): Promise<void> {
  const { journal, approvals, controller, held } = execution
  await journal.untilIdle()
  if (execution.stop || approvals.undecided(held.head).length === 0) return
  execution.stop = "approval"
  const reason = new AbortError("The run waits for an approval.")
  journal.close(reason)
  controller.abort(reason)
}

/** Ends the slice and leaves the run in memory for its next job. Resolves to true once that has come, to false if the
 *  run must leave this process. */
function parkUntilNextJob(execution: RunExecution, ending: () => Promise<void>): Promise<boolean> {
  const { setup, held } = execution
  if (execution.stop !== "requeued" || setup.stopping.aborted) return Promise.resolve(false)
  const parked = Promise.withResolvers<boolean>()
  execution.parked = parked
  const close = async () => {
    parked.resolve(false)
    await ending()
  }
  held.stopRenewing()
  setup.warmRuns.park(held.head.id, { resume: () => resume(execution, close), close })
  execution.slice.resolve({ type: "requeued", pushed: execution.nextJob })
  return parked.promise
}

/** Continues a parked run for its next job. Returns undefined if another worker has changed it: then it is closed
 *  here. */
async function resume(execution: RunExecution, close: () => Promise<void>): Promise<SliceEnd | undefined> {
  const { setup, held } = execution
  try {
    await held.reclaim(setup.owner)
  } catch (error) {
    await close()
    if (error instanceof ConflictError) return undefined
    throw error
  }
  execution.timer = startSliceTimer(setup, held.head.state?.cycle)
  execution.slice = Promise.withResolvers()
  execution.stop = undefined
  execution.parked?.resolve(true)
  return execution.slice.promise
}

/** Commits how the slice ended, unless the last checkpoint did. `failure` is the error that ended the run. */
async function endSlice(execution: RunExecution, failure: unknown): Promise<SliceEnd> {
  const { setup, held, stop, approvals, controller } = execution
  if (stop === "ended" || stop === "waiting") return { type: stop }
  if (stop === "requeued") return { type: stop, pushed: execution.nextJob }
  if (held.lost.aborted) throw held.lost.reason
  if (stop === "approval") {
    await commitEnd(execution, approvalWaitCommit(held.head, approvals.undecided, execution.unsavedEvents()))
    if (held.head.status === "waiting") return { type: "waiting" }
    return { type: "requeued", pushed: setup.push(held.head.id, held.revision) }
  }
  if (controller.signal.aborted) {
    await commitEnd(execution, abortCommit(held.head, abortDetail(controller.signal.reason)))
    return { type: "ended" }
  }
  const retry = nextRetry(held.head, failure, setup.retry)
  if (retry) {
    held.appendSoon([{ type: "retry", key: "" }])
    await commitEnd(execution, retryLaterCommit(held.head, retry))
    return { type: "retry", at: retry.at }
  }
  if (failure instanceof Refusal) return await refuseRun(held, failure.message)
  await commitEnd(execution, failureCommit(held.head, failure))
  return { type: "ended" }
}

/** Commits events of the engine. Their numbers come after those that the run has reported in this process. */
function commitEnd({ held, nextSeq }: RunExecution, [next, changes]: HeadCommit): Promise<void> {
  return held.commit((head) => next({ ...head, seq: Math.max(head.seq, nextSeq()) }), changes)
}
