import { setCallPolicy } from "../../actions/call-policy.ts"
import type { HookContext, Hooks } from "../../actions/hooks.ts"
import { runBeforeRun } from "../../actions/run-hooks.ts"
import { ensureJournal } from "../../actions/run-journal.ts"
import { createStopwatch, noCalls, reachedLimit, type Stopwatch } from "../../actions/run-limits.ts"
import { setToolFilter } from "../../actions/tool-policy.ts"
import { errorData } from "../../core/errors.ts"
import type { Metadata, StopReason } from "../../core/event.ts"
import { type UserMessage, userMessage } from "../../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent } from "../../core/run.ts"
import { outsideRuns } from "../../core/run-context.ts"
import { trajectory } from "../../core/trajectory.ts"
import { addUsage } from "../../core/usage.ts"
import { setCellToolContext } from "../../tools/cell-tool.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import type { AgentConfig } from "../agent-config.ts"
import type { Conversation } from "../conversation.ts"
import { cycle } from "../cycle.ts"
import { endingFromStop } from "../decide.ts"
import { declaredOutputs, type Outputs } from "../outputs.ts"
import { announceInterruption, beginRun, resumeRun } from "./begin-run.ts"
import { foldersWritableByTools } from "./child-runs.ts"
import { cellToolContext, createCycleServices, createSteerBuffer, openRunTools } from "./cycle-services.ts"
import type { DurableRun } from "./durable-run.ts"
import { applyAfterRunHooks, createResult, markResultFailed } from "./run-result.ts"
import { createRunState, type Ending, type RunState } from "./run-state.ts"
import { applyVerdict, type Verify } from "./verify.ts"

export interface LoopSetup {
  config: AgentConfig
  conversation: Conversation
  prompt: UserMessage
  metadata: Metadata
  /** What the run must fill before it may end. */
  outputs?: Outputs | undefined
  verify?: Verify | undefined
  /** New values for names of the runtime, before it begins. */
  values?: Record<string, unknown> | undefined
  /** Values for the state of its tools, before it begins. */
  state?: Readonly<StateValues> | undefined
  /** Set where the run outlives its process. */
  durable?: DurableRun | undefined
}

/** Runs cycles until the agent answers, waits, reaches a limit, fails or is aborted. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunBodyResult> {
  const { config, conversation, durable } = setup
  const firstEvent = conversation.events.length
  const { emit, context } = control
  const outputs = setup.outputs && declaredOutputs(setup.outputs, conversation.runtime, control.id)
  if (config.usesCode) control.setRuntime(conversation.runtime)
  control.setRecorder((event) => {
    conversation.record(event)
    outputs?.noteAssignments(event)
  })
  const { approver: approve, approvalTimeoutMs, limits } = config
  const watch = createStopwatch(limits.timeMs, config.monotonicNow, durable?.resumed?.state.activeMs)
  const said = createSteerBuffer(conversation, control)
  let failure: unknown
  let objects: Record<string, unknown> | undefined
  let state = createFirstState(setup)
  control.setBudget({
    reachedLimit: () => limitReachedInCycle(state, control, watch, config),
    pauseWhile: watch.paused,
    limitsCost: limits.costUsd !== undefined,
  })
  const budgets = [{ ...limits, counts: state.calls }]
  const policy = setCallPolicy(context, { approver: approve, approvalTimeoutMs, hooks: config.hooks, budgets })
  const allowed = setToolFilter(context, config.toolPolicy)
  setCellToolContext(context, { context: () => cellToolContext(setup), allows: allowed })
  const journal = ensureJournal(context, setup.prompt.parts)
  const save = async (ended = false) => {
    await durable?.saveAndRequeue({ state, conversation, undeliveredSteers: said.peekAll(), ended, objects })
    await conversation.save?.(ended, said.peekAll())
  }
  const signal = mergeSignals(control.signal, watch.expired)
  const place: HookContext = { run: control.id, parent: context.parent?.id, agent: config.name, signal }
  try {
    const begun = durable?.resumed ? setup : await runBeforeRunHooks(setup, policy.hooks, place, control)
    if ("prompt" in begun) {
      if (!durable?.resumed) applyInitialToolState(setup)
      const { system, skills } = durable?.resumed
        ? await resumeRun(setup, emit)
        : await beginRun({ ...setup, prompt: begun.prompt }, emit)
      if (outputs && durable?.resumed) await outputs.resume(state.oldOutputs, state.end?.status)
      else if (outputs) state.oldOutputs = await outputs.recordInitialValues()
      const tag = config.fenceTag(conversation.runtime.language)
      const skillPlace = { tag, usesCode: config.usesCode, writable: foldersWritableByTools(config) }
      const work = skills?.createRunSkills(conversation, skillPlace, emit)
      await using tools = config.usesTools ? await openRunTools(setup, allowed, work?.access) : undefined
      for (const message of tools?.warnings ?? []) emit({ type: "warning-raised", code: "shell", message })
      const services = createCycleServices(control, setup, {
        outputs,
        tools,
        system,
        policy,
        journal,
        watch,
        signal,
        steers: said,
        wasAborted: () => wasAborted(control),
        recordFailure(error) {
          failure = error
        },
      })
      if (work) services.runtime = work.runtime
      if (!durable?.resumed) await save()
      while (!state.end && !(durable?.shouldYield() && (await yieldsRun(durable, control, watch)))) {
        const ending = endingBeforeCycle(state, control, config)
        if (ending) state = { ...state, end: ending }
        else state = await cycle(state, services, work?.emit ?? emit)
        state.activeMs = watch.activeMs()
        conversation.memory = state.memory
        if (durable?.suspended) break
        if (!state.end || state.end.status === "waiting") announceInterruption(durable, emit)
        if (durable || conversation.save) await save()
      }
    } else {
      state = { ...state, end: begun }
    }
  } catch (error) {
    failure = error
    state = { ...state, end: { status: "failed", error: errorData(error) } }
  } finally {
    watch.stop()
  }
  if (state.end?.status === "failed") durable?.planRetry(failure)
  await control.endChildRuns()
  // Nothing has ended: neither hooks nor readers are told, and what was not saved never was.
  if (durable?.suspended) return { result: createResult(control.id, state, failure), suspended: true }
  state = { ...state, usage: addUsage(state.usage, control.takeSpent()) }
  if (state.end?.status === "aborted") failure = abortError(control.signal)
  conversation.steered.push(...said.takeAll())
  const result = createResult(control.id, state, failure)
  try {
    await applyAfterRunHooks(result, conversation.messages, policy.hooks, place)
  } catch (error) {
    failure = error
    markResultFailed(result, error)
  }
  if (outputs)
    objects = result.objects = result.status === "done" ? outputs.objects : await outputs.collectAtEnd(result.status)
  const { verify } = setup
  // Its work is not this run's: what it starts is not stopped by this run's limits.
  if (verify) await outsideRuns(() => applyVerdict(verify, conversation.runtime, result))
  // The last event belongs to the record too, so it is emitted here and not left to the run.
  emit(runEndEvent(result))
  await save(true)
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  return failure === undefined ? { result } : { result, error: failure }
}

// A run that goes on has its counts and clock from before; what conversations share is the conversation's.
function createFirstState({ conversation, durable }: LoopSetup): RunState {
  const { approved, memory, state: shared } = conversation
  const tools = shared.values
  const fresh = createRunState(approved, memory, tools)
  if (!durable?.resumed) return fresh
  const { state } = durable.resumed
  const calls = { total: state.calls.total, of: Object.assign(noCalls().of, state.calls.of) }
  return { ...state, calls, approved, memory, tools }
}

function applyInitialToolState({ conversation, state = {} }: LoopSetup): void {
  for (const [key, value] of Object.entries(state)) conversation.state.set(key, value)
}

// What the run begins with, or how it ends before that. What hooks do not let in is not remembered.
async function runBeforeRunHooks(
  { config, conversation, prompt, metadata }: LoopSetup,
  hooks: readonly Hooks[],
  context: HookContext,
  control: RunControl,
): Promise<{ prompt: UserMessage } | Ending> {
  if (!hooks.some((hook) => hook.beforeRun)) return { prompt }
  const refused = () =>
    control.emit({ type: "run-start", agent: config.name, model: config.model.id, messages: [], metadata })
  try {
    const parts = prompt.parts.filter((part) => part.type !== "summary")
    const start = { prompt: parts, messages: conversation.messages.slice() }
    const given = await runBeforeRun(start, hooks, context)
    if (!given) return { prompt }
    if ("prompt" in given) return { prompt: userMessage(given.prompt) }
    refused()
    return endingFromStop(given)
  } catch (error) {
    refused()
    if (!context.signal.aborted) throw error
    return wasAborted(control) ? { status: "aborted" } : { status: "stopped", reason: "time" }
  }
}

// What it has started and left behind would go on while nobody holds the run.
async function yieldsRun(durable: DurableRun, { context }: RunControl, watch: Stopwatch): Promise<boolean> {
  return context.children.size > 0 || !(await watch.paused(() => durable.parkUntilNextJob()))
}

function endingBeforeCycle(state: RunState, control: RunControl, config: AgentConfig): RunState["end"] {
  if (wasAborted(control)) return { status: "aborted" }
  const reason = reachedLimit(state, config.limits) ?? control.limitReachedAbove()
  return reason && { status: "stopped", reason }
}

// A run above that is out of time aborts those below, which are then stopped and not aborted.
function wasAborted(control: RunControl): boolean {
  return control.signal.aborted && control.limitReachedAbove() !== "time"
}

// What a run below asks while this one is in the middle of a cycle.
function limitReachedInCycle(
  { usage }: RunState,
  { spent }: RunControl,
  watch: Stopwatch,
  { limits }: AgentConfig,
): StopReason | undefined {
  if (watch.expired.aborted) return "time"
  return reachedLimit(
    { cycle: 0, usage: addUsage(usage, spent()), activeMs: watch.activeMs() },
    { ...limits, cycles: 1 },
  )
}

// Both live as long as the run, so a plain controller will do: listening to `AbortSignal.any` costs at every cell.
function mergeSignals(...signals: AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason)
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true })
  }
  return controller.signal
}
