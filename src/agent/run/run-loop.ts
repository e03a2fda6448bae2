// The run loop: cycles until the agent answers, waits, reaches a limit, fails or is aborted.
import { setCallPolicy } from "../../actions/call-policy.ts"
import { setHookCaller } from "../../actions/hook-caller.ts"
import type { HookContext } from "../../actions/hooks.ts"
import { ensureJournal } from "../../actions/journal-contract.ts"
import { runBeforeRun } from "../../actions/run-hooks.ts"
import { createStopwatch, noCalls, reachedLimit, type Stopwatch } from "../../actions/run-limits.ts"
import { setToolFilter, type ToolFilter } from "../../actions/tool-policy.ts"
import { followSignals } from "../../core/abort.ts"
import { errorData } from "../../core/errors.ts"
import type { Metadata, StopReason } from "../../core/event.ts"
import { type UserMessage, userMessage } from "../../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent } from "../../core/run.ts"
import { outsideRuns } from "../../core/run-context.ts"
import { trajectory } from "../../core/trajectory.ts"
import { addUsage } from "../../core/usage.ts"
import { setCellToolContext } from "../../tools/cell-tool.ts"
import type { StateValues } from "../../tools/tool-state.ts"
import { forgetWrittenFiles } from "../../tools/written-files.ts"
import type { AgentConfig } from "../agent-config.ts"
import type { Conversation } from "../conversation.ts"
import { cycle } from "../cycle.ts"
import { endingFromStop } from "../decide.ts"
import { type AgentResult, declaredOutputs, type Outputs } from "../outputs.ts"
import { announceInterruption, beginRun, resumeRun } from "./begin-run.ts"
import { foldersWritableByTools } from "./child-runs.ts"
import type { RunServices } from "./cycle-services.ts"
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
  outputs?: Outputs | undefined
  verify?: Verify | undefined
  values?: Record<string, unknown> | undefined
  state?: Readonly<StateValues> | undefined
  durable?: DurableRun | undefined
}

/** Runs cycles until the run ends or yields, and returns its result. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunBodyResult> {
  const { conversation, durable } = setup
  const firstEvent = conversation.events.length
  const progress = startProgress(control, setup)
  try {
    const beginning = durable?.resumed ? setup : (endingBeforeRun(progress) ?? (await runBeforeRunHooks(progress)))
    if ("prompt" in beginning) await runCycles(progress, beginning.prompt)
    else progress.state = { ...progress.state, end: beginning }
  } catch (error) {
    progress.failure = error
    progress.state = { ...progress.state, end: { status: "failed", error: errorData(error) } }
  } finally {
    progress.stopwatch.stop()
  }
  if (progress.state.end?.status === "failed") durable?.planRetry(progress.failure)
  await control.endChildRuns()
  // The run has not ended: no hook and no reader is notified, and what was not saved is dropped.
  if (durable?.isSuspended)
    return { result: createResult(control.id, progress.state, progress.failure), suspended: true }
  const result = await finishRun(progress)
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  return progress.failure === undefined ? { result } : { result, error: progress.failure }
}

/** What the steps of the loop share and change. */
export interface LoopProgress
  extends Pick<RunServices, "outputs" | "policy" | "caller" | "journal" | "stopwatch" | "signal" | "steers"> {
  control: RunControl
  setup: LoopSetup
  state: RunState
  /** The error that ended the run; the state contains only its data. */
  failure: unknown
  /** The declared outputs of a run that has ended. */
  objects: Record<string, unknown> | undefined
  toolFilter: ToolFilter
  hookContext: HookContext
}

// Prepares the run and sets what its child runs inherit.
function startProgress(control: RunControl, setup: LoopSetup): LoopProgress {
  const { config, conversation, durable } = setup
  const { context } = control
  const { approver, approvalTimeoutMs, limits, hooks } = config
  const outputs = setup.outputs && declaredOutputs(setup.outputs, conversation.runtime, control.id)
  if (config.usesCode) control.setRuntime(conversation.runtime)
  control.setRecorder((event) => {
    conversation.record(event)
    outputs?.noteAssignments(event)
  })
  const stopwatch = createStopwatch(limits.timeMs, config.monotonicNow, durable?.resumed?.state.activeMs)
  // Both signals live as long as the run. `AbortSignal.any` would cost time in every cell.
  const controller = new AbortController()
  followSignals(controller, [control.signal, stopwatch.expired])
  const { signal } = controller
  const state = createFirstState(setup)
  const budgets = [{ ...limits, counts: state.calls }]
  const { session } = conversation
  const caller = setHookCaller(context, config.name, { session, metadata: setup.metadata })
  const toolFilter = setToolFilter(context, config.toolPolicy)
  const progress: LoopProgress = {
    control,
    setup,
    state,
    failure: undefined,
    outputs,
    objects: undefined,
    policy: setCallPolicy(context, { approver, approvalTimeoutMs, hooks, budgets }),
    toolFilter,
    journal: ensureJournal(context, setup.prompt.parts),
    stopwatch,
    steers: createSteerBuffer(conversation, control),
    signal,
    hookContext: { ...caller, signal },
    caller,
  }
  control.setBudget({
    reachedLimit: () => limitReachedInCycle(progress),
    pauseWhile: stopwatch.withClockPaused,
    limitsCost: (limits.costUsd ?? conversation.sessionLimits?.costUsd) !== undefined,
  })
  setCellToolContext(context, { context: () => cellToolContext(setup), allows: toolFilter })
  return progress
}

async function runCycles(progress: LoopProgress, prompt: UserMessage): Promise<void> {
  const { control, setup, outputs, stopwatch } = progress
  const { config, conversation, durable } = setup
  const { emit } = control
  if (!durable?.resumed) applyInitialToolState(setup)
  const { system, skills } = durable?.resumed
    ? await resumeRun(setup, emit)
    : await beginRun({ ...setup, prompt }, emit)
  if (outputs && durable?.resumed) await outputs.resume(progress.state.oldOutputs, progress.state.end?.status)
  else if (outputs) progress.state.oldOutputs = await outputs.recordInitialValues()
  const tag = config.fenceTag(conversation.runtime.language)
  const { usesCode, promptLanguage } = config
  const skillSetup = { tag, usesCode, promptLanguage, writable: foldersWritableByTools(config) }
  const runSkills = skills?.createRunSkills(conversation, skillSetup, emit)
  await using tools = config.usesTools ? await openRunTools(progress, runSkills?.access) : undefined
  for (const warning of tools?.warnings ?? []) emit({ type: "warning-raised", ...warning })
  const services = createCycleServices(control, setup, {
    ...progress,
    tools,
    system,
    wasAborted: () => wasAborted(control),
    recordFailure(error) {
      progress.failure = error
    },
  })
  if (runSkills) services.runtime = runSkills.runtime
  if (!durable?.resumed) await saveProgress(progress)
  while (!progress.state.end) {
    if (durable?.shouldYield() && !(await continuesAfterParking(durable, control, stopwatch))) break
    const end = endingBeforeCycle(progress)
    if (end) progress.state = { ...progress.state, end }
    else progress.state = await cycle(progress.state, services, runSkills?.emit ?? emit)
    const { state } = progress
    state.activeMs = stopwatch.activeMs()
    conversation.memory = state.memory
    if (durable?.isSuspended) break
    if (!state.end || state.end.status === "waiting") announceInterruption(durable, emit)
    if (durable || conversation.save) await saveProgress(progress)
  }
}

// Completes the result with usage, hooks, outputs and verdict, emits `run-end` and saves it.
async function finishRun(progress: LoopProgress): Promise<AgentResult> {
  const { control, setup, outputs, policy, hookContext } = progress
  const { conversation, verify } = setup
  progress.state = { ...progress.state, usage: addUsage(progress.state.usage, control.takeSpent()) }
  if (progress.state.end?.status === "aborted") progress.failure = abortError(control.signal)
  conversation.steered.push(...progress.steers.takeAll())
  const result = createResult(control.id, progress.state, progress.failure)
  try {
    await applyAfterRunHooks(result, conversation.messages, policy.hooks, hookContext)
  } catch (error) {
    progress.failure = error
    markResultFailed(result, error)
  }
  if (outputs) {
    result.objects = result.status === "done" ? outputs.objects : await outputs.collectAtEnd(result.status)
    progress.objects = result.objects
  }
  // Runs that `verify` starts are not child runs, so the limits of this run do not apply to them.
  if (verify) await outsideRuns(() => applyVerdict(verify, conversation.runtime, result))
  // Emitted here and not by `startRun`, because it must be recorded before the last save.
  control.emit(runEndEvent(result))
  await saveProgress(progress, true)
  return result
}

async function saveProgress({ setup, state, steers, objects }: LoopProgress, hasEnded = false): Promise<void> {
  const { conversation, durable } = setup
  await durable?.saveAndRequeue({ state, conversation, undeliveredSteers: steers.peekAll(), hasEnded, objects })
  await conversation.save?.(hasEnded, steers.peekAll())
}

// A resumed run continues with its counts and clock. State that runs share comes from the conversation.
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
  forgetWrittenFiles(conversation.state)
  for (const [key, value] of Object.entries(state)) conversation.state.set(key, value)
}

// Runs the `beforeRun` hooks. Returns the prompt to begin with, or how the run ends. A stopped prompt is not stored.
async function runBeforeRunHooks(progress: LoopProgress): Promise<{ prompt: UserMessage } | Ending> {
  const { control, setup, policy, hookContext } = progress
  const { conversation, prompt } = setup
  if (!policy.hooks.some((hook) => hook.beforeRun)) return { prompt }
  const emitEmptyStart = () => emitStartWithoutPrompt(control, setup)
  try {
    const parts = prompt.parts.filter((part) => part.type !== "summary")
    const start = { prompt: parts, messages: conversation.messages.slice() }
    const change = await runBeforeRun(start, policy.hooks, hookContext)
    if (!change) return { prompt }
    if ("prompt" in change) return { prompt: userMessage(change.prompt) }
    emitEmptyStart()
    return endingFromStop(change)
  } catch (error) {
    emitEmptyStart()
    if (!hookContext.signal.aborted) throw error
    return wasAborted(control) ? { status: "aborted" } : { status: "stopped", reason: "time" }
  }
}

// A session whose budget is used up takes no prompt: it is neither stored nor sent.
function endingBeforeRun({ control, setup, state }: LoopProgress): Ending | undefined {
  const end = endingByBudget(setup, state)
  if (end) emitStartWithoutPrompt(control, setup)
  return end
}

function emitStartWithoutPrompt(control: RunControl, { config, metadata }: LoopSetup): void {
  control.emit({ type: "run-start", agent: config.name, model: config.model.id, messages: [], metadata })
}

// Waits for the next job of the run, unless child runs are open: they would continue without an owner. Returns true if
// the run continues in this process.
async function continuesAfterParking(
  durable: DurableRun,
  { context }: RunControl,
  stopwatch: Stopwatch,
): Promise<boolean> {
  return context.children.size === 0 && (await stopwatch.withClockPaused(() => durable.parkUntilNextJob()))
}

function endingBeforeCycle({ control, setup, state }: LoopProgress): RunState["end"] {
  if (wasAborted(control)) return { status: "aborted" }
  const reason = reachedLimit(state, setup.config.limits) ?? control.limitReachedAbove()
  return endingByBudget(setup, state) ?? (reason && { status: "stopped", reason })
}

function endingByBudget({ conversation: { sessionLimits } }: LoopSetup, state: RunState): Ending | undefined {
  const reason = sessionLimits && reachedLimit(state, sessionLimits)
  return reason && { status: "stopped", reason, detail: `The budget of the session is used up: ${reason}.` }
}

// If a run above is out of time, it aborts this one, which is then stopped and not aborted.
function wasAborted(control: RunControl): boolean {
  return control.signal.aborted && control.limitReachedAbove() !== "time"
}

// Child runs call this in the middle of a cycle of this run.
function limitReachedInCycle({ control, setup, state, stopwatch }: LoopProgress): StopReason | undefined {
  if (stopwatch.expired.aborted) return "time"
  const usage = addUsage(state.usage, control.spent())
  const spent = { cycle: 0, usage, activeMs: stopwatch.activeMs() }
  const ofSession = setup.conversation.sessionLimits
  return (
    (ofSession && reachedLimit(spent, { ...ofSession, cycles: 1 })) ??
    reachedLimit(spent, { ...setup.config.limits, cycles: 1 })
  )
}
