// Starts runs: stamps and publishes their events, connects them to parent runs, and returns the `Run` handle.
import { followSignals } from "./abort.ts"
import type { Decision, LiveObjects, Run, RunResult } from "./agent.ts"
import { AbortError, AgentError, errorData, toAbortError } from "./errors.ts"
import type { AgentEvent, EventBody, StopReason } from "./event.ts"
import { appendMerged, createEventReader, type EventReader } from "./event-reader.ts"
import { checkSteerText } from "./message.ts"
import { prepareEvent } from "./prepare-event.ts"
import * as approvals from "./run-approvals.ts"
import {
  checkNestingDepth,
  contextOfRun,
  endChildRuns,
  insideRun,
  limitReachedByRunOrAncestor,
  outsideRuns,
  parentForNewRun,
  pauseRunAndAncestors,
  type RunBudget,
  type RunContext,
} from "./run-context.ts"
import { addUsage, noUsage, type Usage } from "./usage.ts"
import { deepFreeze } from "./values/freeze.ts"

/** What the body of a run uses to emit events, count usage and wait for decisions. */
export interface RunControl {
  readonly id: string
  readonly signal: AbortSignal
  /** Stamps and publishes an event. The run owns the object from then on. */
  emit(body: EventBody): AgentEvent
  /** Publishes a sub-agent's event, which is already stamped. */
  forward(event: AgentEvent): void
  readonly context: RunContext
  /** Sets what this run and all its descendants together may use. */
  setBudget(budget: RunBudget): void
  /** The limit that an ancestor of this run has reached, if any. */
  limitReachedAbove(): StopReason | undefined
  /** Counts usage of this run, also for its ancestors. */
  spend(usage: Usage): void
  /** Usage of this run and its descendants since `takeSpent` was last called. */
  spent(): Usage
  takeSpent(): Usage
  /** Stops the clocks of this run and its ancestors while `work` is in progress. */
  pauseClocks<T>(work: () => Promise<T>): Promise<T>
  /** Aborts the child runs that are still running, and waits for them. */
  endChildRuns(): Promise<void>
  /** Returns the texts passed to `steer` since the last call. */
  takeSteered(): string[]
  /** Returns true if `run.approve` can answer, on this run or on an ancestor that has not ended. */
  readersApprove(): boolean
  /** Reserves the id for an approval request. No two requests of a tree have the same id. */
  claimApprovalId(callId: string): string
  /** Waits for `run.approve(id, …)` on this run or an ancestor. Rejects with the abort reason, or when `late` fires. */
  awaitDecision(id: string, request?: approvals.DecisionRequest): Promise<Decision>
  /** Waits for an answer to an approval request, and at most until the requests of this tree are refused. */
  untilApprovalsClosed<T>(answer: Promise<T>): Promise<T | "closed">
  setRuntime(runtime: LiveObjects): void
  /** The number of the next event. */
  nextSeq(): number
  /** Passes every event from now on to `record` before any reader sees it. */
  setRecorder(record: (event: AgentEvent) => void): void
}

/** How a run ended. `error` is thrown to callers that await the run. */
export interface RunBodyResult {
  result: RunResult
  /** The run has not ended and continues later, perhaps elsewhere: there is no `run-end`. */
  suspended?: boolean
  error?: unknown
}

export interface StartRunOptions {
  id: string
  /** The parent's id. Default: the run in which this one is started. */
  parent?: string | undefined
  /** The agent's name, for error messages. */
  agent?: string | undefined
  /** How deep runs may nest, including this one. Default 5. */
  depth?: number | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: AgentEvent) => unknown) | undefined
  now?: (() => number) | undefined
  /** The number of the first event; larger than 0 for a run that continues. Default 0. */
  firstSeq?: number | undefined
  /** Returns true once what the run does is dropped: from then on it reports nothing. Default: as the parent. */
  isSuspended?: (() => boolean) | undefined
  /** Emits all events except `run-end`, and returns the result. Must not reject; if it does, that is a bug of Karst,
   *  and the run still ends exactly once. */
  body(control: RunControl): Promise<RunBodyResult>
  /** For a run that only passes on the work of other runs: receives events of child runs instead of publishing them.
   *  Such a run is not a nesting level. */
  onChildEvent?: ((event: AgentEvent, control: RunControl) => void) | undefined
  /** Makes the result if `body` rejects. */
  onBodyError(error: unknown): RunBodyResult
  /** Closes what the run left open for its result. Called by `await using`. */
  dispose?: (() => Promise<void>) | undefined
}

/** Starts a run and returns its handle. A run started inside a cell or call of another run is its child: its events
 *  are also published there with `parent`, it ends with the parent, and its usage counts there. Throws if runs are
 *  nested too deep. */
export function startRun(setup: StartRunOptions): Run {
  const { id, agent = "agent", depth = 5, onEvent, now = Date.now, onChildEvent } = setup
  const starting = parentForNewRun()
  const parent = starting?.parent
  const parentId = setup.parent ?? parent?.id
  if (parent) checkNestingDepth(agent, parent)
  const log: AgentEvent[] = []
  const readers = new Set<EventReader>()
  const controller = new AbortController()
  const stopFollowing = followSignals(controller, starting?.signals ?? [])
  const signal = setup.signal ? AbortSignal.any([setup.signal, controller.signal]) : controller.signal
  const steered: string[] = []
  let spent = noUsage
  let seq = setup.firstSeq ?? 0
  let record: ((event: AgentEvent) => void) | undefined
  let observerFailed = false

  function publish(event: AgentEvent): void {
    if (context.ended || context.isSuspended()) return
    deepFreeze(event)
    record?.(event)
    appendMerged(log, event)
    for (const reader of readers) reader.push(event)
    if (event.type === "run-end" && event.run === id) context.ended = true
    observe(event)
    parent?.forward(event)
  }

  function observe(event: AgentEvent): void {
    try {
      // Runs that an observer starts are not children of this run.
      const pending: unknown = onEvent && outsideRuns(() => onEvent(event))
      if (pending instanceof Promise) pending.catch(ignoreObserver)
    } catch (error) {
      ignoreObserver(error)
    }
  }

  function ignoreObserver(error: unknown): void {
    if (observerFailed) return
    observerFailed = true
    const { message } = errorData(error)
    control.emit({ type: "warning-raised", code: "observer", message: `An observer threw and was ignored: ${message}` })
  }

  const context: RunContext = {
    id,
    agent,
    parent,
    depth: (parent?.depth ?? 0) + (onChildEvent ? 0 : 1),
    maxDepth: Math.min((parent?.depth ?? 0) + depth, parent?.maxDepth ?? Number.POSITIVE_INFINITY),
    signal,
    ended: false,
    isSuspended: setup.isSuspended ?? (() => parent?.isSuspended() ?? false),
    approvals: approvals.createRunApprovals(),
    children: new Set(),
    inherited: {},
    budget: undefined,
    forward: onChildEvent ? (event) => onChildEvent(event, control) : publish,
    countUsage(usage) {
      spent = addUsage(spent, usage)
    },
  }

  const control: RunControl = {
    id,
    signal,
    context,
    emit(body) {
      // `prepareEvent` returned a copy, which can be stamped in place.
      const event: AgentEvent = Object.assign(prepareEvent(body), { run: id, seq: seq++, at: now() })
      if (parentId !== undefined) event.parent = parentId
      publish(event)
      return event
    },
    forward: publish,
    takeSteered: () => steered.splice(0),
    setBudget(budget) {
      context.budget = budget
    },
    limitReachedAbove: () => parent && limitReachedByRunOrAncestor(parent),
    spend(usage) {
      // A plain loop instead of `runAndAncestors`, because this is called at every step.
      for (let run: RunContext | undefined = context; run; run = run.parent) run.countUsage(usage)
    },
    spent: () => spent,
    takeSpent() {
      const taken = spent
      spent = noUsage
      return taken
    },
    pauseClocks: (work) => pauseRunAndAncestors(context, work),
    endChildRuns: () => endChildRuns(context),
    readersApprove: () => approvals.canReadersApprove(context),
    claimApprovalId: (callId) => approvals.claimApprovalId(context, callId),
    awaitDecision: (callId, request = {}) =>
      approvals.awaitDecision(context, callId, request, () => abortError(signal)),
    untilApprovalsClosed: (answer) => approvals.untilApprovalsClosed(context, answer),
    setRuntime(objects) {
      run.runtime = objects
    },
    nextSeq: () => seq,
    setRecorder(recorder) {
      record = recorder
    },
  }

  // One microtask later, so that the caller can subscribe before the first event.
  const outcome = Promise.resolve()
    .then(() => insideRun(context, () => setup.body(control)))
    .catch(setup.onBodyError)
    .then(async (end) => {
      await control.endChildRuns()
      if (!context.ended && !end.suspended) control.emit(runEndEvent(end.result))
      for (const reader of readers) reader.end()
      stopFollowing()
      return end
    })
  const settled = outcome.then((end) => end.result)
  if (parent) {
    const child = { settled, abort: (reason: AbortError) => controller.abort(reason) }
    parent.children.add(child)
    void settled.then(() => parent.children.delete(child))
  }

  async function unwrap(): Promise<RunResult> {
    const { result, error } = await outcome
    if (result.status === "aborted") throw error ?? abortError(signal)
    if (result.status === "failed") throw error ?? new AgentError(result.error?.message ?? "The run failed.")
    return result
  }

  // No getters, here or in anything else created per run: V8 makes a hidden class for each, which retains everything
  // the run references until the old generation is collected.
  const run: Run & { runtime: LiveObjects | undefined } = {
    id,
    settled,
    runtime: undefined,
    then: (onResolve, onReject) => unwrap().then(onResolve, onReject),
    catch: (onReject) => unwrap().catch(onReject),
    finally: (onEnd) => unwrap().finally(onEnd),
    [Symbol.asyncIterator]() {
      const reader = createEventReader(log.slice(), () => readers.delete(reader))
      if (context.ended) reader.end()
      else readers.add(reader)
      return reader.iterator
    },
    abort(reason) {
      controller.abort(new AbortError(reason))
    },
    steer: (text) => void steered.push(checkSteerText(text)),
    approve: (callId, decision) => approvals.answerApproval(context.approvals, callId, decision),
    pendingApprovals: () => approvals.listPendingApprovals(context.approvals),
    pendingCall: (callId) => context.approvals.waiting.get(callId)?.text,
    async [Symbol.asyncDispose]() {
      controller.abort(new AbortError("The run was disposed of before it ended."))
      await settled
      await setup.dispose?.()
    },
  }
  contextOfRun.set(run, context)
  return run
}

export function abortError(signal: AbortSignal): AbortError {
  return toAbortError(signal.reason)
}

export function runEndEvent(result: RunResult): EventBody {
  const { status, output, cycles, usage, reason, detail, pending, error, verdict } = result
  return {
    type: "run-end",
    status,
    output,
    cycles,
    usage,
    ...(reason && { reason }),
    ...(detail !== undefined && { detail }),
    ...(pending && { pending }),
    ...(error && { error: eventErrorFields(error) }),
    ...(verdict && { verdict }),
  }
}

function eventErrorFields({ name, message, code, retryable }: NonNullable<RunResult["error"]>) {
  return { name, message, ...(code !== undefined && { code }), ...(retryable !== undefined && { retryable }) }
}
