import { type Agent, createAgent, fn, jsRuntime, type Message } from "karst"
import { scriptedModel } from "karst/models"

/** An agent that takes three steps, each a call in a cell of its own, and answers. A run is known by its prompt. */
export function steppingAgent(step: (run: string, step: number) => Promise<void>): Agent {
  return createAgent({
    model: scriptedModel(({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length
      if (turn === 3) return `Ended ${promptOf(messages)}.`
      return `\`\`\`ts\nconst told${turn} = await step("${promptOf(messages)}", ${turn}).catch(String)\ntold${turn}\n\`\`\``
    }),
    runtime: () => jsRuntime({ step: fn(step) }),
  })
}

/** The steps that a run of such an agent takes. */
export const stepsOf = (run: string): string[] => [0, 1, 2].map((step) => `${run} ${step}`)

// The time comes after it.
function promptOf([first]: readonly Message[]): string {
  const part = first?.role === "user" ? first.parts[0] : undefined
  return part?.type === "text" ? part.text : ""
}
