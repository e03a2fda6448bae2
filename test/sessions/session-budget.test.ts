import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { cell } from "./session-fixtures.ts"

const usage = { input: 90, output: 10, complete: true }
const price = { input: 1000, output: 1000 }

describe("the budget of a session", () => {
  test("stops the run that reaches it, and every later run before it asks the model", async () => {
    const model = scriptedModel(() => cell("1"), { usage })
    const agent = createAgent({ model })
    await using session = await agent.session({ budget: { tokens: 250 } })
    const first = await session.send("One", { limits: { cycles: 2 } })
    assert.deepEqual([first.status, first.reason, first.detail], ["stopped", "cycles", undefined])
    const second = await session.send("Two")
    assert.deepEqual([second.status, second.reason, second.cycles], ["stopped", "tokens", 1])
    assert.equal(second.detail, "The budget of the session is used up: tokens.")
    const third = await session.send("Three")
    assert.deepEqual([third.status, third.reason, third.cycles], ["stopped", "tokens", 0])
    assert.equal(third.messages.length, second.messages.length, "the prompt is not stored")
    assert.equal(model.requests.length, 3)
  })

  test("counts cycles and cost in the same way", async () => {
    const model = scriptedModel(() => cell("1"), { usage, price })
    const agent = createAgent({ model })
    await using cycles = await agent.session({ budget: { cycles: 3 } })
    assert.partialDeepStrictEqual(await cycles.send("Go"), { reason: "cycles", cycles: 3 })
    await using cost = await agent.session({ budget: { costUsd: 0.15 } })
    assert.partialDeepStrictEqual(await cost.send("Go"), { reason: "cost", cycles: 2 })
    await using cached = await agent.session({ budget: { uncachedTokens: 150 } })
    assert.partialDeepStrictEqual(await cached.send("Go"), { reason: "uncached-tokens", cycles: 2 })
  })

  test("can be read: what is left for later runs, also after a restart", async () => {
    const archive = memoryStore()
    const agent = createAgent({ model: scriptedModel(() => "Hi.", { usage }) })
    const open = () => agent.session({ id: "user-42", archive, budget: { tokens: 250, cycles: 2 } })
    {
      await using session = await open()
      assert.deepEqual(session.budgetLeft(), { tokens: 250, cycles: 2 })
      await session.send("One")
      assert.deepEqual(session.budgetLeft(), { tokens: 150, cycles: 1 })
    }
    await using session = await open()
    await session.send("Two")
    assert.deepEqual(session.budgetLeft(), { tokens: 50, cycles: 0 })
    await using free = await agent.session()
    assert.equal(free.budgetLeft(), undefined)
  })

  test("includes the runs of an earlier process, and can be raised", async () => {
    const archive = memoryStore()
    const agent = createAgent({ model: scriptedModel(() => "Hi.", { usage }) })
    const open = (tokens: number) => agent.session({ id: "user-42", archive, budget: { tokens } })
    {
      await using session = await open(100)
      assert.equal((await session.send("One")).status, "done")
    }
    {
      await using session = await open(100)
      assert.equal((await session.send("Two")).status, "stopped")
    }
    await using session = await open(200)
    assert.equal((await session.send("Three")).status, "done")
    assert.equal((await session.send("Four")).status, "stopped")
  })

  test("includes what the runs of sub-agents use, and stops them too", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel(() => cell("1"), { usage }) })
    const agent = createAgent({
      model: scriptedModel([cell("(await helper.ask('x'))"), "Done."], { usage }),
      runtime: () => jsRuntime({ helper: { ask: async (text: string) => (await helper.run(text)).reason } }),
    })
    await using session = await agent.session({ budget: { tokens: 400 } })
    const { status, reason, usage: used } = await session.send("Go")
    assert.deepEqual([status, reason, (used.input ?? 0) + (used.output ?? 0)], ["stopped", "tokens", 400])
  })

  test("applies to runs that wait in the queue", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hi.", { usage }) })
    await using session = await agent.session({ budget: { tokens: 200 } })
    const runs = ["a", "b", "c", "d"].map((prompt) => session.send(prompt))
    assert.deepEqual(
      (await Promise.all(runs)).map(({ status }) => status),
      ["done", "done", "stopped", "stopped"],
    )
  })

  test("goes with a fork, together with what was used before", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hi.", { usage }), runtime: () => jsRuntime({}) })
    await using session = await agent.session({ budget: { tokens: 200 } })
    await session.send("One")
    await using fork = (await session.fork?.()) ?? assert.fail("no fork")
    assert.equal((await fork.send("Two")).status, "done")
    assert.equal((await fork.send("Three")).status, "stopped")
    assert.equal((await session.send("Two")).status, "done")
  })

  test("needs a model whose price is known for costUsd", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hi.") })
    await assert.rejects(agent.session({ budget: { costUsd: 1 } }), /^ConfigError: budget\.costUsd: the price of/)
  })
})
