import { setTimeout } from "node:timers/promises"
import { type Agent, createAgent, currentCall, fn, jsRuntime, tool } from "karst"
import { type ModelPart, type ModelRequest, scriptedModel } from "karst/models"
import { agentTool, askTool } from "karst/tools"

/** Leaves marks outside of the process: a call took effect, a model was asked. */
export interface Marks {
  call(label: string, key: string | undefined): void
  model(id: string): void
}

/** The calls that may be made again, with the same key. */
export const mayRepeat = /^(note|charge)\(/

/** The kinds of runs that are killed. The calls of each agent all differ, so that each can be followed by its label. */
export const kinds: Record<string, (marks: Marks) => Agent> = {
  "model call": (marks) => createAgent({ model: model(marks, ["Done."]), runtime: () => jsRuntime() }),

  tool: (marks) =>
    createAgent({
      model: model(marks, [[use("settle", 1)], [use("settle", 2), use("settle", 3)], "Paid."]),
      noTool: "answer",
      tools: [settleTool(marks)],
    }),

  "cell with parallel calls": (marks) =>
    createAgent({
      model: model(marks, [
        cell("const all = await Promise.allSettled([pay(1), note(2), pay(3), charge(4)])", "all.length"),
        cell("await note(all.length + 1)", "await pay(6).catch(String)", "all.length"),
        "Done.",
      ]),
      runtime: () => jsRuntime(functions(marks)),
    }),

  compaction: (marks) =>
    createAgent({
      model: model(marks, [
        cell("// step 0", `await pay(1).catch(String); "${"long ".repeat(900)}"`),
        cell("// step 1", "await pay(2).catch(String)"),
        cell("// step 2", "await pay(3).catch(String)", "_output_1.length"),
        "Done.",
      ]),
      memory: { compactAtTokens: 1500, keepResults: 0, model: summariser(marks) },
      runtime: () => jsRuntime(functions(marks)),
    }),

  "approval pending": twoApprovals,

  "approval of a held cell": twoApprovals,

  "finish in a cell": (marks) =>
    createAgent({
      model: model(marks, [
        cell("await note(1)"),
        cell("finish('Paid.')", "await pay(2).catch(String)", "await Promise.allSettled([wipe(3), note(4)])"),
      ]),
      runtime: () => jsRuntime(functions(marks)),
    }),

  "question pending": (marks) =>
    createAgent({
      model: model(marks, [[use("settle", 1)], [ask("Which colour?")], [use("settle", 2)], "Blue then."]),
      noTool: "answer",
      tools: [settleTool(marks)],
    }),

  "nested sub-agent": (marks) => {
    const helper = createAgent({
      name: "helper",
      model: model(
        marks,
        [
          cell("const got = await pay(7).catch(String)", "await Promise.allSettled([wipe(8), note(9)])", "got"),
          "Helped.",
        ],
        "helper",
      ),
      runtime: () => jsRuntime(functions(marks)),
    })
    return createAgent({
      model: model(marks, [
        [{ type: "tool-call", id: "help", name: "helper", input: { prompt: "Help." } }],
        [use("settle", 1)],
        "Done.",
      ]),
      noTool: "answer",
      tools: [agentTool(helper), settleTool(marks)],
    })
  },

  "question of a sub-agent": (marks) => {
    const helper = createAgent({
      name: "helper",
      model: model(marks, [[use("settle", 7)], [ask("Which colour?")], [use("settle", 8)], "Helped."], "helper"),
      noTool: "answer",
      tools: [settleTool(marks), askTool()],
    })
    const task = (id: string, input: Record<string, string>): ModelPart[] => [
      { type: "tool-call", id, name: "delegate", input: { tasks: [input] } },
    ]
    return createAgent({
      model: model(marks, [
        task("give", { agent: "helper", prompt: "Help." }),
        task("pass on", { continue: "t1", prompt: "blue" }),
        [use("settle", 1)],
        "Done.",
      ]),
      noTool: "answer",
      agents: { helper },
      tools: [settleTool(marks)],
    })
  },
}

/** Returns true if the cells of such a run are held until their calls are approved. Others are given up, and executed
 *  again after the answer. */
export function isHeld(kind: string): boolean {
  return ["approval of a held cell", "finish in a cell"].includes(kind)
}

function twoApprovals(marks: Marks): Agent {
  return createAgent({
    model: model(marks, [
      cell(
        "const first = await pay(1).catch(String)",
        "const all = await Promise.allSettled([wipe(2), pay(3)])",
        "all.length",
      ),
      cell("await wipe(all.length + 2).catch(String)"),
      "Wiped.",
    ]),
    runtime: () => jsRuntime(functions(marks)),
  })
}

/** Answers by how far the conversation is, so that every process says the same. */
function model(marks: Marks, steps: readonly (string | readonly ModelPart[])[], id = "agent") {
  return scriptedModel(
    (request) => {
      marks.model(id)
      return steps[turnOf(request)] ?? ""
    },
    { id },
  )
}

function summariser(marks: Marks) {
  return scriptedModel(
    (request) => {
      marks.model("summariser")
      return `## Goals\n- step ${turnOf(request) - 1}\n## Decisions\n- none\n## Facts\n- none\n## Open work\n- none`
    },
    { id: "summariser" },
  )
}

function turnOf({ messages }: ModelRequest): number {
  const steps = [...JSON.stringify(messages).matchAll(/step (\d+)/g)].map(([, step]) => Number(step))
  return steps.length > 0 ? Math.max(...steps) + 1 : messages.filter(({ role }) => role === "assistant").length
}

const cell = (...lines: string[]) => `\`\`\`ts\n${lines.join("\n")}\n\`\`\``

const use = (name: string, amount: number): ModelPart => ({
  type: "tool-call",
  id: `${name}_${amount}`,
  name,
  input: { amount },
})

const ask = (question: string): ModelPart => ({ type: "tool-call", id: "ask_0", name: "ask", input: { question } })

function settleTool(marks: Marks) {
  return tool({
    name: "settle",
    description: "Settles an account.",
    input: { type: "object", properties: { amount: { type: "number" } } },
    async run({ amount }: { amount?: number }) {
      marks.call(`settle(${amount})`, currentCall()?.idempotencyKey)
      return `settled ${amount}`
    },
  })
}

// Calls that were begun together end one after the other, mostly far enough apart for each outcome to be stored by
// itself; some take effect at their beginning, some at their end.
function functions(marks: Marks) {
  const work = (name: string, before: boolean, after: boolean) => async (amount: number) => {
    const key = currentCall()?.idempotencyKey
    if (before) await setTimeout((1 + (amount % 4)) * apartMs)
    marks.call(`${name}(${amount})`, key)
    if (after) await setTimeout((1 + (amount % 3)) * apartMs)
    return amount
  }
  return {
    pay: fn(work("pay", true, false)),
    note: fn(work("note", false, true), { idempotent: true }),
    charge: fn(work("charge", true, true), { unknown: "retry" }),
    wipe: fn(work("wipe", false, true), { approve: true }),
  }
}

const apartMs = 8
