import {
  type Agent,
  createAgent,
  currentCall,
  fn,
  jsRuntime,
  type ModelPart,
  type ModelRequest,
  scripted,
  tool,
} from "karst"
import { agentTool } from "karst/tools"
import type { EngineOptions } from "../../src/engine/engine.ts"

/** Leaves a mark outside of the process. */
export type Effect = (name: string, detail: string) => void

export interface Kind {
  agent: Agent
  options?: Partial<EngineOptions>
}

/** What is killed: each makes an agent whose effects can be counted from outside. */
export const kinds: Record<string, (effect: Effect) => Kind> = {
  "model call": (effect) => ({ agent: createAgent({ model: model(effect, ["Done."]), runtime: () => jsRuntime() }) }),

  tool: (effect) => ({
    agent: createAgent({
      model: model(effect, [call("pay", { amount: 1 }), call("pay", { amount: 2 }), "Paid."]),
      noTool: "answer",
      tools: [payTool(effect)],
    }),
  }),

  "parallel calls": (effect) => ({
    agent: createAgent({
      model: model(effect, [
        cell(
          "const all = await Promise.allSettled([pay(1), note(2), pay(3)])",
          "const paid = all.map((each) => each.status)",
          "paid",
        ),
        cell("await pay(paid.length + 1)", "paid"),
        "Done.",
      ]),
      runtime: () => jsRuntime(functions(effect)),
    }),
  }),

  approval: (effect) => ({
    agent: createAgent({
      model: model(effect, [cell("const first = await pay(1)", "await wipe(2)", "first"), "Wiped."]),
      runtime: () => jsRuntime(functions(effect)),
    }),
  }),

  question: (effect) => ({
    agent: createAgent({
      model: model(effect, [call("ask", { question: "Which colour?" }), call("pay", { amount: 1 }), "Blue then."]),
      noTool: "answer",
      tools: [payTool(effect)],
    }),
  }),

  compaction: (effect) => ({
    agent: createAgent({
      model: model(effect, [
        cell("// step 0", `await pay(1); "${"long ".repeat(900)}"`),
        cell("// step 1", "await pay(2)"),
        cell("// step 2", "await pay(3)"),
        "Done.",
      ]),
      memory: { compactAt: 1500, keepResults: 0, model: summariser(effect) },
      runtime: () => jsRuntime(functions(effect)),
    }),
  }),

  "sub-agent": (effect) => {
    const helper = createAgent({
      name: "helper",
      model: model(effect, [cell("const got = await pay(7)", "await wipe(8)", "got"), "Helped."], "helper"),
      runtime: () => jsRuntime(functions(effect)),
    })
    return {
      agent: createAgent({
        model: model(effect, [call("helper", { prompt: "Help." }), call("pay", { amount: 1 }), "Done."]),
        noTool: "answer",
        tools: [agentTool(helper), payTool(effect)],
      }),
    }
  },
}

type Step = string | { name: string; input: Record<string, string | number> }

/** Answers by how far the conversation is, so that every process says the same. */
function model(effect: Effect, steps: readonly Step[], id = "agent") {
  return scripted(
    (request) => {
      const turn = turnOf(request)
      effect(`model ${id}`, String(turn))
      const step = steps[turn] ?? ""
      if (typeof step === "string") return step
      return [{ type: "tool-call", id: `call_${turn}`, ...step } satisfies ModelPart]
    },
    { id },
  )
}

function summariser(effect: Effect) {
  return scripted(
    (request) => {
      effect("model summariser", "")
      const section = `- step ${turnOf(request) - 1}`
      return `## Goals\n${section}\n## Decisions\n- none\n## Facts\n- none\n## Open\n- none`
    },
    { id: "summariser" },
  )
}

function turnOf({ messages }: ModelRequest): number {
  const steps = [...JSON.stringify(messages).matchAll(/step (\d+)/g)].map(([, step]) => Number(step))
  return steps.length > 0 ? Math.max(...steps) + 1 : messages.filter(({ role }) => role === "assistant").length
}

const cell = (...lines: string[]) => `\`\`\`ts\n${lines.join("\n")}\n\`\`\``
const call = (name: string, input: Record<string, string | number>): Step => ({ name, input })

function payTool(effect: Effect) {
  return tool({
    name: "pay",
    description: "Pays.",
    input: { type: "object", properties: { amount: { type: "number" } } },
    run: ({ amount }: { amount?: number }) => {
      effect("pay", String(amount))
      return `paid ${amount}`
    },
  })
}

function functions(effect: Effect) {
  return {
    pay: fn(async (amount: number) => {
      effect("pay", String(amount))
      return amount
    }),
    note: fn(
      async (text: number) => {
        effect("note", `${text} ${currentCall()?.idempotencyKey}`)
        return text
      },
      { idempotent: true },
    ),
    wipe: fn(
      async (what: number) => {
        effect("wipe", String(what))
      },
      { approve: true },
    ),
  }
}
