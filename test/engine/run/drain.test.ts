// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"

test("an engine that drains does not hold a cell that waits for an approval", async () => {
  const store = memoryStore()
  const done: string[] = []
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait prepare()\nawait wipe()\n```", "Wiped."]),
    runtime: () =>
      jsRuntime({ prepare: fn(() => done.push("prepared")), wipe: fn(() => done.push("wiped"), { approve: true }) }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: Infinity })
  const { id } = await first.submit("agent", "Go")
  while (!(await first.get(id))?.pending) await new Promise((resolve) => setImmediate(resolve))
  const hasWorker = async () => (JSON.stringify(await store.get(`runs/${id}`)) ?? "").includes('"lease"')
  assert.ok(await hasWorker())
  await first.close()
  assert.ok(!(await hasWorker()))
  const left = await first.get(id)
  assert.equal(left?.status, "waiting")
  assert.equal(left?.pending?.kind, "approval")

  await using second = createEngine({ agents: { agent }, store })
  await second.approve(id, left?.pending?.id ?? "", "allow")
  assert.equal((await second.result(id)).output, "Wiped.")
  assert.deepEqual(done, ["prepared", "wiped"])
})
