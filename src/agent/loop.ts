import { policyWithin } from "../actions/call-policy.ts"
import type { HookContext, Hooks } from "../actions/hooks.ts"
import { journalOf } from "../actions/journal.ts"
import { noCalls, reachedLimit, type Stopwatch, stopwatch } from "../actions/limits.ts"
import { runBeforeRun } from "../actions/run-hooks.ts"
import { filterWithin } from "../actions/tool-policy.ts"
import { errorData } from "../core/errors.ts"
import type { Metadata, StopReason } from "../core/event.ts"
import { type UserMessage, userMessage } from "../core/message.ts"
import { abortError, type RunControl, type RunOutcome, runEnd } from "../core/run.ts"
import { outsideRuns } from "../core/run-context.ts"
import { trajectory } from "../core/trajectory.ts"
import { addUsage } from "../core/usage.ts"
import { groundCells } from "../tools/cell-tool.ts"
import type { StateValues } from "../tools/tool-state.ts"
import { foldersToolsWrite } from "./children.ts"
import type { AgentConfig } from "./config.ts"
import type { Conversation } from "./conversation.ts"
import { cycle } from "./cycle.ts"
import { stoppedBy } from "./decide.ts"
import type { Durable } from "./durable.ts"
import { open, reopen, tellInterruption } from "./open.ts"
import { declaredOutputs, type Outputs } from "./outputs.ts"
import { failResult, hookedResult, resultOf } from "./result.ts"
import { cellContext, cycleServices, saidTo, toolsFor } from "./services.ts"
import { type Ending, initialState, type State } from "./state.ts"
import { judge, type Verify } from "./verify.ts"

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
  durable?: Durable | undefined
}

/** Runs cycles until the agent answers, waits, reaches a limit, fails or is aborted. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunOutcome> {
  const { config, conversation, durable } = setup
  const firstEvent = conversation.events.length
  const { emit, context } = control
  const outputs = setup.outputs && declaredOutputs(setup.outputs, conversation.runtime, control.id)
  if (config.usesCode) control.useRuntime(conversation.runtime)
  control.useRecord((event) => {
    conversation.record(event)
    outputs?.observe(event)
  })
  const { approve, approvalTimeoutMs, limits } = config
  const watch = stopwatch(limits.timeMs, config.ticks, durable?.resumed?.state.activeMs)
  const said = saidTo(conversation, control)
  let failure: unknown
  let objects: Record<string, unknown> | undefined
  let state = firstState(setup)
  control.useBudget({
    reached: () => reachedNow(state, control, watch, config),
    paused: watch.paused,
    limitsCost: limits.costUsd !== undefined,
  })
  const budgets = [{ ...limits, counts: state.calls }]
  const policy = policyWithin(context, { approve, approvalTimeoutMs, hooks: config.hooks, budgets })
  const allowed = filterWithin(context, config.toolPolicy)
  groundCells(context, { context: () => cellContext(setup), allows: allowed })
  const journal = journalOf(context, setup.prompt.parts)
  const save = async (ended = false) => {
    await durable?.save({ state, conversation, unheard: said.all(), ended, objects })
    await conversation.saved?.(ended, said.all())
  }
  const signal = eitherSignal(control.signal, watch.expired)
  const place: HookContext = { run: control.id, parent: context.parent?.id, agent: config.name, signal }
  try {
    const begun = durable?.resumed ? setup : await begin(setup, policy.hooks, place, control)
    if ("prompt" in begun) {
      if (!durable?.resumed) setState(setup)
      const { system, skills } = durable?.resumed
        ? await reopen(setup, emit)
        : await open({ ...setup, prompt: begun.prompt }, emit)
      if (outputs && durable?.resumed) await outputs.resume(state.oldOutputs, state.end?.status)
      else if (outputs) state.oldOutputs = await outputs.begin()
      const tag = config.tag(conversation.runtime.language)
      const skillPlace = { tag, usesCode: config.usesCode, writable: foldersToolsWrite(config) }
      const work = skills?.forRun(conversation, skillPlace, emit)
      await using tools = config.usesTools ? await toolsFor(setup, allowed, work?.access) : undefined
      for (const message of tools?.warnings ?? []) emit({ type: "warning-raised", code: "shell", message })
      const services = cycleServices(control, setup, {
        outputs,
        tools,
        system,
        policy,
        journal,
        watch,
        signal,
        said,
        aborted: () => wasAborted(control),
        failed(error) {
          failure = error
        },
      })
      if (work) services.runtime = work.runtime
      if (!durable?.resumed) await save()
      while (!state.end && !(durable?.leaves() && (await leavesOff(durable, control, watch)))) {
        const ending = beforeCycle(state, control, config)
        if (ending) state = { ...state, end: ending }
        else state = await cycle(state, services, work?.emit ?? emit)
        state.activeMs = watch.activeMs()
        conversation.memory = state.memory
        if (durable?.suspended) break
        if (!state.end || state.end.status === "waiting") tellInterruption(durable, emit)
        if (durable || conversation.saved) await save()
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
  if (state.end?.status === "failed") durable?.failed(failure)
  await control.endChildren()
  // Nothing has ended: neither hooks nor readers are told, and what was not saved never was.
  if (durable?.suspended) return { result: resultOf(control.id, state, failure), suspended: true }
  state = { ...state, usage: addUsage(state.usage, control.takeSpent()) }
  if (state.end?.status === "aborted") failure = abortError(control.signal)
  conversation.steered.push(...said.take())
  const result = resultOf(control.id, state, failure)
  try {
    await hookedResult(result, conversation.messages, policy.hooks, place)
  } catch (error) {
    failure = error
    failResult(result, error)
  }
  if (outputs)
    objects = result.objects = result.status === "done" ? outputs.objects : await outputs.lastly(result.status)
  const { verify } = setup
  // Its work is not this run's: what it starts is not stopped by this run's limits.
  if (verify) await outsideRuns(() => judge(verify, conversation.runtime, result))
  // The last event belongs to the record too, so it is emitted here and not left to the run.
  emit(runEnd(result))
  await save(true)
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  return failure === undefined ? { result } : { result, error: failure }
}

// A run that goes on has its counts and clock from before; what conversations share is the conversation's.
function firstState({ conversation, durable }: LoopSetup): State {
  const { approved, memory, state: shared } = conversation
  const tools = shared.values
  const fresh = initialState(approved, memory, tools)
  if (!durable?.resumed) return fresh
  const { state } = durable.resumed
  const calls = { total: state.calls.total, of: Object.assign(noCalls().of, state.calls.of) }
  return { ...state, calls, approved, memory, tools }
}

function setState({ conversation, state = {} }: LoopSetup): void {
  for (const [key, value] of Object.entries(state)) conversation.state.set(key, value)
}

// What the run begins with, or how it ends before that. What hooks do not let in is not remembered.
async function begin(
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
    return stoppedBy(given)
  } catch (error) {
    refused()
    if (!context.signal.aborted) throw error
    return wasAborted(control) ? { status: "aborted" } : { status: "stopped", reason: "time" }
  }
}

// What it has started and left behind would go on while nobody holds the run.
async function leavesOff(durable: Durable, { context }: RunControl, watch: Stopwatch): Promise<boolean> {
  return context.children.size > 0 || !(await watch.paused(() => durable.stays()))
}

function beforeCycle(state: State, control: RunControl, config: AgentConfig): State["end"] {
  if (wasAborted(control)) return { status: "aborted" }
  const reason = reachedLimit(state, config.limits) ?? control.exhausted()
  return reason && { status: "stopped", reason }
}

// A run above that is out of time aborts those below, which are then stopped and not aborted.
function wasAborted(control: RunControl): boolean {
  return control.signal.aborted && control.exhausted() !== "time"
}

// What a run below asks while this one is in the middle of a cycle.
function reachedNow(
  { usage }: State,
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
function eitherSignal(...signals: AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason)
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true })
  }
  return controller.signal
}
