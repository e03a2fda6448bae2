// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime, tool } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { type ModelPart, scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"
import * as z from "zod"
import { call, calls, finish } from "../../agent/tool-call-helpers.ts"

function steps(...answers: (ModelPart[] | string)[]) {
  return scriptedModel(({ messages }) => answers[messages.filter(({ role }) => role === "assistant").length] ?? [])
}

/** Tools that change the state, and how often each was called. */
function countingTools() {
  const made: string[] = []
  const add = (name: string, options: { parallel?: boolean; sideEffect?: boolean } = {}) =>
    tool({
      name,
      description: "Adds to the sum.",
      input: z.object({ amount: z.number() }),
      ...options,
      run({ amount }, { state }) {
        made.push(name)
        state.set("sum", Number(state.get("sum") ?? 0) + amount)
        return `The sum is ${state.get("sum")}.`
      },
    })
  const fails = tool({
    name: "fails",
    description: "Fails.",
    run(_input, { state }) {
      made.push("fails")
      state.set("failures", Number(state.get("failures") ?? 0) + 1)
      throw new Error("No.")
    },
  })
  const wipe = tool({ name: "wipe", description: "Wipes.", approve: true, run: () => "Wiped." })
  return { made, tools: [add("pay"), add("look", { sideEffect: false }), fails, wipe] }
}

describe("the state of tools in a durable run", () => {
  test("has the changes of a replayed call, exactly once, and the todos", async () => {
    const store = memoryStore()
    const { made, tools } = countingTools()
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      model: steps(
        calls(call("pay", { amount: 1 })),
        calls(
          call("pay", { amount: 10 }),
          call("look", { amount: 100 }),
          call("fails"),
          call("write_todos", { todos: [{ title: "Pay", status: "done" }] }),
          call("wipe"),
          call("pay", { amount: 1000 }),
        ),
        calls(finish()),
      ),
      tools,
    })
    const first = createEngine({ agents: { agent }, store, holdMs: 0 })
    const { id } = await first.submit("agent", "Go", { state: { sum: 5, note: { by: "host" } } })
    const waiting = await first.result(id)
    assert.equal(waiting.pending?.kind, "approval")
    assert.deepEqual(waiting.state, { sum: 6, note: { by: "host" } }, "as the last checkpoint has it")
    await first.close()

    await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
    await second.approve(id, waiting.pending?.id ?? "", "allow")
    const { status, state, todos } = await second.result(id)
    assert.equal(status, "done")
    assert.deepEqual({ ...state, todos: undefined }, { sum: 1116, failures: 1, note: { by: "host" }, todos: undefined })
    assert.deepEqual(
      todos.map(({ title, status }) => ({ title, status })),
      [{ title: "Pay", status: "done" }],
    )
    assert.deepEqual(
      made.filter((name) => name !== "look"),
      ["pay", "pay", "fails", "pay"],
      "what has an effect is done once",
    )
  })

  test("has the changes of a call whose worker crashed before the checkpoint", async () => {
    const kept = memoryStore()
    let isAway = false
    const store: Store = {
      ...kept,
      commit: (...given) => (isAway ? Promise.reject(new Error("away")) : kept.commit(...given)),
    }
    let paid = 0
    const pay = tool({
      name: "pay",
      description: "",
      run(_input, { state }) {
        state.set("paid", ++paid)
        return "Paid."
      },
    })
    const crash = tool({
      name: "crash",
      description: "",
      idempotent: true,
      run() {
        isAway = true
        return "Crashed."
      },
    })
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      model: steps(calls(call("pay"), call("crash")), calls(finish())),
      tools: [pay, crash],
    })
    const first = createEngine({ agents: { agent }, store, leaseMs: 50, backend: inlineBackend({ onError() {} }) })
    const { id } = await first.submit("agent", "Go")
    await first.work()
    while (!isAway) await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    await using second = createEngine({ agents: { agent }, store: kept, leaseMs: 50 })
    await second.recover()
    const { state } = await second.result(id)
    assert.deepEqual(state, { paid: 1 })
    assert.equal(paid, 1)
  })

  test("has the changes of tools that cells call", async () => {
    const store = memoryStore()
    const { made, tools } = countingTools()
    const [pay] = tools
    assert.ok(pay)
    const wipe = fn(() => "wiped", { approve: true })
    const agent = createAgent({
      model: steps("```ts\nawait pay({ amount: 1 }); await wipe(); await pay({ amount: 2 })\n```\n", "Done."),
      runtime: () => jsRuntime({ pay, wipe }),
    })
    const first = createEngine({ agents: { agent }, store, holdMs: 0 })
    const { id } = await first.submit("agent", "Go")
    const { pending } = await first.result(id)
    await first.close()
    await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
    await second.approve(id, pending?.id ?? "", "allow")
    assert.deepEqual((await second.result(id)).state, { sum: 3 })
    assert.deepEqual(made, ["pay", "pay"])
  })

  test("of one run is that of the next run of the session, which may set values of its own", async () => {
    const store = memoryStore()
    const { tools } = countingTools()
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      model: steps(calls(call("pay", { amount: 1 }), finish()), calls(call("pay", { amount: 2 }), finish())),
      tools,
    })
    await using engine = createEngine({ agents: { agent }, store })
    const one = await engine.submit("agent", "One", { session: "s", state: { kept: true } })
    await engine.result(one.id)
    const two = await engine.submit("agent", "Two", { session: "s", state: { sum: 10 } })
    assert.deepEqual((await engine.result(two.id)).state, { kept: true, sum: 12 })
  })

  test("has the changes of a cycle that failed, in the result and in the next run of the session", async () => {
    const { tools } = countingTools()
    let isBroken = true
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      model: steps(calls(call("pay", { amount: 1 })), calls(call("pay", { amount: 2 }), finish())),
      tools,
      hooks: [{ afterCycle: () => assert.ok(!isBroken) }],
    })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const one = await engine.submit("agent", "One", { session: "s" })
    const failed = await engine.result(one.id)
    assert.equal(failed.status, "failed")
    assert.deepEqual(failed.state, { sum: 1 })
    isBroken = false
    const two = await engine.submit("agent", "Two", { session: "s" })
    assert.deepEqual((await engine.result(two.id)).state, { sum: 3 })
  })

  test("has the changes of a cycle that failed once when the run is retried", async () => {
    const { made, tools } = countingTools()
    let isBroken = true
    const agent = createAgent({
      noTool: "continue",
      todos: true,
      model: steps(calls(call("pay", { amount: 1 })), calls(call("pay", { amount: 2 }), finish())),
      tools,
      hooks: [{ afterCycle: () => assert.ok(!isBroken) }],
    })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "One")
    assert.equal((await engine.result(id)).status, "failed")
    isBroken = false
    await engine.retry(id)
    assert.deepEqual((await engine.result(id)).state, { sum: 3 })
    assert.deepEqual(made, ["pay", "pay"])
  })

  test("is refused by submit where it is not JSON, before anything is stored", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: createAgent({ model: scriptedModel([]) }) }, store })
    const state = { when: new Date(0) }
    // As from plain JavaScript.
    const submit = Reflect.apply(engine.submit, engine, ["agent", "Go", { state }])
    await assert.rejects(submit, /^ConfigError: state\.when is not JSON: Date/)
    assert.deepEqual(await Array.fromAsync(store.keys("")), [])
  })
})
