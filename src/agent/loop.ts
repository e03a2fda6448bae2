import { reachedLimit, stopwatch } from "../actions/limits.ts"
import type { RunResult } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { Emit, EventBody, Metadata, Pending, StopReason } from "../core/event.ts"
import { type Message, type UserMessage, userMessage } from "../core/message.ts"
import { abortError, type RunControl, type RunOutcome, runEnd } from "../core/run.ts"
import { trajectory } from "../core/trajectory.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { AgentConfig } from "./config.ts"
import type { Conversation } from "./conversation.ts"
import { type CycleServices, cycle } from "./cycle.ts"
import { announcement, clockText, systemPrompt } from "./prompt.ts"
import { initialState, type State } from "./state.ts"

export interface LoopSetup {
  config: AgentConfig
  conversation: Conversation
  prompt: UserMessage
  metadata: Metadata
}

/** Runs cycles until the agent answers, waits, reaches a limit, fails or is aborted. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunOutcome> {
  const { config, conversation } = setup
  const firstEvent = conversation.events.length
  const { emit } = control
  control.useRuntime(conversation.runtime)
  control.useRecord(conversation.record)
  const watch = stopwatch(config.limits.timeMs, config.now)
  let failure: unknown
  let state: State = initialState(conversation.approved)
  try {
    const system = await open(setup, emit)
    const services = cycleServices(control, setup, system, watch, (error) => {
      failure = error
    })
    while (!state.end) {
      const ending = beforeCycle(state, control, config)
      if (ending) state = { ...state, end: ending }
      else state = await cycle(state, services, emit)
      state.activeMs = watch.activeMs()
    }
  } catch (error) {
    failure = error
    state = { ...state, end: { status: "failed", error: errorData(error) } }
  } finally {
    watch.stop()
  }
  if (state.end?.status === "aborted") failure = abortError(control.signal)
  conversation.steered.push(...control.steered())
  const result = resultOf(control.id, state, failure)
  // The last event belongs to the record too, so it is emitted here and not left to the run.
  emit(runEnd(result))
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  return failure === undefined ? { result } : { result, error: failure }
}

function beforeCycle(state: State, control: RunControl, config: AgentConfig): State["end"] {
  if (control.signal.aborted) return { status: "aborted" }
  const reason = reachedLimit(state, config.limits)
  return reason && { status: "stopped", reason }
}

// Tells how the run begins, and gives the system prompt it works with.
async function open({ config, conversation, prompt, metadata }: LoopSetup, emit: Emit): Promise<string> {
  const { runtime } = conversation
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const start = (system?: string): EventBody => {
    messages.push(prompt)
    return { type: "run-start", agent: config.name, messages, metadata, ...(system !== undefined && { system }) }
  }
  try {
    const names = (await runtime.names()).filter((name) => name.injected).map(({ name }) => name)
    const fresh = names.filter((name) => !conversation.told.has(name))
    const frozen = config.freshPrompt ? undefined : conversation.system
    const system = frozen ?? (await promptFor(config, runtime))
    if (frozen !== undefined && fresh.length > 0) {
      messages.push(userMessage(announcement(await runtime.describe(fresh), config.tag(runtime.language)), "host"))
    }
    // What one run alone says differently is not for those after it.
    if (!config.freshPrompt) {
      conversation.system = system
      for (const name of names) conversation.told.add(name)
    }
    emit(start(frozen === undefined ? system : undefined))
    if (frozen === undefined) {
      for (const message of runtime.warnings ?? []) emit({ type: "warning-raised", code: "runtime", message })
    }
    return system
  } catch (error) {
    emit(start())
    throw error
  }
}

/** The system prompt of an agent over a runtime: exactly what the model sees. */
export async function promptFor(config: AgentConfig, runtime: Runtime): Promise<string> {
  const { language } = runtime
  const context = { ...config, language, tag: config.tag(language), declarations: await runtime.describe() }
  return systemPrompt(context, config.prompt)
}

function cycleServices(
  control: RunControl,
  { config, conversation }: LoopSetup,
  system: string,
  watch: ReturnType<typeof stopwatch>,
  failed: (error: unknown) => void,
): CycleServices {
  const { runtime } = conversation
  return {
    model: config.model,
    request: { ...config.request, system },
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
    approve: config.approve,
    approved: conversation.approved,
    watcher: (id) => (control.watched ? control.decision(id) : undefined),
    paused: watch.paused,
    leftMs: watch.leftMs,
    steered: () => [...conversation.steered.splice(0), ...control.steered()],
    taken: keptNames(config.messages),
    aborted: () => control.signal.aborted,
    failed,
  }
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
  return new Set(messages.length === 0 ? [] : JSON.stringify(messages).match(/\b_output_\d+/g))
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
    ...(reason && { reason }),
    ...(pending && { pending }),
    ...(error && { error }),
  }
}
