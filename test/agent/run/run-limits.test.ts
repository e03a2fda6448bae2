import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
const usage = { input: 100, output: 20, complete: true }

describe("limits", () => {
  test("stop a run that does not come to an end, after ten cycles unless told otherwise", async () => {
    const model = scriptedModel(() => cell("1"))
    const result = await createAgent({ model }).run("loop")
    assert.equal(result.status, "stopped")
    assert.equal(result.reason, "cycles")
    assert.equal(result.cycles, 10)
    assert.equal((await createAgent({ model, limits: { cycles: 3 } }).run("loop")).cycles, 3)
  })

  test("give the last text the model wrote as the output of a stopped run, awaited or read", async () => {
    const model = scriptedModel(() => `Working on it.\n${cell("1")}`)
    const run = createAgent({ model, limits: { cycles: 2 } }).run("loop")
    const events = await Array.fromAsync(run)
    const end = events.at(-1)
    assert.equal(end?.type === "run-end" && end.output, "Working on it.")
    assert.equal((await run).output, "Working on it.")
  })

  test("let the cycle that crosses the token limit complete, and count it", async () => {
    const model = scriptedModel(() => cell("1"), { usage })
    const result = await createAgent({ model, limits: { tokens: 200 } }).run("loop")
    assert.equal(result.reason, "tokens")
    assert.equal(result.cycles, 2)
    assert.deepEqual(result.usage, { input: 200, output: 40, complete: true })
    assert.equal(result.messages.at(-1)?.role, "result")
  })

  test("count the cost in dollars", async () => {
    const model = scriptedModel(() => cell("1"), {
      usage: { input: 1_000_000, output: 0, complete: true },
      price: { input: 1, output: 1 },
    })
    const result = await createAgent({ model, limits: { costUsd: 2.5 } }).run("loop")
    assert.equal(result.reason, "cost")
    assert.equal(result.usage.costUsd, 3)
  })

  test("stop before the first cycle when no time is given", async () => {
    const model = scriptedModel(["never asked"])
    const result = await createAgent({ model, limits: { timeMs: 0 } }).run("go")
    assert.equal(result.status, "stopped")
    assert.equal(result.reason, "time")
    assert.equal(result.cycles, 0)
    assert.equal(model.requests.length, 0)
  })

  test("stop a cell that is under way when the time is over, with its result in the history", async () => {
    const model = scriptedModel([cell("await forever()"), "never"])
    const runtime = jsRuntime({ forever: () => new Promise(() => undefined) })
    const result = await createAgent({ model, runtime, limits: { timeMs: 40 } }).run("wait")
    assert.equal(result.status, "stopped")
    assert.equal(result.reason, "time")
    assert.equal(result.messages.at(-1)?.role, "result")
  })

  test("stop a model that is silent when the time is over", async () => {
    const model = scriptedModel(() => new Promise<string>(() => undefined))
    const result = await createAgent({ model, limits: { timeMs: 40 } }).run("hello")
    assert.equal(result.reason, "time")
  })

  test("do not count the time a person takes to answer", async () => {
    let now = 0
    const model = scriptedModel([cell("await wipe()"), "ok"])
    const { fn } = await import("../../../src/runtime/bindings.ts")
    const runtime = jsRuntime({ wipe: fn(() => "wiped", { approve: true }) })
    const agent = createAgent({
      model,
      runtime,
      now: () => now,
      limits: { timeMs: 1000 },
      approver: () => {
        now += 3_600_000
        return true
      },
    })
    const result = await agent.run("wipe it")
    assert.equal(result.status, "done")
  })
})

describe("usage", () => {
  test("is summed over every cycle, those with only code included", async () => {
    const model = scriptedModel([cell("1"), cell("2"), "ok"], { usage })
    const result = await createAgent({ model }).run("go")
    assert.deepEqual(result.usage, { input: 300, output: 60, complete: true })
  })

  test("is estimated and marked incomplete when the provider gives none", async () => {
    const result = await createAgent({ model: scriptedModel(["A fairly short answer."]) }).run("go")
    assert.equal(result.usage.complete, false)
    assert.ok((result.usage.input ?? 0) > 100)
    assert.ok((result.usage.output ?? 0) >= 4)
  })

  test("is read from the last chunk, after the block that ends the turn", async () => {
    const model = scriptedModel([`${cell("1")}A few more words.`, "ok"], { usage, chunkChars: 3 })
    const result = await createAgent({ model }).run("go")
    assert.deepEqual(result.usage, { input: 200, output: 40, complete: true })
  })

  test("is estimated when the model talks on for more than 200 tokens after its block, which is then cut", async () => {
    let told = 0
    const model = scriptedModel(
      [
        [
          { type: "text", text: cell("1") },
          ...Array.from({ length: 400 }, () => ({ type: "text", text: "and so on and on " }) as const),
        ],
        "ok",
      ],
      { usage },
    )
    const counting = { ...model, stream: (request: Parameters<typeof model.stream>[0]) => count(model.stream(request)) }
    async function* count<T>(parts: AsyncIterable<T>) {
      for await (const part of parts) {
        told++
        yield part
      }
    }
    const result = await createAgent({ model: counting }).run("go")
    assert.equal(result.status, "done")
    assert.equal(result.usage.complete, false)
    assert.ok(told < 100, `${told} parts were read`)
  })
})
