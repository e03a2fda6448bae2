// One cycle: a model request and the actions that answer it.
import { type CodeServices, codeNotRun, performCode } from "../actions/perform-code.ts"
import type { AvailableTools, ToolServices, ToolsOutcome } from "../actions/perform-tools.ts"
import { performTools, skipTools } from "../actions/perform-tools.ts"
import type { SkipReason } from "../actions/tool-result.ts"
import { isAbortError } from "../core/errors.ts"
import type { ActionError, Emit } from "../core/event.ts"
import { type CodePart, type ToolCallPart, userMessage } from "../core/message.ts"
import { addUsage, type Usage } from "../core/usage.ts"
import type { MemoryServices } from "../memory.ts"
import type { SharedState } from "../tools/tool-state.ts"
import type { PromptTime } from "./conversation.ts"
import { type ActionsOutcome, decideEnding, deliverSteers, proseOf, runAfterCycleHooks } from "./decide.ts"
import { finishTextOf, giveFinishAnswer } from "./finish-answer.ts"
import { maxOutputReminders, missingOutputsPrompt } from "./outputs.ts"
import { type ReviewedAnswer, requestAnswer } from "./request-answer.ts"
import type { Ending, RunState } from "./run/run-state.ts"
import type { AnswerServices } from "./stream-answer.ts"

/** What a cycle needs from the run loop. */
export interface CycleServices extends AnswerServices, CodeServices, MemoryServices, ToolServices {
  // Several of the extended interfaces declare these.
  resultStorage: MemoryServices["resultStorage"]
  request: AnswerServices["request"]
  systemTokens: AnswerServices["systemTokens"]
  runtime: CodeServices["runtime"]
  hooks: CodeServices["hooks"]
  state: SharedState
  promptLanguage: AnswerServices["promptLanguage"]
  usesCode: boolean
  tools: AvailableTools["tools"]
  /** Absent if the agent has no tools. */
  toolContext: AvailableTools["context"] | undefined
  /** What follows an answer without an action, if the agent has only tools: the end, a reminder, or a question. */
  noTool: "answer" | "continue" | "wait"
  /** When each prompt was given, as the model sees it, by the id of its message. */
  promptTimes: ReadonlyMap<string, PromptTime>
  /** In tokens. */
  contextWindow: number
  /** Waits for the steers that were stored until now; absent if the run is not durable. */
  receiveSteers?: (() => Promise<void>) | undefined
  /** Returns and removes the steers since the last cycle. */
  takeSteers(): string[]
  spend(usage: Usage): void
  /** Returns and resets the usage of this run and its child runs since the last call. */
  takeSpent(): Usage
  /** Returns the problems of the declared outputs, one line each; absent if none are declared. */
  findOutputProblems?: (() => Promise<string[]>) | undefined
  /** After an interruption: true if aborted, false if the time limit was reached. */
  wasAborted(): boolean
  /** Stores the error itself, because the run state contains only its data. */
  recordFailure(error: unknown): void
}

/** Sends one model request and performs its actions: emits the events and returns the next state. The caller must fold
 *  each event into `services.messages` at once. */
export async function cycle(state: RunState, services: CycleServices, emit: Emit): Promise<RunState> {
  const number = state.cycle + 1
  emit({ type: "cycle-start", cycle: number })
  deliverSteers(services, emit)
  const { answer, memory } = await requestAnswer(state, services, emit)
  warnIfNearlyFull(answer.usage.input, services, emit)
  const outcome = await performActions(answer, services, emit)
  if (mayEnd(outcome)) await services.receiveSteers?.()
  let end = decideEnding(outcome, services, emit)
  let { returns: outputReminders } = state
  const problems = end?.status === "done" ? ((await services.findOutputProblems?.()) ?? []) : []
  if (problems.length > 0 && outputReminders >= maxOutputReminders) {
    end = { status: "stopped", reason: "outputs", detail: problems.join("; ") }
  } else if (problems.length > 0) {
    emit({
      type: "prompt-steered",
      message: userMessage(missingOutputsPrompt(problems, services.promptLanguage), "host"),
    })
    outputReminders++
    end = undefined
  }
  const spent = services.takeSpent()
  const usage = addUsage(state.usage, spent)
  let output = outputOf(outcome, end) ?? state.output
  const finishText = end?.status === "done" ? finishTextOf(outcome) : undefined
  if (finishText !== undefined) {
    const given = await giveFinishAnswer(finishText, number, services, emit)
    if ("end" in given) end = given.end
    else output = given.text
  }
  if (services.hooks.length > 0) end = await runAfterCycleHooks(end, { number, output, usage }, services, emit)
  emit({ type: "cycle-end", cycle: number, usage: spent })
  const next: RunState = { ...state, cycle: number, usage, output, returns: outputReminders, memory }
  return end ? { ...next, end } : next
}

// After these outcomes a steer keeps the run from ending.
function mayEnd({ code, toolsOutcome, finishText }: ActionsOutcome): boolean {
  return (!code && !toolsOutcome) || finishText !== undefined
}

// Performs the cell of an answer, then its tool calls. A skipped action gets a result with the reason.
async function performActions(answer: ReviewedAnswer, services: CycleServices, emit: Emit): Promise<ActionsOutcome> {
  const { message, error, stop, sendBack, hasMoreCode } = answer
  const calls: ToolCallPart[] = []
  let code: CodePart | undefined
  for (const part of message?.parts ?? []) {
    if (part.type === "tool-call") calls.push(part)
    else if (part.type === "code") code ??= part
  }
  let failure = error
  let finishText: string | undefined
  if (code && error === undefined && !stop) ({ failure, finishText } = await performCode(code, services, emit))
  else if (code) emit(codeNotRun(code.id, whyNotRun(answer)))
  const acted = { calls, code, failure }
  const toolsOutcome = calls.length > 0 ? await performOrSkipTools(answer, acted, services, emit) : undefined
  return { message, code, finishText, failure, stop, toolsOutcome, hasMoreCode, sendBack }
}

async function performOrSkipTools(
  { stop, tools }: ReviewedAnswer,
  { calls, code, failure }: { calls: readonly ToolCallPart[]; code: CodePart | undefined; failure: unknown },
  services: CycleServices,
  emit: Emit,
): Promise<ToolsOutcome> {
  const { toolContext } = services
  let reason: SkipReason | undefined
  if (stop) reason = "stopped"
  else if (failure !== undefined || !toolContext) reason = isAbortError(failure) ? "aborted" : "incomplete"
  // The user may have steered while the cell was running.
  else if (code && services.hasNewSteers()) reason = "steering"
  else return await performTools(calls, { tools: tools ?? services.tools, context: toolContext }, services, emit)
  return { ends: skipTools(calls, reason, emit) }
}

// Returns the output of this answer: from the tool that ends the run, otherwise its prose.
function outputOf({ message, toolsOutcome }: ActionsOutcome, end: Ending | undefined): string | undefined {
  if (toolsOutcome?.directed?.directive.kind === "finish") return toolsOutcome.directed.directive.message
  if (end?.status === "done" && toolsOutcome?.stopped) return toolsOutcome.stopped.text
  return (message && proseOf(message)) || undefined
}

// Returns why code was not run. Every code block gets a result, because providers reject a history without one.
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
