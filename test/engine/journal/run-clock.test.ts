// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"

test("a clock that is set in the middle of a run neither uses up its time nor gives it more", async (context) => {
  const realNow = Date.now
  let offset = 0
  Date.now = () => realNow() + offset
  context.after(() => (Date.now = realNow))
  const hour = 3_600_000
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait set(1)\n```", "```ts\nawait set(-1)\n```", "Done."]),
    runtime: () => jsRuntime({ set: fn(async (hours: number) => (offset = hours * hour)) }),
    limits: { timeMs: 60_000 },
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  const { status, output } = await engine.result(id)
  assert.deepEqual([status, output], ["done", "Done."])
})
