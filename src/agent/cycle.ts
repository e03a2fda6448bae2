import { notRun, type PerformServices, performCode } from "../actions/perform.ts"
import { errorData, isAbort } from "../core/errors.ts"
import type { EventBody } from "../core/event.ts"
import { type AssistantMessage, type CodePart, userMessage } from "../core/message.ts"
import { addUsage, estimateTokens } from "../core/usage.ts"
import { withClock } from "./prompt.ts"
import type { Ending, State } from "./state.ts"
import { type ThinkServices, think } from "./think.ts"

/** What a cycle needs from its host. The in-process loop gives it now; an engine or a worker gives the same. */
export interface CycleServices extends ThinkServices, PerformServices {
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

/** One model call and the action it asked for: events out, the next state returned. What it yields is folded into
 *  `services.messages` before it goes on. */
export async function* cycle(state: State, services: CycleServices): AsyncGenerator<EventBody, State> {
  const number = state.cycle + 1
  yield { type: "cycle-start", cycle: number }
  yield* hearUser(services)
  const messages = withClock(services.messages, services.clock)
  const thought = yield* think({ ...services, messages })
  const usage = addUsage(state.usage, thought.usage)
  const said = thought.message ? proseOf(thought.message) : ""
  const next: State = { ...state, cycle: number, usage, output: said || state.output }
  yield* warnWhenFull(thought.usage.input, services)
  const code = thought.message?.parts.find((part) => part.type === "code")
  if (thought.error !== undefined) yield* pairUp(code, thought.error)
  else if (code) thought.error = yield* perform(code, services)
  const end = yield* decide(thought, code, services)
  yield { type: "cycle-end", cycle: number, usage: thought.usage }
  return end ? { ...next, end } : next
}

// The error is what only the host can mend: the runtime is gone.
async function* perform(code: CodePart, services: CycleServices): AsyncGenerator<EventBody, unknown> {
  try {
    yield* performCode(code, services)
    return undefined
  } catch (error) {
    return error
  }
}

async function* decide(
  { message, error }: { message?: AssistantMessage | undefined; error?: unknown },
  code: CodePart | undefined,
  services: CycleServices,
): AsyncGenerator<EventBody, Ending | undefined> {
  if (services.signal.aborted) {
    if (!services.aborted()) return { status: "stopped", reason: "time" }
    yield { type: "prompt-steered", message: userMessage("(The run was interrupted here.)", "host") }
    return { status: "aborted" }
  }
  if (error !== undefined) {
    services.failed(error)
    return { status: "failed", error: errorData(error) }
  }
  if (code) return undefined
  // Somebody spoke while the model was answering: that comes first.
  if (yield* hearUser(services)) return undefined
  if (message) return { status: "done" }
  yield { type: "prompt-steered", message: userMessage("(Your last answer was empty. Go on with the task.)", "host") }
  return undefined
}

async function* hearUser(services: CycleServices): AsyncGenerator<EventBody, boolean> {
  const texts = services.steered()
  for (const text of texts) yield { type: "prompt-steered", message: userMessage(text, "steer") }
  return texts.length > 0
}

// A block without a result would leave a history that no provider accepts.
function* pairUp(code: CodePart | undefined, error: unknown): Iterable<EventBody> {
  if (!code) return
  const message = isAbort(error)
    ? "The run was interrupted before this code was run."
    : "The answer broke off, so this code was not run."
  yield notRun(code.id, { kind: isAbort(error) ? "aborted" : "incomplete", message })
}

function proseOf(message: AssistantMessage): string {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("")
    .trim()
}

function* warnWhenFull(input: number | undefined, { contextWindow, request }: CycleServices): Iterable<EventBody> {
  const used = input ?? estimateTokens(request.system)
  if (used < contextWindow * 0.9) return
  const percent = Math.round((used / contextWindow) * 100)
  const message = `The conversation fills ${percent} % of the model's window of ${contextWindow.toLocaleString("en")} tokens.`
  yield { type: "warning-raised", code: "context-nearly-full", message }
}
