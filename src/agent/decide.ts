import type { ToolsOutcome } from "../actions/perform-tools.ts"
import { runAfterCycle, type Stop } from "../actions/run-hooks.ts"
import { errorData } from "../core/errors.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, type CodePart, userMessage } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"
import type { CycleServices } from "./cycle.ts"
import { noToolReminder } from "./prompt/system-prompt.ts"
import type { Ending } from "./run/run-state.ts"

/** What one answer came to. */
export interface ActionsOutcome {
  message: AssistantMessage | undefined
  code: CodePart | undefined
  /** What became of its tool calls; undefined when it had none. */
  toolsOutcome: ToolsOutcome | undefined
  /** What only the host can mend. */
  failure: unknown
  stop: Stop | undefined
}

/** How the run ends with this cycle; undefined where it goes on. */
export function decideEnding(acted: ActionsOutcome, services: CycleServices, emit: Emit): Ending | undefined {
  const { message, code, toolsOutcome: used, failure, stop } = acted
  if (services.signal.aborted) return endingWhenInterrupted(services, emit)
  if (failure !== undefined) return endingWhenFailed(failure, services)
  if (stop) return endingFromStop(stop)
  if (used?.directed) return endingFromDirective(used.directed, emit)
  if (used?.stopped) return { status: "done", tool: used.stopped.tool }
  if (code || used) return undefined
  // Somebody spoke while the model was answering: that comes first.
  if (deliverSteers(services, emit)) return undefined
  if (message) return endingWithoutAction(message, services, emit)
  emit({ type: "prompt-steered", message: userMessage("(Your last answer was empty. Go on with the task.)", "host") })
  return undefined
}

/** Lets the hooks say how it goes on after a cycle that would end so. */
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

/** Says to the model what the user has said since; whether that was anything. */
export function deliverSteers(services: CycleServices, emit: Emit): boolean {
  const said = services.takeSteers()
  for (const text of said) emit({ type: "prompt-steered", message: userMessage(text, "steer") })
  return said.length > 0
}

export function endingFromStop({ stop, reason = "hook" }: Stop): Ending {
  return { status: "stopped", reason, detail: stop }
}

export function proseOf(message: AssistantMessage): string {
  return message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("")
    .trim()
}

function endingWhenInterrupted(services: CycleServices, emit: Emit): Ending {
  if (!services.wasAborted()) return { status: "stopped", reason: "time" }
  emit({ type: "prompt-steered", message: userMessage("(The run was interrupted here.)", "host") })
  return { status: "aborted" }
}

function endingWhenFailed(failure: unknown, services: CycleServices): Ending {
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

// An agent that writes code has answered; one that only calls tools ends by one of them, unless it is told otherwise.
function endingWithoutAction(message: AssistantMessage, services: CycleServices, emit: Emit): Ending | undefined {
  if (services.usesCode || services.noTool === "answer") return { status: "done" }
  if (services.noTool === "continue") {
    emit({ type: "prompt-steered", message: userMessage(noToolReminder, "host") })
    return undefined
  }
  const question = proseOf(message)
  emit({ type: "question-asked", id: message.id, question })
  return { status: "waiting", pending: { kind: "question", id: message.id, question } }
}
