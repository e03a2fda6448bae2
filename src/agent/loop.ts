import { reachedLimit, stopwatch } from "../actions/limits.ts"
import type { RunResult } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { EventBody, Metadata, Pending, StopReason } from "../core/event.ts"
import { type Message, type Prompt, userMessage } from "../core/message.ts"
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
  prompt: Prompt
  metadata: Metadata
}

/** Runs cycles until the agent answers, waits, reaches a limit, fails or is aborted. */
export async function runLoop(control: RunControl, setup: LoopSetup): Promise<RunOutcome> {
  const { config, conversation } = setup
  const firstEvent = conversation.events.length
  const emit = (body: EventBody) => conversation.record(control.emit(body))
  control.useRuntime(conversation.runtime)
  const watch = stopwatch(config.limits.timeMs, config.now)
  let failure: unknown
  let state: State = initialState(conversation.approved)
  try {
    emit(await opening(setup))
    const services = cycleServices(control, setup, watch, (error) => {
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

async function opening({ config, conversation, prompt, metadata }: LoopSetup): Promise<EventBody> {
  const { runtime } = conversation
  const messages: Message[] = conversation.messages.length === 0 ? [...config.messages] : []
  const names = (await runtime.names()).filter((name) => name.injected).map(({ name }) => name)
  let system: string | undefined
  if (conversation.system === undefined || config.freshPrompt) {
    system = await promptFor(config, runtime)
    conversation.system = system
  } else {
    const fresh = names.filter((name) => !conversation.told.has(name))
    if (fresh.length > 0) {
      messages.push(userMessage(announcement(await runtime.describe(fresh), config.tag(runtime.language)), "host"))
    }
  }
  for (const name of names) conversation.told.add(name)
  messages.push(userMessage(prompt))
  return { type: "run-start", agent: config.name, messages, metadata, ...(system !== undefined && { system }) }
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
  watch: ReturnType<typeof stopwatch>,
  failed: (error: unknown) => void,
): CycleServices {
  const { runtime } = conversation
  return {
    model: config.model,
    request: { ...config.request, system: conversation.system ?? "" },
    messages: conversation.messages,
    signal: AbortSignal.any([control.signal, watch.expired]),
    tags: config.tags(runtime.language),
    language: runtime.language,
    clock: clockText(new Date(config.now())),
    contextWindow: config.contextWindow,
    runtime,
    maxOutputChars: config.maxOutputChars,
    cellTimeoutMs: config.cellTimeoutMs,
    now: config.now,
    approve: config.approve,
    approved: conversation.approved,
    watcher: (id) => (control.watched ? control.decision(id) : undefined),
    paused: watch.paused,
    leftMs: watch.leftMs,
    steered: control.steered,
    aborted: () => control.signal.aborted,
    failed,
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
    ...(reason && { reason }),
    ...(pending && { pending }),
    ...(error && { error }),
  }
}
