import type { Decision, LiveObjects, Run, RunResult } from "./agent.ts"
import { AbortError, AgentError, ConfigError, errorData, toAbortError } from "./errors.ts"
import type { AgentEvent, EventBody, StopReason } from "./event.ts"
import { appendMerged, createEventReader, type EventReader } from "./event-reader.ts"
import { checkSteerText } from "./message.ts"
import { prepareEvent } from "./prepare-event.ts"
import {
  type AwaitedDecision,
  awaitDecision,
  checkNestingDepth,
  claimQuestionId,
  contextOfRun,
  endChildRuns,
  followSignals,
  insideRun,
  limitReachedByRunOrAncestor,
  outsideRuns,
  parentForNewRun,
  pauseRunAndAncestors,
  type RunBudget,
  type RunContext,
  runAndAncestors,
} from "./run-context.ts"
import { addUsage, noUsage, type Usage } from "./usage.ts"
import { deepFreeze } from "./values/freeze.ts"

/** What the body of a run works with. */
export interface RunControl {
  readonly id: string
  readonly signal: AbortSignal
  /** Stamps and publishes one event; the object is the run's from then on. */
  emit(body: EventBody): AgentEvent
  /** Publishes an event that is stamped already: a sub-agent's. */
  forward(event: AgentEvent): void
  /** This run as its children see it. */
  readonly context: RunContext
  /** Says what this run, and all below it together, may use. */
  setBudget(budget: RunBudget): void
  /** The limit that a run above this one has reached, if any. */
  limitReachedAbove(): StopReason | undefined
  /** Counts what this run has used, for itself and for the runs above it. */
  spend(usage: Usage): void
  /** What was used since it was last taken, by this run and those below it. */
  spent(): Usage
  takeSpent(): Usage
  /** Stops the clocks of this run and those above it while `work` is under way. */
  pauseClocks<T>(work: () => Promise<T>): Promise<T>
  /** Ends the runs that this one has started and left behind. */
  endChildRuns(): Promise<void>
  /** Takes what was said by `steer` since the last call. */
  takeSteered(): string[]
  /** Whether `run.approve` answers, of this run or of one above it that has not ended. */
  readersApprove(): boolean
  /** The id to ask by about a call: no two runs of a tree ask by the same one. */
  claimApprovalId(callId: string): string
  /** Waits for `run.approve(id, …)`, of this run or of one above it. Rejects with the abort reason, and when `late` fires. `text`:
   *  the whole call, for `run.pendingCall(id)` until then. */
  awaitDecision(id: string, text?: string, late?: AbortSignal): Promise<Decision>
  setRuntime(runtime: LiveObjects): void
  /** Hands every event from now on to the record, before anybody else sees it. */
  setRecorder(record: (event: AgentEvent) => void): void
}

/** How a run ended, and the value its awaiter gets. `error` is thrown to who awaits. */
export interface RunBodyResult {
  result: RunResult
  /** It has not come to an end and goes on later, perhaps elsewhere: there is no `run-end`. */
  suspended?: boolean
  error?: unknown
}

export interface StartRunOptions {
  id: string
  /** The run it belongs to. Default: the one it is started in. */
  parent?: string | undefined
  /** The name of the agent, for messages. */
  agent?: string | undefined
  /** How deep runs may nest, this one included. Default 5. */
  depth?: number | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: AgentEvent) => unknown) | undefined
  now?: (() => number) | undefined
  /** The number of its first event, for a run that goes on. Default 0. */
  firstSeq?: number | undefined
  /** Emits everything but `run-end`, and answers with it. Must not reject: an error it lets out is a bug of ours, and
   *  still ends the run once. */
  body(control: RunControl): Promise<RunBodyResult>
  /** For a run that passes on the work of others and is no level of nesting itself: takes what the runs below tell, in place of
   *  telling it as theirs. */
  onChildEvent?: ((event: AgentEvent, control: RunControl) => void) | undefined
  /** The result when the body itself broke. */
  onBodyError(error: unknown): RunBodyResult
  /** Ends what the run opened and left open for its result's sake; called by `await using`. */
  dispose?: (() => Promise<void>) | undefined
}

/** Starts work and gives the handle on it. Started inside a cell or call of another run, it is that run's child: its
 *  events are told there too, with `parent`; it ends with it, and what it uses counts there. Throws when runs are nested
 *  too deep. */
export function startRun(setup: StartRunOptions): Run {
  const { id, agent = "agent", depth = 5, onEvent, now = Date.now, onChildEvent: adopt } = setup
  const starting = parentForNewRun()
  const parent = starting?.parent
  const parentId = setup.parent ?? parent?.id
  if (parent) checkNestingDepth(agent, parent)
  const log: AgentEvent[] = []
  const readers = new Set<EventReader>()
  const controller = new AbortController()
  const unfollow = followSignals(controller, starting?.signals ?? [])
  const signal = setup.signal ? AbortSignal.any([setup.signal, controller.signal]) : controller.signal
  const steered: string[] = []
  const decisions = new Map<string, AwaitedDecision>()
  let spent = noUsage
  let seq = setup.firstSeq ?? 0
  let record: ((event: AgentEvent) => void) | undefined
  let observerFailed = false

  function publish(event: AgentEvent): void {
    if (context.ended) return
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
      // What an observer starts is its own affair, and no part of the run.
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
    depth: (parent?.depth ?? 0) + (adopt ? 0 : 1),
    maxDepth: Math.min((parent?.depth ?? 0) + depth, parent?.maxDepth ?? Number.POSITIVE_INFINITY),
    signal,
    ended: false,
    readersApprove: false,
    decisions,
    questionOwners: new Map(),
    children: new Set(),
    inherited: {},
    budget: undefined,
    forward: adopt ? (event) => adopt(event, control) : publish,
    countUsage(usage) {
      spent = addUsage(spent, usage)
    },
  }

  const control: RunControl = {
    id,
    signal,
    context,
    emit(body) {
      // Stamped in place: what `prepareEvent` gives is ours.
      const event = prepareEvent(body) as AgentEvent
      event.run = id
      event.seq = seq++
      event.at = now()
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
      // Not by `upwards`: this is on the way of every step.
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
    readersApprove: () => runAndAncestors(context).some((run) => run.readersApprove && !run.ended),
    claimApprovalId: (callId) => claimQuestionId(context, callId),
    awaitDecision: (callId, text, late) =>
      awaitDecision(context, callId, { text, late, abortError: () => abortError(signal) }),
    setRuntime(objects) {
      run.runtime = objects
    },
    setRecorder(recorder) {
      record = recorder
    },
  }

  // A microtask later, so that who starts a run can subscribe before its first event.
  const outcome = Promise.resolve()
    .then(() => insideRun(context, () => setup.body(control)))
    .catch(setup.onBodyError)
    .then(async (end) => {
      await control.endChildRuns()
      if (!context.ended && !end.suspended) control.emit(runEndEvent(end.result))
      for (const reader of readers) reader.end()
      unfollow()
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

  // No getters here, nor in what else is made for each run: the engine makes a hidden class for each of them, which holds
  // on to all that the run has until old memory is collected.
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
    approve(callId, decision) {
      if (!["allow", "deny", "always"].includes(decision)) {
        throw new ConfigError(`run.approve: "${decision}" is no decision. Use "allow", "deny" or "always".`)
      }
      const awaited = decisions.get(callId)
      if (!awaited)
        throw new AgentError(`No approval "${callId}" is waiting in this run.`, { code: "unknown-approval" })
      awaited.resolve(decision)
    },
    pendingCall: (callId) => decisions.get(callId)?.text,
    async [Symbol.asyncDispose]() {
      controller.abort(new AbortError("The run was disposed of before it ended."))
      await settled
      await setup.dispose?.()
    },
  }
  contextOfRun.set(run, context)
  return run
}

/** The error to throw for a fired signal. */
export function abortError(signal: AbortSignal): AbortError {
  return toAbortError(signal.reason)
}

/** The event that says how a run ended. */
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
