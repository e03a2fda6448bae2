// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Bindings, createAgent, fn, type Json, jsRuntime, messageText, type Runtime } from "karst"
import { createEngine } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { memoryStore } from "karst/stores"
import { agentTool, askTool } from "karst/tools"
import { requires } from "../../system.ts"

const orchestrators: Record<string, { skip?: string | undefined; runtime(given: Bindings): Runtime; code: string }> = {
  "another process": {
    runtime: processRuntime,
    code: "```ts\nawait begin()\n;(await painter.run('Paint the wall')).output\n```\n",
  },
  Python: {
    skip: requires("python"),
    runtime: pythonRuntime,
    code: "```python\nbegin()\npainter.run('Paint the wall')['output']\n```\n",
  },
}

describe("a sub-agent of a durable run", () => {
  test("that asks the user goes on with its own conversation when the answer comes after a restart", async () => {
    const asks = scriptedModel(({ messages }) => {
      const heard = messages.filter(({ role }) => role === "user").map((message) => firstLine(messageText(message)))
      return heard.length === 1
        ? call("ask", { question: "Which colour?" })
        : call("finish", { message: `heard: ${heard.join(", ")}` })
    })
    const painter = createAgent({ noTool: "continue", name: "painter", model: asks, tools: [askTool()] })
    const lead = createAgent({
      noTool: "continue",
      agents: { painter },
      model: script([
        call("delegate", { tasks: [{ agent: "painter", prompt: "Paint the wall" }] }),
        call("delegate", { tasks: [{ continue: "t1", prompt: "blue" }] }),
        lastResult,
      ]),
    })
    assert.match(await answeredElsewhere(lead), /heard: Paint the wall, blue/)
  })

  test("that asks the user is listed with its question after a restart", async () => {
    const painter = createAgent({
      noTool: "continue",
      name: "painter",
      model: script([call("ask", { question: "Which colour?" })]),
      tools: [askTool()],
    })
    const lead = createAgent({
      noTool: "continue",
      agents: { painter },
      model: script([
        call("delegate", { tasks: [{ agent: "painter", prompt: "Paint the wall" }] }),
        call("delegate_status", {}),
        lastResult,
      ]),
    })
    assert.match(await answeredElsewhere(lead), /^\[t1 painter\] asks the user: Which colour\?/)
  })

  test("as a tool does so too", async () => {
    const asks = script([call("ask", { question: "Which colour?" }), call("finish", { message: "Painted." })])
    const painter = createAgent({ noTool: "continue", name: "painter", model: asks, tools: [askTool()] })
    const lead = createAgent({
      noTool: "continue",
      tools: [agentTool(painter)],
      model: script([
        call("painter", { prompt: "Paint the wall" }),
        call("painter", { continue: "t1", prompt: "blue" }),
        lastResult,
      ]),
    })
    assert.equal(await answeredElsewhere(lead), "Painted.")
  })

  test("that asked is told which of its objects are gone", async () => {
    const told: string[] = []
    const painter = createAgent({
      name: "painter",
      tools: [askTool()],
      runtime: () => jsRuntime({ wall: "white" }),
      model: scriptedModel(({ messages }) => {
        const answers = messages.filter(({ role }) => role === "assistant").length
        if (answers === 0) return "```ts\nconst brush = wall.length\n```\n"
        if (answers === 1) return call("ask", { question: "Which colour?" })
        told.push(...messages.map(messageText))
        return "Painted."
      }),
    })
    const lead = createAgent({
      noTool: "continue",
      agents: { painter },
      model: script([
        call("delegate", { tasks: [{ agent: "painter", prompt: "Paint the wall" }] }),
        call("delegate", { tasks: [{ continue: "t1", prompt: "blue" }] }),
        lastResult,
      ]),
    })
    await answeredElsewhere(lead)
    assert.match(told.join("\n"), /- brush: /)
  })

  test("that waits for an approval is answered after a restart, and nothing is done twice", async () => {
    const done: string[] = []
    const painter = createAgent({
      name: "painter",
      runtime: () =>
        jsRuntime({ mix: fn(() => done.push("mixed")), paint: fn(() => done.push("painted"), { approve: true }) }),
      model: script(["```ts\nawait mix()\nawait paint()\n```\n", "Painted."]),
    })
    const lead = createAgent({
      noTool: "continue",
      agents: { painter },
      model: script([call("delegate", { tasks: [{ agent: "painter", prompt: "Paint the wall" }] }), lastResult]),
    })
    assert.match(await answeredElsewhere(lead), /Painted\./)
    assert.deepEqual(done, ["mixed", "painted"])
  })

  for (const [kind, { skip, runtime, code }] of Object.entries(orchestrators)) {
    test(`that a cell in ${kind} started and that waits for an approval does so too`, { skip }, async () => {
      const done: string[] = []
      const painter = createAgent({
        name: "painter",
        runtime: () =>
          jsRuntime({ mix: fn(() => done.push("mixed")), paint: fn(() => done.push("painted"), { approve: true }) }),
        model: script(["```ts\nawait mix()\nawait paint()\n```\n", "Painted."]),
      })
      const begin = fn(() => done.push("begun"))
      const lead = createAgent({
        runtime: () => runtime({ painter, begin }),
        model: script([code, ({ messages }) => messages.map(messageText).at(-1) ?? ""]),
      })
      assert.match(await answeredElsewhere(lead), /Painted\./)
      assert.deepEqual(done, ["begun", "mixed", "painted"])
    })
  }
})

/** The output of a run that waits once, and is answered by an engine that did not begin it. */
async function answeredElsewhere(agent: ReturnType<typeof createAgent>): Promise<string> {
  const store = memoryStore()
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Have the wall painted")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
  if (pending?.kind === "approval") await second.approve(id, pending.id, "allow")
  else await second.answer(id, "blue")
  const { output, error } = await second.result(id)
  assert.equal(error, undefined)
  return output
}

/** Says each step in its turn, also after a restart. */
function script(steps: readonly ScriptedStep[]) {
  return scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "")
}

const lastResult: ScriptedStep = ({ messages }) => {
  const result = messages.findLast(({ role }) => role === "result")
  return call("finish", { message: result ? messageText(result) : "" })
}

function call(name: string, input: Json): ScriptedStep {
  return [{ type: "tool-call", id: `${name}-${++calls}`, name, input }]
}

let calls = 0

function firstLine(text: string): string {
  return text.split("\n")[0] ?? ""
}
