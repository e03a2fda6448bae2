// Agents with scripted models for the benchmarks of durable runs.
import { type Agent, type AgentEvent, createAgent, jsRuntime, tool } from "karst"
import type { Model, ModelPart } from "karst/models"

/** Does one tool call a cycle that does nothing, then ends: what is measured is what is around it. */
export function callingAgent(cycles: number): Agent {
  const model = answering((turn) =>
    turn + 1 < cycles
      ? { type: "tool-call", id: `c${turn}`, name: "rest", input: {} }
      : { type: "text", text: "Done." },
  )
  return createAgent({ model, noTool: "answer", tools: [rest], limits: { cycles } })
}

/** Runs one small cell a cycle, over a namespace that `first` fills. */
export function codingAgent(cycles: number, first = "let value = 0", onEvent?: (event: AgentEvent) => void): Agent {
  const model = answering((turn) => {
    if (turn + 1 >= cycles) return { type: "text", text: "Done." }
    return { type: "text", text: `\`\`\`ts\n${turn === 0 ? first : `value = ${turn}`}\n\`\`\`` }
  })
  return createAgent({ model, runtime: () => jsRuntime({}), limits: { cycles }, onEvent })
}

/** Answers each prompt at once, and makes its conversation shorter at so many tokens. */
export function chattingAgent(compactAtTokens: number): Agent {
  const model: Model = {
    id: "bench/model",
    async *stream({ messages, system = "" }) {
      yield { type: "text", text: "An answer of a few words, which says what was asked for." }
      const input = Math.ceil((JSON.stringify(messages).length + system.length) / 4)
      yield { type: "finish", reason: "stop", usage: { input, output: 12, complete: true } }
    },
  }
  return createAgent({ model, noTool: "answer", tools: [rest], memory: { compactAtTokens } })
}

/** Asks at once, and ends when it is answered. */
export function askingAgent(): Agent {
  const model = answering((turn) =>
    turn === 0
      ? { type: "tool-call", id: "c1", name: "ask", input: { question: "Which?" } }
      : { type: "text", text: "Done." },
  )
  return createAgent({ model, noTool: "answer", tools: [rest] })
}

const rest = tool({ name: "rest", description: "Does nothing.", sideEffect: false, run: () => "ok" })

/** A model that answers by how far the conversation is, tells its usage, and remembers nothing. */
function answering(answer: (turn: number) => ModelPart): Model {
  return {
    id: "bench/model",
    async *stream({ messages }) {
      // The prompt, then an answer and its result each.
      const part = answer(messages.length >> 1)
      yield part
      const reason = part.type === "tool-call" ? "tool-calls" : "stop"
      yield { type: "finish", reason, usage: { input: 900, output: 40, complete: true } }
    },
  }
}
