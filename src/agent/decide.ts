// Decides after a cycle whether the run continues or how it ends.
import type { ToolsOutcome } from "../actions/perform-tools.ts"
import { runAfterCycle, type Stop } from "../actions/run-hooks.ts"
import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, type CodePart, userMessage } from "../core/message.ts"
import { textsIn } from "../core/prompt-texts.ts"
import type { Usage } from "../core/usage.ts"
import { openTodos, todosIn } from "../tools/todo-list.ts"
import { reservedPrefix } from "../tools/tool-state.ts"
import type { CycleServices } from "./cycle.ts"
import { openTodosReminder } from "./prompt/system-prompt.ts"
import type { Ending } from "./run/run-state.ts"

/** The actions of one answer and their outcome. */
export interface ActionsOutcome {
  message: AssistantMessage | undefined
  code: CodePart | undefined
  /** The text that the cell passed to `finish`; absent if the cell failed. */
  finishText: string | undefined
  toolsOutcome: ToolsOutcome | undefined
  /** An error that only the host can fix. */
  failure: unknown
  stop: Stop | undefined
  /** Another block follows the cell in the answer; it was not run. */
  hasMoreCode: boolean | undefined
  /** The message for the model if the answer has code that was not run and is not final. */
  sendBack: string | undefined
}

/** Returns how the run ends with this cycle; undefined if it continues. */
export function decideEnding(outcome: ActionsOutcome, services: CycleServices, emit: Emit): Ending | undefined {
  const { message, code, toolsOutcome, failure, stop, sendBack } = outcome
  if (services.signal.aborted) return endingWhenInterrupted(services, emit)
  if (failure !== undefined) return endingWhenFailed(failure, services)
  if (stop) return endingFromStop(stop)
  if (toolsOutcome?.directed) return endingFromDirective(toolsOutcome.directed, emit)
  if (toolsOutcome?.stopped) return { status: "done", tool: toolsOutcome.stopped.tool }
  if (sendBack !== undefined) emit({ type: "prompt-steered", message: userMessage(sendBack, "host") })
  if (outcome.finishText !== undefined) return endingFromFinish(outcome, services, emit)
  if (code || toolsOutcome || sendBack !== undefined) return undefined
  // The user steered while the model was answering, so the run continues.
  if (deliverSteers(services, emit)) return undefined
  if (message) return endingWithoutAction(message, services, emit)
  emit({ type: "prompt-steered", message: userMessage(textsIn(services.promptLanguage).emptyAnswer, "host") })
  return undefined
}

/** Runs the `afterCycle` hooks, which may change how the run continues. */
export async function runAfterCycleHooks(
  end: Ending | undefined,
  cycle: { number: number; output: string; usage: Usage },
  services: CycleServices,
  emit: Emit,
): Promise<Ending | undefined> {
  const { hooks, caller, signal, messages } = services
  if (end && end.status !== "done" && end.status !== "waiting") return end
  if (!hooks.some((hook) => hook.afterCycle)) return end
  const { number, output, usage } = cycle
  const seen = { cycle: number, next: end?.status ?? ("continue" as const), output, usage, messages: messages.slice() }
  try {
    const { steer, stop } = await runAfterCycle(seen, hooks, { ...caller, signal })
    for (const text of steer) emit({ type: "prompt-steered", message: userMessage(text, "host") })
    if (stop) return endingFromStop(stop)
    return steer.length > 0 ? undefined : end
  } catch (error) {
    return signal.aborted ? endingWhenInterrupted(services, emit) : endingWhenFailed(error, services)
  }
}

/** Adds the new steers to the conversation. Returns true if there were any. */
export function deliverSteers(services: CycleServices, emit: Emit): boolean {
  const steers = services.takeSteers()
  for (const text of steers) emit({ type: "prompt-steered", message: userMessage(text, "steer") })
  return steers.length > 0
}

export function endingFromStop({ stop, reason = "hook" }: Stop): Ending {
  return { status: "stopped", reason, detail: stop }
}

export function proseOf(message: AssistantMessage): string {
  let prose = ""
  for (const part of message.parts) if (part.type === "text") prose += part.text
  return prose.trim()
}

export function endingWhenInterrupted(services: CycleServices, emit: Emit): Ending {
  if (!services.wasAborted()) return { status: "stopped", reason: "time" }
  emit({ type: "prompt-steered", message: userMessage(textsIn(services.promptLanguage).interruptedHere, "host") })
  return { status: "aborted" }
}

export function endingWhenFailed(failure: unknown, services: CycleServices): Ending {
  services.recordFailure(failure)
  return { status: "failed", error: errorData(failure) }
}

function endingFromDirective(
  { tool, call, directive }: NonNullable<ToolsOutcome["directed"]>,
  emit: Emit,
): Ending | undefined {
  if (directive.kind === "finish") {
    const { files, handedTo } = directive
    return { status: "done", tool, ...(files && { files }), ...(handedTo !== undefined && { handedTo }) }
  }
  if (directive.kind === "continue") return undefined
  const { kind, ...question } = directive
  emit({ type: "question-asked", id: call, ...question })
  return { status: "waiting", tool, pending: { kind: "question", id: call, ...question } }
}

// An answer ends the run, unless `noTool` of an agent with tools only says otherwise, or todos are open.
function endingWithoutAction(message: AssistantMessage, services: CycleServices, emit: Emit): Ending | undefined {
  if (services.usesCode || services.noTool === "answer") return endingUnlessTodosAreOpen(services, emit)
  if (services.noTool === "continue") {
    emit({ type: "prompt-steered", message: userMessage(textsIn(services.promptLanguage).noToolCalled, "host") })
    return undefined
  }
  const question = proseOf(message)
  emit({ type: "question-asked", id: message.id, question })
  return { status: "waiting", pending: { kind: "question", id: message.id, question } }
}

// `finish` in a cell ends the run as an answer does. It has no effect if code of the same answer was not run, or if the
// model has not read something: the failure of a tool call in the same answer, or a steer.
function endingFromFinish(outcome: ActionsOutcome, services: CycleServices, emit: Emit): Ending | undefined {
  const hasFailure = outcome.toolsOutcome?.ends.some(({ ok }) => !ok)
  if (hasFailure || outcome.hasMoreCode) {
    const texts = textsIn(services.promptLanguage)
    const text = hasFailure ? texts.finishedWithFailure : texts.finishedBeforeCode
    emit({ type: "prompt-steered", message: userMessage(text, "host") })
    return undefined
  }
  return deliverSteers(services, emit) ? undefined : endingUnlessTodosAreOpen(services, emit)
}

function endingUnlessTodosAreOpen(services: CycleServices, emit: Emit): Ending | undefined {
  const reminder = remindOfOpenTodos(services)
  if (reminder === undefined) return { status: "done" }
  emit({ type: "prompt-steered", message: userMessage(reminder, "host") })
  return undefined
}

// Returns the reminder of open todos. Each todo is reminded of once in a conversation, so an answer that leaves it open
// a second time counts.
function remindOfOpenTodos({ state, tools, promptLanguage }: CycleServices): string | undefined {
  if (!tools.has("write_todos")) return undefined
  const open = openTodos(todosIn(state.values))
  const stored = state.get(remindedTodosKey)
  const reminded = new Set(Array.isArray(stored) ? stored : [])
  if (open.every(({ id }) => reminded.has(id))) return undefined
  state.set(
    remindedTodosKey,
    open.map(({ id }) => id),
  )
  return openTodosReminder(
    open.map(({ title }) => title),
    promptLanguage,
  )
}

const remindedTodosKey = `${reservedPrefix}reminded-todos`
