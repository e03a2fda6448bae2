import { notRun, type PerformServices, performCode } from "../actions/perform.ts"
import {
  performTools,
  skipTools,
  type ToolServices,
  type ToolsAtHand,
  type ToolsOutcome,
} from "../actions/perform-tools.ts"
import type { SkipReason } from "../actions/tool-result.ts"
import { isAbort } from "../core/errors.ts"
import type { ActionError, Emit } from "../core/event.ts"
import { type CodePart, userMessage } from "../core/message.ts"
import { addUsage, type Usage } from "../core/usage.ts"
import type { MemoryServices } from "../memory.ts"
import { type Answer, ask } from "./ask.ts"
import { type Acted, afterCycle, decide, hearUser, proseOf } from "./decide.ts"
import { maxReturns, outputsMissing } from "./outputs.ts"
import type { Ending, State } from "./state.ts"
import type { ThinkServices } from "./think.ts"

/** What a cycle needs from its host. The in-process loop gives it now; an engine or a worker gives the same. */
export interface CycleServices extends ThinkServices, PerformServices, MemoryServices, ToolServices {
  // Several parts give these; this is what a cycle has.
  keptIn: MemoryServices["keptIn"]
  request: ThinkServices["request"]
  systemTokens: ThinkServices["systemTokens"]
  runtime: PerformServices["runtime"]
  hooks: PerformServices["hooks"]
  usesCode: boolean
  tools: ToolsAtHand["tools"]
  /** Absent where there are no tools. */
  toolContext: ToolsAtHand["context"] | undefined
  noTool: "continue" | "answer" | "wait"
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
  const { answer, memory } = await ask(state, services, emit)
  warnWhenFull(answer.usage.input, services, emit)
  const acted = await act(answer, services, emit)
  let end = decide(acted, services, emit)
  let { returns } = state
  if (end?.status === "done" && services.unfilled && (await sendBack(services.unfilled, emit))) {
    end = returns++ < maxReturns ? undefined : { status: "stopped", reason: "outputs" }
  }
  const spent = services.takeSpent()
  const usage = addUsage(state.usage, spent)
  const output = outputOf(acted, end) ?? state.output
  if (services.hooks.length > 0) end = await afterCycle(end, { number, output, usage }, services, emit)
  emit({ type: "cycle-end", cycle: number, usage: spent })
  const next: State = { ...state, cycle: number, usage, output, returns, memory }
  return end ? { ...next, end } : next
}

// Does what the answer asks for: a cell first, then calls. What it asks for and is not done has a result that says why.
async function act(answer: Answer, services: CycleServices, emit: Emit): Promise<Acted> {
  const { message, error, stop } = answer
  const code = message?.parts.find((part) => part.type === "code")
  let failure = error
  if (code && error === undefined && !stop) failure = await perform(code, services, emit)
  else if (code) emit(notRun(code.id, whyNotRun(answer)))
  const calls = message?.parts.some((part) => part.type === "tool-call")
  const used = calls ? await useTools(answer, code, failure, services, emit) : undefined
  return { message, code, failure, stop, used }
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

// What becomes of the tool calls of an answer.
async function useTools(
  { message, stop, tools }: Answer,
  code: CodePart | undefined,
  failure: unknown,
  services: CycleServices,
  emit: Emit,
): Promise<ToolsOutcome> {
  const calls = message?.parts.filter((part) => part.type === "tool-call") ?? []
  const { toolContext } = services
  let reason: SkipReason | undefined
  if (stop) reason = "stopped"
  else if (failure !== undefined || !toolContext) reason = isAbort(failure) ? "aborted" : "incomplete"
  // The user may have spoken while the cell was running.
  else if (code && services.interrupted()) reason = "steering"
  else return await performTools(calls, { tools: tools ?? services.tools, context: toolContext }, services, emit)
  skipTools(calls, reason, emit)
  return {}
}

// What the agent says with this answer: by the tool that ends the run, else in prose.
function outputOf({ message, used }: Acted, end: Ending | undefined): string | undefined {
  if (used?.directed?.directive.kind === "finish") return used.directed.directive.message
  if (end?.status === "done" && used?.stopped) return used.stopped.text
  return (message && proseOf(message)) || undefined
}

// An answer without the declared outputs is no answer yet.
async function sendBack(unfilled: () => Promise<string[]>, emit: Emit): Promise<boolean> {
  const problems = await unfilled()
  if (problems.length === 0) return false
  emit({ type: "prompt-steered", message: userMessage(outputsMissing(problems), "host") })
  return true
}

// A block without a result would leave a history that no provider accepts.
function whyNotRun({ stop, error }: Answer): ActionError {
  if (stop) return { kind: "skipped", message: "The run was stopped before this code was run." }
  if (isAbort(error)) return { kind: "aborted", message: "The run was interrupted before this code was run." }
  return { kind: "incomplete", message: "The answer broke off, so this code was not run." }
}

function warnWhenFull(input: number | undefined, { contextWindow }: CycleServices, emit: Emit): void {
  if (input === undefined || input < contextWindow * 0.9) return
  const percent = Math.round((input / contextWindow) * 100)
  const message = `The conversation fills ${percent} % of the model's window of ${contextWindow.toLocaleString("en")} tokens.`
  emit({ type: "warning-raised", code: "context-nearly-full", message })
}
