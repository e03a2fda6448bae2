import { notRun, type PerformServices, performCode } from "../actions/perform.ts"
import { errorData, isAbort } from "../core/errors.ts"
import type { ActionError, Emit } from "../core/event.ts"
import { type AssistantMessage, type CodePart, type Message, userMessage } from "../core/message.ts"
import { addUsage } from "../core/usage.ts"
import { withClock } from "./prompt.ts"
import type { Ending, State } from "./state.ts"
import { type ThinkServices, think } from "./think.ts"

/** What a cycle needs from its host. The in-process loop gives it now; an engine or a worker gives the same. */
export interface CycleServices extends ThinkServices, PerformServices {
  /** The conversation so far: a live view, into which what a cycle tells is folded. */
  messages: readonly Message[]
  /** The time, as the model is told it; the same for a whole run. */
  clock: string
  contextWindow: number
  /** Takes what the user said since the last cycle. */
  steered(): string[]
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
  const messages = withClock(services.messages, services.clock)
  const { message, usage, error } = await think(services, messages, emit)
  warnWhenFull(usage.input, services, emit)
  const code = message?.parts.find((part) => part.type === "code")
  let failure = error
  if (code && error === undefined) failure = await perform(code, services, emit)
  else if (code) emit(notRun(code.id, brokenOff(error)))
  const end = decide(message, code, failure, services, emit)
  emit({ type: "cycle-end", cycle: number, usage })
  const output = (message && proseOf(message)) || state.output
  const next: State = { ...state, cycle: number, usage: addUsage(state.usage, usage), output }
  return end ? { ...next, end } : next
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

function decide(
  message: AssistantMessage | undefined,
  code: CodePart | undefined,
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
  if (code) return undefined
  // Somebody spoke while the model was answering: that comes first.
  if (hearUser(services, emit)) return undefined
  if (message) return { status: "done" }
  emit({ type: "prompt-steered", message: userMessage("(Your last answer was empty. Go on with the task.)", "host") })
  return undefined
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
