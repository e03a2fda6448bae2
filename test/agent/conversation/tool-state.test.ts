import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { memoryStore } from "../../../src/stores/memory-store.ts"
import { replayRecording } from "../../../src/testing/replay.ts"
import { agentTool } from "../../../src/tools/delegate/agent-tool.ts"
import { tool } from "../../../src/tools/tool.ts"
import { clerkTools } from "../../fixtures/sessions/clerk-tools.ts"
import { call, calls, finish } from "../tool-call-helpers.ts"

const count = calls(call("count"), finish())
const counter = (times: number) =>
  createAgent({
    noTool: "continue",
    todos: true,
    compactMemory: true,
    model: scriptedModel(Array(times).fill(count)),
    tools: clerkTools(),
  })

describe("the state of tools in a run", () => {
  test("begins with what the run is given, and is in its result", async () => {
    const { state, todos } = await counter(1).run("Go", { state: { count: 4, note: { by: ["host"] } } })
    assert.deepEqual(state, { count: 5, note: { by: ["host"] } })
    assert.deepEqual(todos, [])
    assert.throws(() => Object.assign(state, { count: 1 }), TypeError)
  })

  test("is empty for an agent whose tools set nothing, and for a run that could not begin", async () => {
    const { state, todos } = await createAgent({ model: scriptedModel(["Hello."]), runtime: () => jsRuntime() }).run(
      "Hi",
    )
    assert.deepEqual([state, todos], [{}, []])
    const broken = createAgent({ model: scriptedModel([]), runtime: () => Promise.reject(new Error("no runtime")) })
    const failed = await broken.run("Hi").settled
    assert.deepEqual([failed.state, failed.todos], [{}, []])
  })

  test("goes on from a result, also from one that was read from JSON; other keys stay", async () => {
    const agent = counter(4)
    const first = await agent.run("Go", { state: { count: 1 } })
    const here = await agent.run("Go on", { from: first, state: { note: "here" } })
    assert.deepEqual(here.state, { count: 3, note: "here" })
    const elsewhere = await agent.run("Go on", { from: JSON.parse(JSON.stringify(first)) })
    assert.deepEqual(elsewhere.state, { count: 3 })
    assert.deepEqual(first.state, { count: 2 }, "a result stays as it was")
  })

  test("is shared by the runs of a session, each of which may set values", async () => {
    await using session = await counter(3).session()
    assert.deepEqual((await session.send("One")).state, { count: 1 })
    assert.deepEqual((await session.send("Two", { state: { count: 10 } })).state, { count: 11 })
    const fork = await session.fork?.()
    assert.deepEqual((await fork?.send("Three"))?.state, { count: 12 })
    await fork?.close()
  })

  test("is not that of its sub-agents, and has nothing of what Karst keeps there", async () => {
    const helper = createAgent({
      noTool: "continue",
      todos: true,
      compactMemory: true,
      name: "helper",
      model: scriptedModel([count]),
      tools: clerkTools(),
    })
    const model = scriptedModel([
      calls(call("helper", { prompt: "Count" }), call("compact_memory", { notes: "n" })),
      count,
    ])
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      compactMemory: true,
      model,
      tools: [...clerkTools(), agentTool(helper)],
    })
    assert.deepEqual((await agent.run("Go", { state: { count: 7 } })).state, { count: 8 })
  })

  test("has the list of todos under its own key, so that it can be handed on", async () => {
    const write = calls(call("write_todos", { todos: [{ title: "A" }, { title: "B", status: "in_progress" }] }))
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      compactMemory: true,
      model: scriptedModel([write, count, count]),
      tools: clerkTools(),
      limits: { cycles: 1 },
    })
    const first = await agent.run("Plan")
    assert.deepEqual(
      first.todos.map(({ title, status }) => `${title} ${status}`),
      ["A pending", "B in_progress"],
    )
    const second = await agent.run("Again", { state: first.state })
    assert.deepEqual(second.todos, first.todos)
  })

  for (const [kind, state, message] of [
    ["a list", [1], /^ConfigError: agent\.run\(\): `state` is not an object/],
    ["a Date inside", { when: { at: new Date(0) } }, /^ConfigError: state\.when\.at is not JSON: Date/],
    ["a key of Karst's own", { "karst:subtasks": [] }, /^ConfigError: state: keys that begin with "karst:"/],
  ] as const) {
    test(`is refused at once where it has ${kind}`, () => {
      // As plain JavaScript would call it.
      assert.throws(() => Reflect.apply(counter(1).run, undefined, ["Go", { state }]), message)
    })
  }

  test("is the same in a replay of a session, in which only what is named as live is called", async () => {
    const archive = memoryStore()
    let counted = 0
    const total = tool({ name: "total", description: "", run: (_input, { state }) => `Counted ${state.get("count")}.` })
    const once = tool({ name: "once", description: "", run: (_input, { state }) => state.set("count", ++counted) })
    const model = scriptedModel([calls(call("once"), call("total"), finish())])
    const session = await createAgent({
      noTool: "continue",
      todos: true,
      compactMemory: true,
      model,
      tools: [once, total],
    }).session({ archive })
    await session.send("Go")
    await session.close()
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      compactMemory: true,
      model: scriptedModel([]),
      tools: [once, total],
    })
    const { divergence } = await replayRecording(agent, { archive, id: session.id }, { liveCalls: ["total"] })
    assert.equal(divergence, undefined)
    assert.equal(counted, 1)
  })
})
