import { type CodeServices, codeNotRun, performCode } from "../actions/perform-code.ts"
import {
  type AvailableTools,
  performTools,
  skipTools,
  type ToolServices,
  type ToolsOutcome,
} from "../actions/perform-tools.ts"
import type { SkipReason } from "../actions/tool-result.ts"
import { isAbortError } from "../core/errors.ts"
import type { ActionError, Emit } from "../core/event.ts"
import { type CodePart, userMessage } from "../core/message.ts"
import { addUsage, type Usage } from "../core/usage.ts"
import type { MemoryServices } from "../memory.ts"
import { type ActionsOutcome, decideEnding, deliverSteers, proseOf, runAfterCycleHooks } from "./decide.ts"
import { maxOutputReminders, missingOutputsPrompt } from "./outputs.ts"
import { type ReviewedAnswer, requestAnswer } from "./request-answer.ts"
import type { Ending, RunState } from "./run/run-state.ts"
import type { AnswerServices } from "./stream-answer.ts"

/** What a cycle needs from its host. The in-process loop gives it now; an engine or a worker gives the same. */
export interface CycleServices extends AnswerServices, CodeServices, MemoryServices, ToolServices {
  // Several parts give these; this is what a cycle has.
  keptIn: MemoryServices["keptIn"]
  request: AnswerServices["request"]
  systemTokens: AnswerServices["systemTokens"]
  runtime: CodeServices["runtime"]
  hooks: CodeServices["hooks"]
  usesCode: boolean
  tools: AvailableTools["tools"]
  /** Absent where there are no tools. */
  toolContext: AvailableTools["context"] | undefined
  noTool: "continue" | "answer" | "wait"
  /** The time, as the model is told it; the same for a whole run. */
  clock: string
  contextWindow: number
  /** Takes what the user said since the last cycle. */
  takeSteers(): string[]
  /** Counts what a model call has used. */
  spend(usage: Usage): void
  /** What was used since the last call, by this run and those it started. */
  takeSpent(): Usage
  /** What the declared outputs lack, one line each; absent when none are declared. */
  missingOutputs?: (() => Promise<string[]>) | undefined
  /** Whether the run was aborted, as opposed to out of time. */
  wasAborted(): boolean
  /** Remembers the error itself; the state holds only its data. */
  recordFailure(error: unknown): void
}

/** One model call and the action it asked for: tells its events and gives the next state. What it tells must be folded
 *  into `services.messages` at once. The in-process loop, an engine and a worker elsewhere all call this. */
export async function cycle(state: RunState, services: CycleServices, emit: Emit): Promise<RunState> {
  const number = state.cycle + 1
  emit({ type: "cycle-start", cycle: number })
  deliverSteers(services, emit)
  const { answer, memory } = await requestAnswer(state, services, emit)
  warnIfNearlyFull(answer.usage.input, services, emit)
  const acted = await performActions(answer, services, emit)
  let end = decideEnding(acted, services, emit)
  let { returns } = state
  if (
    end?.status === "done" &&
    services.missingOutputs &&
    (await requestMissingOutputs(services.missingOutputs, emit))
  ) {
    end = returns++ < maxOutputReminders ? undefined : { status: "stopped", reason: "outputs" }
  }
  const spent = services.takeSpent()
  const usage = addUsage(state.usage, spent)
  const output = outputOf(acted, end) ?? state.output
  if (services.hooks.length > 0) end = await runAfterCycleHooks(end, { number, output, usage }, services, emit)
  emit({ type: "cycle-end", cycle: number, usage: spent })
  const next: RunState = { ...state, cycle: number, usage, output, returns, memory }
  return end ? { ...next, end } : next
}

// Does what the answer asks for: a cell first, then calls. What it asks for and is not done has a result that says why.
async function performActions(answer: ReviewedAnswer, services: CycleServices, emit: Emit): Promise<ActionsOutcome> {
  const { message, error, stop } = answer
  const code = message?.parts.find((part) => part.type === "code")
  let failure = error
  if (code && error === undefined && !stop) failure = (await performCode(code, services, emit)).failure
  else if (code) emit(codeNotRun(code.id, whyNotRun(answer)))
  const calls = message?.parts.some((part) => part.type === "tool-call")
  const used = calls ? await runTools(answer, code, failure, services, emit) : undefined
  return { message, code, failure, stop, toolsOutcome: used }
}

// What becomes of the tool calls of an answer.
async function runTools(
  { message, stop, tools }: ReviewedAnswer,
  code: CodePart | undefined,
  failure: unknown,
  services: CycleServices,
  emit: Emit,
): Promise<ToolsOutcome> {
  const calls = message?.parts.filter((part) => part.type === "tool-call") ?? []
  const { toolContext } = services
  let reason: SkipReason | undefined
  if (stop) reason = "stopped"
  else if (failure !== undefined || !toolContext) reason = isAbortError(failure) ? "aborted" : "incomplete"
  // The user may have spoken while the cell was running.
  else if (code && services.interrupted()) reason = "steering"
  else return await performTools(calls, { tools: tools ?? services.tools, context: toolContext }, services, emit)
  return { ends: skipTools(calls, reason, emit) }
}

// What the agent says with this answer: by the tool that ends the run, else in prose.
function outputOf({ message, toolsOutcome: used }: ActionsOutcome, end: Ending | undefined): string | undefined {
  if (used?.directed?.directive.kind === "finish") return used.directed.directive.message
  if (end?.status === "done" && used?.stopped) return used.stopped.text
  return (message && proseOf(message)) || undefined
}

// An answer without the declared outputs is no answer yet.
async function requestMissingOutputs(unfilled: () => Promise<string[]>, emit: Emit): Promise<boolean> {
  const problems = await unfilled()
  if (problems.length === 0) return false
  emit({ type: "prompt-steered", message: userMessage(missingOutputsPrompt(problems), "host") })
  return true
}

// A block without a result would leave a history that no provider accepts.
function whyNotRun({ stop, error }: ReviewedAnswer): ActionError {
  if (stop) return { kind: "skipped", message: "The run was stopped before this code was run." }
  if (isAbortError(error)) return { kind: "aborted", message: "The run was interrupted before this code was run." }
  return { kind: "incomplete", message: "The answer broke off, so this code was not run." }
}

function warnIfNearlyFull(input: number | undefined, { contextWindow }: CycleServices, emit: Emit): void {
  if (input === undefined || input < contextWindow * 0.9) return
  const percent = Math.round((input / contextWindow) * 100)
  const message = `The conversation fills ${percent} % of the model's window of ${contextWindow.toLocaleString("en")} tokens.`
  emit({ type: "warning-raised", code: "context-nearly-full", message })
}
