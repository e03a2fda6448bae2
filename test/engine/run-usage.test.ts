// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import { createAgent, jsRuntime, ModelError, tool } from "karst"
import { createEngine } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { askTool } from "karst/tools"

const price = { input: 1, output: 10 }
const usage = { input: 1000, output: 100, complete: true }
const costUsd = 0.002

const lookUp: ScriptedStep = [{ type: "tool-call", id: "c1", name: "lookup", input: {} }]

describe("a run shows what it has used", () => {
  test("in get and list: tokens, cost and calls, the same as in its result", async () => {
    const model = scriptedModel(["```ts\nadd(1, 2)\nadd(3, 4)\n```\n", "done"], { price, usage })
    const agent = createAgent({ model, runtime: () => jsRuntime({ add: (a: number, b: number) => a + b }) })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Add.")
    const result = await engine.result(id)
    const info = await engine.get(id)
    assert.deepEqual(info?.usage, { input: 2000, output: 200, costUsd: 2 * costUsd, complete: true })
    assert.deepEqual(info?.usage, result.usage)
    assert.equal(info?.calls, 2)
    const [listed] = await Array.fromAsync(engine.list())
    assert.deepEqual(listed, info)
  })

  test("while it waits, and before it began", async () => {
    const ask: ScriptedStep = [{ type: "tool-call", id: "c1", name: "ask", input: { question: "Why?" } }]
    const model = scriptedModel([ask], { price, usage })
    const agent = createAgent({ model, tools: [askTool()] })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const first = await engine.submit("agent", "Ask.", { session: "s" })
    assert.equal((await engine.result(first.id)).status, "waiting")
    assert.equal((await engine.get(first.id))?.usage.costUsd, costUsd)
    const queued = await engine.submit("agent", "Then this.", { session: "s" })
    const info = await engine.get(queued.id)
    assert.deepEqual([info?.usage, info?.calls], [{ complete: true }, 0])
  })

  test("after it failed, with the cycle that failed", async () => {
    const lookup = tool({ name: "lookup", description: "Looks something up.", run: () => "found" })
    const model = scriptedModel([lookUp, lookUp, "done"], { price, usage })
    let cycles = 0
    const hooks = {
      afterCycle() {
        if (++cycles === 2) throw new Error("no disk")
      },
    }
    const agent = createAgent({ model, tools: [lookup], hooks })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Look.")
    const result = await engine.result(id)
    assert.equal(result.status, "failed")
    const info = await engine.get(id)
    assert.deepEqual(info?.usage, result.usage)
    assert.equal(info?.usage.costUsd, 2 * costUsd)
    assert.equal(info?.calls, 2)
    // A retry continues from the last saved cycle, and counts the recorded answer of the failed one once.
    cycles = 10
    await engine.retry(id)
    await engine.result(id)
    assert.equal((await engine.get(id))?.usage.costUsd, (await engine.result(id)).usage.costUsd)
  })

  test("after it was aborted while a worker had a cycle under way, with the cycles before", async () => {
    const asked = Promise.withResolvers<void>()
    const steps: ScriptedStep[] = [
      "```ts\nconst x = 1\n```\n",
      async ({ signal }) => {
        asked.resolve()
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
        return "never"
      },
    ]
    const agent = createAgent({ model: scriptedModel(steps, { price, usage }), runtime: () => jsRuntime() })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Begin.")
    await asked.promise
    await engine.abort(id)
    const info = await engine.get(id)
    assert.deepEqual(info?.usage, (await engine.result(id)).usage)
    assert.equal(info?.usage.input, 1000)
  })

  test("after a retry, with the answers that broke off before it", async () => {
    for (const retryable of [true, false]) {
      const broken = retryable
        ? new ModelError("The stream broke off.", { code: "connection", retryable })
        : new Error("The stream broke off.")
      const cut: ScriptedStep = [{ type: "text", text: "Half an answer" }, broken]
      // An answer that fails before its first part uses nothing.
      const steps = retryable ? [broken, cut, cut, "done"] : [cut, "done"]
      const agent = createAgent({ model: scriptedModel(steps, { price, usage }), runtime: () => jsRuntime() })
      const retry = { firstDelayMs: 1 }
      await using engine = createEngine({ agents: { agent }, store: memoryStore(), retry })
      const { id } = await engine.submit("agent", "Begin.", { session: "s", budget: { tokens: 100_000 } })
      const first = await engine.result(id)
      if (!retryable) {
        assert.equal(first.status, "failed")
        await engine.retry(id)
      }
      const result = await engine.result(id)
      assert.equal(result.status, "done")
      assert.equal(result.usage.complete, false)
      const { input = 0, output = 0 } = result.usage
      assert.ok(input > 1000 && output > 100, JSON.stringify(result.usage))
      assert.deepEqual((await engine.get(id))?.usage, result.usage)
      assert.equal((await engine.queue("agent", "s")).budgetLeft?.tokens, 100_000 - input - output)
    }
  })

  test("after it was aborted while it waited for a retry, as incomplete", async () => {
    const broken = new ModelError("The stream broke off.", { code: "connection", retryable: true })
    const model = scriptedModel(() => [{ type: "text", text: "Half an answer" }, broken], { price, usage })
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    await using engine = createEngine({ agents: { agent }, store: memoryStore(), retry: { firstDelayMs: 1_000_000 } })
    const { id } = await engine.submit("agent", "Begin.")
    while ((await engine.get(id))?.retryAt === undefined) await setImmediate()
    await engine.abort(id)
    assert.equal((await engine.result(id)).usage.complete, false)
  })
})
