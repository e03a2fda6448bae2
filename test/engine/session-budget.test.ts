// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, tool } from "karst"
import { createEngine, type Engine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"

const usage = { input: 100, output: 10, cacheRead: 60, complete: true }

function countingAgent(price?: { input: number; output: number }) {
  const model = scriptedModel(({ messages }) => `answer ${messages.length}`, { usage, price })
  return { model, agent: createAgent({ model, runtime: () => jsRuntime() }) }
}

async function send(engine: Engine<"agent">, prompt: string, options: object = {}) {
  return engine.result((await engine.submit("agent", prompt, { session: "user-42", ...options })).id)
}

const engineOn = (store: Store, agent = countingAgent().agent) => createEngine({ agents: { agent }, store })

describe("the budget of a session of the engine", () => {
  test("counts all its runs, also those of other processes, and stops the ones after it before they ask", async () => {
    const store = memoryStore()
    const budget = { tokens: 200 }
    await using first = engineOn(store)
    assert.equal((await send(first, "One", { budget })).status, "done")
    await first.close()
    const { model, agent } = countingAgent()
    await using second = engineOn(store, agent)
    assert.equal((await send(second, "Two", { budget })).status, "done")
    const third = await send(second, "Three", { budget })
    assert.deepEqual(
      [third.status, third.reason, third.detail],
      ["stopped", "tokens", "The budget of the session is used up: tokens."],
    )
    assert.equal(model.requests.length, 1)
    // The prompt that was not sent is not part of the conversation.
    assert.equal(third.messages.length, 4)
  })

  test("holds for later runs without one, until a run gives another", async () => {
    await using engine = engineOn(memoryStore())
    assert.equal((await send(engine, "One", { budget: { cycles: 1 } })).status, "done")
    const second = await send(engine, "Two")
    assert.deepEqual([second.status, second.reason], ["stopped", "cycles"])
    assert.equal((await send(engine, "Three", { budget: { cycles: 2 } })).status, "done")
    assert.equal((await send(engine, "Four")).status, "stopped")
    assert.equal((await send(engine, "Five", { budget: {} })).status, "done")
    assert.equal((await send(engine, "Six")).status, "done")
  })

  test("does not limit other sessions, nor the same name of another agent", async () => {
    const { agent } = countingAgent()
    await using engine = createEngine({ agents: { agent, other: agent }, store: memoryStore() })
    await engine.result((await engine.submit("agent", "One", { session: "a", budget: { cycles: 1 } })).id)
    for (const [name, session] of [
      ["agent", "b"],
      ["other", "a"],
    ] as const) {
      const { id } = await engine.submit(name, "Two", { session })
      assert.equal((await engine.result(id)).status, "done")
    }
  })

  test("stops a run that reaches it between two cycles, and counts a run that failed", async () => {
    const lookup = tool({ name: "lookup", description: "Looks something up.", run: () => "found" })
    let isBroken = false
    const model = scriptedModel(
      () => {
        if (isBroken) throw new Error("no model")
        return [{ type: "tool-call", id: "c", name: "lookup", input: {} }]
      },
      { usage },
    )
    const hooks = {
      afterCycle() {
        isBroken = true
      },
    }
    const agent = createAgent({ model, tools: [lookup], hooks })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const budget = { uncachedTokens: 120 }
    assert.equal((await send(engine, "One", { budget })).status, "failed")
    isBroken = false
    assert.equal((await send(engine, "Two")).status, "failed")
    isBroken = false
    const third = await send(engine, "Three")
    assert.deepEqual([third.status, third.reason, third.cycles], ["stopped", "uncached-tokens", 1])
  })

  test("is shown with the queue of the session: what later runs may still use", async () => {
    await using engine = engineOn(memoryStore())
    assert.equal((await engine.queue("agent", "user-42")).budgetLeft, undefined)
    await send(engine, "One", { budget: { tokens: 500, cycles: 9 } })
    assert.deepEqual((await engine.queue("agent", "user-42")).budgetLeft, { tokens: 390, cycles: 8 })
    await send(engine, "Two", { budget: { cycles: 3 } })
    assert.deepEqual((await engine.queue("agent", "user-42")).budgetLeft, { cycles: 1 })
  })

  test("of a run that was aborted before it began holds as well", async () => {
    const gate = Promise.withResolvers<string>()
    const model = scriptedModel(() => () => gate.promise, { usage })
    await using engine = engineOn(memoryStore(), createAgent({ model, runtime: () => jsRuntime() }))
    const first = await engine.submit("agent", "One", { session: "user-42" })
    const second = await engine.submit("agent", "Two", { session: "user-42", budget: { cycles: 1 } })
    await engine.abort(second.id)
    gate.resolve("done")
    await engine.result(first.id)
    assert.equal((await send(engine, "Three")).status, "stopped")
  })

  test("needs a session, a known price for a cost, and known names", async () => {
    await using engine = engineOn(memoryStore())
    await assert.rejects(engine.submit("agent", "One", { budget: { tokens: 1 } }), /budget: .*session/)
    await assert.rejects(
      engine.submit("agent", "One", { session: "s", budget: { costUsd: 1 } }),
      /budget\.costUsd: the price of "scripted\/model" is not known/,
    )
    const wrong: object = { session: "s", budget: { token: 1 } }
    await assert.rejects(engine.submit("agent", "One", wrong), /token/)
    await using priced = engineOn(memoryStore(), countingAgent({ input: 10_000, output: 0 }).agent)
    await send(priced, "One", { budget: { costUsd: 1.5 } })
    assert.equal((await send(priced, "Two")).status, "done")
    assert.equal((await send(priced, "Three")).reason, "cost")
  })
})

describe("limits that the agent cannot keep", () => {
  test("are refused by submit", async () => {
    await using engine = engineOn(memoryStore())
    await assert.rejects(engine.submit("agent", "One", { limits: { costUsd: 1 } }), /limits\.costUsd: the price/)
    assert.deepEqual(await Array.fromAsync(engine.list()), [])
  })

  test("fail a run that a worker with another model takes", async () => {
    const store = memoryStore()
    const { agent } = countingAgent({ input: 1, output: 1 })
    await using submitter = createEngine({
      agents: { agent },
      store,
      backend: { push: async () => undefined, start: async () => async () => undefined, countQueued: async () => 0 },
    })
    const { id } = await submitter.submit("agent", "One", { limits: { costUsd: 1 } })
    await using worker = engineOn(store)
    await worker.recover()
    const { status, error } = await worker.result(id)
    assert.equal(status, "failed")
    assert.match(error?.message ?? "", /limits\.costUsd: the price of "scripted\/model" is not known/)
  })
})
