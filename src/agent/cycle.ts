import { notRun, type PerformServices, performCode } from "../actions/perform.ts"
import { performTools, skipTools, type ToolServices, type ToolsOutcome } from "../actions/perform-tools.ts"
import { errorData, isAbort, ModelError } from "../core/errors.ts"
import type { ActionError, Emit } from "../core/event.ts"
import { type AssistantMessage, type CodePart, userMessage } from "../core/message.ts"
import { addUsage, type Usage } from "../core/usage.ts"
import { compact, estimateRequest, isFull, type MemoryServices, type MemoryState, measured } from "../memory.ts"
import { maxReturns, outputsMissing } from "./outputs.ts"
import { goOnReminder, withClock } from "./prompt.ts"
import type { Ending, State } from "./state.ts"
import { type ThinkServices, type Thought, think } from "./think.ts"

/** What a cycle needs from its host. The in-process loop gives it now; an engine or a worker gives the same. */
export interface CycleServices
  extends ThinkServices,
    PerformServices,
    MemoryServices,
    Omit<ToolServices, "toolContext"> {
  // Several parts give these; this is what a cycle has.
  keptIn: MemoryServices["keptIn"]
  request: ThinkServices["request"]
  runtime: PerformServices["runtime"]
  hooks: PerformServices["hooks"]
  usesCode: boolean
  /** Absent where there are no tools. */
  toolContext: ToolServices["toolContext"] | undefined
  noTool: "continue" | "answer" | "wait"
  stopOn: "first-tool" | readonly string[] | undefined
  /** The time, as the model is told it; the same for a whole run. */
  clock: string
  contextWindow: number
  /** Takes what the user said since the last cycle. */
  steered(): string[]
  /** Counts what a model call has used. */
  spend(usage: Usage): void
  /** What was used since the last call, by this run and those it started. */
  takeSpent(): Usage
  /** What the declared outputs lack, one line each; absent when none are declared. */
  unfilled?: (() => Promise<string[]>) | undefined
  /** Whether the run was aborted, as opposed to out of time. */
  aborted(): boolean
  /** Remembers the error itself; the state holds only its data. */
  failed(error: unknown): void
}

/** One model call and the action it asked for: tells its events and gives the next state. What it tells must be folded
 *  into `services.messages` at once. The in-process loop, an engine and a worker elsewhere all call this. */
export async function cycle(state: State, services: CycleServices, emit: Emit): Promise<State> {
  const number = state.cycle + 1
  emit({ type: "cycle-start", cycle: number })
  hearUser(services, emit)
  const { thought, memory } = await ask(state.memory, services, emit)
  const { message, usage, error } = thought
  warnWhenFull(usage.input, services, emit)
  const code = message?.parts.find((part) => part.type === "code")
  let failure = error
  if (code && error === undefined) failure = await perform(code, services, emit)
  else if (code) emit(notRun(code.id, brokenOff(error)))
  const used = message && (await useTools(message, failure, services, emit))
  let end = decide(message, code, used, failure, services, emit)
  let { returns } = state
  if (end?.status === "done" && services.unfilled && (await sendBack(services.unfilled, emit))) {
    end = returns++ < maxReturns ? undefined : { status: "stopped", reason: "outputs" }
  }
  const spent = services.takeSpent()
  emit({ type: "cycle-end", cycle: number, usage: spent })
  const output = (used && outputOf(used, end)) || (message && proseOf(message)) || state.output
  const next: State = { ...state, cycle: number, usage: addUsage(state.usage, spent), output, returns, memory }
  return end ? { ...next, end } : next
}

// Sends the conversation, made shorter where it is too long for the model.
async function ask(
  before: MemoryState,
  services: CycleServices,
  emit: Emit,
): Promise<{ thought: Thought; memory: MemoryState }> {
  let memory = before
  if (isFull(memory, services)) memory = (await compact(memory, services, emit, "limit")).state
  let estimate = estimateRequest(services)
  let thought = await think(services, withClock(services.messages, services.clock), emit)
  if (isOverflow(thought)) {
    const { state, changed } = await compact(memory, services, emit, "overflow")
    memory = state
    estimate = estimateRequest(services)
    if (changed) thought = await think(services, withClock(services.messages, services.clock), emit)
  }
  services.spend(thought.usage)
  return { thought, memory: measured(memory, thought.counted, estimate) }
}

function isOverflow({ message, error }: Thought): boolean {
  return !message && error instanceof ModelError && error.code === "context-overflow"
}

// The error is what only the host can mend: the runtime is gone.
async function perform(code: CodePart, services: CycleServices, emit: Emit): Promise<unknown> {
  try {
    await performCode(code, services, emit)
    return undefined
  } catch (error) {
    return error
  }
}

// What became of the tool calls of an answer; undefined when there are none.
async function useTools(
  message: AssistantMessage,
  failure: unknown,
  services: CycleServices,
  emit: Emit,
): Promise<ToolsOutcome | undefined> {
  const calls = message.parts.filter((part) => part.type === "tool-call")
  if (calls.length === 0) return undefined
  const { toolContext } = services
  if (failure === undefined && toolContext) return await performTools(calls, { ...services, toolContext }, emit)
  skipTools(calls, isAbort(failure) ? "aborted" : "incomplete", emit)
  return { done: [] }
}

function outputOf({ directed, done }: ToolsOutcome, end: Ending | undefined): string | undefined {
  if (directed?.directive.kind === "finish") return directed.directive.message
  if (end?.status !== "done" || end.tool === undefined) return undefined
  return done.find(({ tool }) => tool === end.tool)?.text
}

function decide(
  message: AssistantMessage | undefined,
  code: CodePart | undefined,
  used: ToolsOutcome | undefined,
  failure: unknown,
  services: CycleServices,
  emit: Emit,
): Ending | undefined {
  if (services.signal.aborted) {
    if (!services.aborted()) return { status: "stopped", reason: "time" }
    emit({ type: "prompt-steered", message: userMessage("(The run was interrupted here.)", "host") })
    return { status: "aborted" }
  }
  if (failure !== undefined) {
    services.failed(failure)
    return { status: "failed", error: errorData(failure) }
  }
  if (used?.directed) return directedEnd(used.directed, emit)
  const stop = used?.done.find(({ tool }) => services.stopOn === "first-tool" || services.stopOn?.includes(tool))
  if (stop) return { status: "done", tool: stop.tool }
  if (code || used) return undefined
  // Somebody spoke while the model was answering: that comes first.
  if (hearUser(services, emit)) return undefined
  if (message) return withoutAction(message, services, emit)
  emit({ type: "prompt-steered", message: userMessage("(Your last answer was empty. Go on with the task.)", "host") })
  return undefined
}

function directedEnd({ tool, call, directive }: NonNullable<ToolsOutcome["directed"]>, emit: Emit): Ending | undefined {
  if (directive.kind === "finish") {
    return { status: "done", tool, ...(directive.files && { files: directive.files }) }
  }
  if (directive.kind === "continue") return undefined
  const { kind, ...question } = directive
  emit({ type: "question-asked", id: call, ...question })
  return { status: "waiting", tool, pending: { kind: "question", id: call, ...question } }
}

// An agent that writes code has answered; one that only calls tools ends by one of them, unless it is told otherwise.
function withoutAction(message: AssistantMessage, services: CycleServices, emit: Emit): Ending | undefined {
  if (services.usesCode || services.noTool === "answer") return { status: "done" }
  if (services.noTool === "continue") {
    emit({ type: "prompt-steered", message: userMessage(goOnReminder, "host") })
    return undefined
  }
  const question = proseOf(message)
  emit({ type: "question-asked", id: message.id, question })
  return { status: "waiting", pending: { kind: "question", id: message.id, question } }
}

// An answer without the declared outputs is no answer yet.
async function sendBack(unfilled: () => Promise<string[]>, emit: Emit): Promise<boolean> {
  const problems = await unfilled()
  if (problems.length === 0) return false
  emit({ type: "prompt-steered", message: userMessage(outputsMissing(problems), "host") })
  return true
}

function hearUser(services: CycleServices, emit: Emit): boolean {
  const said = services.steered()
  for (const text of said) emit({ type: "prompt-steered", message: userMessage(text, "steer") })
  return said.length > 0
}

// A block without a result would leave a history that no provider accepts.
function brokenOff(error: unknown): ActionError {
  if (isAbort(error)) return { kind: "aborted", message: "The run was interrupted before this code was run." }
  return { kind: "incomplete", message: "The answer broke off, so this code was not run." }
}

function proseOf(message: AssistantMessage): string {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("")
    .trim()
}

function warnWhenFull(input: number | undefined, { contextWindow }: CycleServices, emit: Emit): void {
  if (input === undefined || input < contextWindow * 0.9) return
  const percent = Math.round((input / contextWindow) * 100)
  const message = `The conversation fills ${percent} % of the model's window of ${contextWindow.toLocaleString("en")} tokens.`
  emit({ type: "warning-raised", code: "context-nearly-full", message })
}
