import { policyWithin } from "../actions/call-policy.ts"
import { type CallCounts, reachedLimit, type Stopwatch, stopwatch } from "../actions/limits.ts"
import { filterWithin } from "../actions/tool-policy.ts"
import type { Completion, RunResult } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { Emit, EventBody, Metadata, Pending, StopReason } from "../core/event.ts"
import { type Message, type UserMessage, userMessage } from "../core/message.ts"
import { abortError, type RunControl, type RunOutcome, runEnd } from "../core/run.ts"
import { outsideRuns } from "../core/run-context.ts"
import { trajectory } from "../core/trajectory.ts"
import { addUsage, estimateTokens } from "../core/usage.ts"
import { keptName } from "../memory/keep.ts"
import type { Name, Runtime } from "../runtime/runtime.ts"
import type { Tool } from "../tools/tool.ts"
import type { AgentConfig } from "./config.ts"
import type { Conversation } from "./conversation.ts"
import { type CycleServices, cycle } from "./cycle.ts"
import { type DeclaredOutputs, declaredOutputs, type Outputs, outputsAsked } from "./outputs.ts"
import { announcement, clockText, systemPrompt } from "./prompt.ts"
import type { AgentSkills } from "./skills.ts"
import { initialState, type State } from "./state.ts"
import { openGround, openToolbox, type Toolbox, type ToolGround } from "./toolbox.ts"
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
}

/** Runs cycles until the agent answers, waits, reaches a limit, fails or is aborted. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunOutcome> {
  const { config, conversation } = setup
  const firstEvent = conversation.events.length
  const { emit } = control
  const outputs = setup.outputs && declaredOutputs(setup.outputs, conversation.runtime)
  if (config.usesCode) control.useRuntime(conversation.runtime)
  control.useRecord(conversation.record)
  const watch = stopwatch(config.limits.timeMs, config.now)
  let failure: unknown
  let state: State = initialState(conversation.approved, conversation.memory, conversation.tools)
  control.useBudget({
    reached: () => reachedNow(state, control, watch, config),
    paused: watch.paused,
    limitsCost: config.limits.costUsd !== undefined,
  })
  try {
    const { system, skills } = await open(setup, emit)
    const work = skills?.forRun(conversation, config.tag(conversation.runtime.language), emit)
    const tools = config.usesTools ? await toolsFor(control, setup) : undefined
    const services = cycleServices(control, setup, { outputs, tools, system }, watch, state.calls, (error) => {
      failure = error
    })
    if (work) services.runtime = work.runtime
    while (!state.end) {
      const ending = beforeCycle(state, control, config)
      if (ending) state = { ...state, end: ending }
      else state = await cycle(state, services, work?.emit ?? emit)
      state.activeMs = watch.activeMs()
      conversation.memory = state.memory
    }
  } catch (error) {
    failure = error
    state = { ...state, end: { status: "failed", error: errorData(error) } }
  } finally {
    watch.stop()
  }
  await control.endChildren()
  state = { ...state, usage: addUsage(state.usage, control.takeSpent()) }
  if (state.end?.status === "aborted") failure = abortError(control.signal)
  conversation.steered.push(...control.steered())
  const result = resultOf(control.id, state, failure)
  if (outputs) result.objects = state.end?.status === "done" ? outputs.objects : await outputs.lastly(result.status)
  const { verify } = setup
  // Its work is not this run's: what it starts is not stopped by this run's limits.
  if (verify) await outsideRuns(() => judge(verify, conversation.runtime, result))
  // The last event belongs to the record too, so it is emitted here and not left to the run.
  emit(runEnd(result))
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  return failure === undefined ? { result } : { result, error: failure }
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
  return reachedLimit({ cycle: 0, usage: addUsage(usage, spent), activeMs: watch.activeMs() }, { ...limits, cycles: 1 })
}

// Tells how the run begins, and gives the system prompt and the skills it works with.
async function open(setup: LoopSetup, emit: Emit): Promise<{ system: string; skills: AgentSkills | undefined }> {
  const { config, conversation, prompt, metadata, outputs, values } = setup
  const { runtime } = conversation
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const start = (system?: string): EventBody => {
    messages.push(prompt)
    return { type: "run-start", agent: config.name, messages, metadata, ...(system !== undefined && { system }) }
  }
  try {
    if (values) await runtime.update(values)
    const skills = await skillsFor(config, runtime)
    const there = config.usesCode ? await runtime.names() : []
    const names = there.filter((name) => name.injected).map(({ name }) => name)
    const frozen = config.freshPrompt ? undefined : conversation.system
    const fresh = [
      ...(frozen === undefined ? [] : names.filter((name) => !conversation.told.has(name))),
      ...madeByOthers(there, conversation.told),
    ]
    const system = frozen ?? (await promptFor(config, runtime))
    if (fresh.length > 0) {
      const text = announcement(await runtime.describe(fresh), config.tag(runtime.language))
      messages.push({ ...userMessage(text, "host"), pinned: true })
    }
    if (outputs) {
      messages.push(userMessage(await outputsAsked(outputs, runtime, config.tag(runtime.language)), "host"))
    }
    for (const name of fresh) conversation.told.add(name)
    // What one run alone says differently is not for those after it.
    if (!config.freshPrompt) {
      conversation.system = system
      for (const name of names) conversation.told.add(name)
    }
    emit(start(frozen === undefined ? system : undefined))
    if (frozen === undefined) {
      for (const message of runtime.warnings ?? []) emit({ type: "warning-raised", code: "runtime", message })
      for (const message of skills?.warnings ?? []) emit({ type: "warning-raised", code: "skill", message })
    }
    return { system, skills }
  } catch (error) {
    emit(start())
    throw error
  }
}

// What cells of other conversations left in a runtime that is shared; of much, the newest.
function madeByOthers(there: readonly Name[], told: ReadonlySet<string>): string[] {
  const made = there.filter(({ name, injected }) => !injected && !name.startsWith("_") && !told.has(name))
  return made.map(({ name }) => name).slice(-mostAnnounced)
}

const mostAnnounced = 30

/** The system prompt of an agent over a runtime: exactly what the model sees. */
export async function promptFor(config: AgentConfig, runtime: Runtime): Promise<string> {
  const { language } = runtime
  const skills = (await skillsFor(config, runtime))?.offered
  const declarations = config.usesCode ? await runtime.describe() : ""
  const context = { ...config, skills, language, tag: config.tag(language), declarations }
  return systemPrompt(context, config.prompt)
}

async function skillsFor({ skills }: AgentConfig, runtime: Runtime): Promise<AgentSkills | undefined> {
  if (!skills) return undefined
  const { openSkills } = await import("./skills.ts")
  return openSkills(skills, runtime)
}

// What a run works with beside its runtime.
interface Prepared {
  outputs: DeclaredOutputs | undefined
  tools: RunTools | undefined
  system: string
}

interface RunTools extends Toolbox {
  ground: ToolGround
}

async function toolsFor(control: RunControl, { config, conversation }: LoopSetup): Promise<RunTools> {
  conversation.ground ??= openGround(config.workspace, conversation.tools)
  const ground = await conversation.ground
  return { ground, ...(await openToolbox(config, ground, filterWithin(control.context, config.toolPolicy))) }
}

function cycleServices(
  control: RunControl,
  { config, conversation }: LoopSetup,
  { outputs, tools, system }: Prepared,
  watch: Stopwatch,
  counts: CallCounts,
  failed: (error: unknown) => void,
): CycleServices {
  const { runtime } = conversation
  const { approve, hooks, limits } = config
  const kept = config.usesCode || !tools ? runtime : tools.ground.artifacts
  const heard: string[] = []
  const hear = () => heard.push(...conversation.steered.splice(0), ...control.steered())
  const policy = policyWithin(control.context, { approve, hooks, budgets: [{ ...limits, counts }] })
  return {
    model: config.model,
    request: { ...config.request, system, ...(tools && { tools: tools.specs }) },
    systemTokens: estimateTokens(system),
    memory: config.memory,
    messages: conversation.messages,
    signal: eitherSignal(control.signal, watch.expired),
    tags: config.tags(runtime.language),
    language: runtime.language,
    clock: clockText(new Date(config.now())),
    contextWindow: config.contextWindow,
    runtime,
    maxOutputChars: config.maxOutputChars,
    cellTimeoutMs: config.cellTimeoutMs,
    transaction: config.transaction,
    typeGate: config.typeGate,
    now: config.now,
    ...policy,
    caller: { run: control.id, parent: control.context.parent?.id, agent: config.name },
    approved: conversation.approved,
    watcher: (id) => (control.watched ? control.decision(id) : undefined),
    paused: control.paused,
    pauses: watch.pauses,
    leftMs: watch.leftMs,
    usesCode: config.usesCode,
    tools: tools?.tools ?? noTools,
    toolContext: tools?.context,
    maxParallelTools: config.maxParallelTools,
    noTool: config.noTool,
    stopOn: config.stopOn,
    callIds: callIdsOf(conversation.messages),
    kept,
    keptIn: kept === runtime ? "variable" : "artifact",
    keepResult: (text) => kept.keep("_output", text),
    interrupted: () => hear() > 0,
    steered() {
      hear()
      return heard.splice(0)
    },
    taken: keptNames(config.messages),
    unfilled: outputs?.unfilled,
    spend: control.spend,
    takeSpent: control.takeSpent,
    aborted: () => wasAborted(control),
    failed,
  }
}

const noTools: ReadonlyMap<string, Tool> = new Map()

function callIdsOf(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>()
  for (const { parts } of messages) for (const part of parts) if (part.type === "tool-call") ids.add(part.id)
  return ids
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

// Names that a conversation from elsewhere speaks of: giving one to something else would mislead the model.
function keptNames(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.length === 0 ? [] : JSON.stringify(messages).match(keptName))
}

function completionOf(end: State["end"]): Completion {
  switch (end?.status) {
    case "done":
      return end.tool === undefined ? { by: "answer" } : { by: "tool", tool: end.tool }
    case "waiting":
      return end.tool === undefined ? { by: "question" } : { by: "question", tool: end.tool }
    case "stopped":
      return { by: "limit" }
    case "aborted":
      return { by: "abort" }
    default:
      return { by: "failure" }
  }
}

function resultOf(id: string, state: State, failure: unknown): RunResult {
  const { end, output, cycle: cycles, usage } = state
  const status = end?.status ?? "failed"
  const reason: StopReason | undefined = end?.status === "stopped" ? end.reason : undefined
  const pending: Pending | undefined = end?.status === "waiting" ? end.pending : undefined
  const error = end?.status === "failed" ? { ...end.error, cause: failure } : undefined
  return {
    id,
    status,
    output,
    cycles,
    usage,
    messages: [],
    trajectory: trajectory([]),
    completion: completionOf(end),
    ...(end?.status === "done" && end.files && { files: end.files }),
    ...(reason && { reason }),
    ...(pending && { pending }),
    ...(error && { error }),
  }
}
