// Gives the text of `finish(text)` in a cell as the answer of the run, as if the model had written it after the cell.
import { runAfterModel } from "../actions/run-hooks.ts"
import type { Emit } from "../core/event.ts"
import { type AssistantMessage, newId, wellFormed } from "../core/message.ts"
import type { CycleServices } from "./cycle.ts"
import { type ActionsOutcome, endingFromStop, endingWhenFailed, endingWhenInterrupted, proseOf } from "./decide.ts"
import type { Ending } from "./run/run-state.ts"

/** Returns the text that a cell passed to `finish`, unless a tool call of the same answer decides how the run ends. */
export function finishTextOf({ finishText, toolsOutcome }: ActionsOutcome): string | undefined {
  return toolsOutcome?.directed || toolsOutcome?.stopped ? undefined : finishText
}

/** Adds the answer to the conversation after the `afterModel` hooks have seen it. Returns its text, or how the run ends
 *  instead. */
export async function giveFinishAnswer(
  text: string,
  cycle: number,
  services: CycleServices,
  emit: Emit,
): Promise<{ text: string } | { end: Ending }> {
  const { hooks, caller, signal } = services
  const parts: AssistantMessage["parts"] = [{ type: "text", text: wellFormed(text) }]
  try {
    const reviewed = await runAfterModel({ cycle, parts, usage: noTokens }, hooks, { ...caller, signal })
    if (reviewed.stop) return { end: endingFromStop(reviewed.stop) }
    // The run ends, so code and calls that a hook adds would get no result.
    const texts = reviewed.parts.filter((part) => part.type === "text")
    const message: AssistantMessage = { id: newId("m"), role: "assistant", parts: texts }
    const answer = reviewed.parts === parts ? wellFormed(text) : proseOf(message)
    if (answer === "") return { text: "" }
    emit({ type: "text-delta", text: answer })
    emit({ type: "message-end", message, finish: "cell", usage: noTokens })
    return { text: answer }
  } catch (error) {
    return { end: signal.aborted ? endingWhenInterrupted(services, emit) : endingWhenFailed(error, services) }
  }
}

// No model wrote the text.
const noTokens = Object.freeze({ input: 0, output: 0, complete: true })
