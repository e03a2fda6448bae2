// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { updateHead } from "../../../src/engine/checkpoint.ts"
import { claimedHead } from "../../../src/engine/run/claim-run.ts"

const elsewhere = { id: "worker_1", host: "elsewhere", pid: 1 }

test("a run whose worker died on another machine goes on once that has been silent for its lease", async () => {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(() => "Done."), runtime: () => jsRuntime() })
  // This backend is never started: the engine only submits.
  await using submitting = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await submitting.submit("agent", "Go")
  await updateHead(store, id, (head) => ({ head: claimedHead(head, { owner: elsewhere, leaseMs: 100 }) }))
  await using engine = createEngine({ agents: { agent }, store, leaseMs: 100 })
  // The first check cannot know yet that the worker is gone; the engine checks again by itself.
  assert.deepEqual(await engine.recover(), [])
  assert.equal((await engine.result(id)).output, "Done.")
})

test("a run that a queue has lost goes on without being asked for", async () => {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(() => "Done."), runtime: () => jsRuntime() })
  await using losing = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await losing.submit("agent", "Go")
  await using engine = createEngine({ agents: { agent }, store, leaseMs: 100 })
  await engine.work()
  assert.equal((await engine.result(id)).output, "Done.")
})

test("an idle host works on a run that another process has submitted, without waiting for a lease", async () => {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(["Done."]), runtime: () => jsRuntime() })
  // A lease of an hour: the host finds the run only because it looks for runs that others have queued.
  await using host = createEngine({ agents: { agent }, store, backend: inlineBackend(), leaseMs: 3_600_000 })
  await host.work()
  await using front = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await front.submit("agent", "Go")
  assert.equal((await front.result(id)).output, "Done.")
})

test("a host that has recovered nothing works on a run that another process submits later", async () => {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(["Done."]), runtime: () => jsRuntime() })
  await using host = createEngine({ agents: { agent }, store, leaseMs: 3_600_000 })
  assert.deepEqual(await host.recover(), [])
  await using front = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await front.submit("agent", "Go")
  assert.equal((await front.result(id)).output, "Done.")
})

test("a host leaves runs of agents that it does not have to the engines that have them", async () => {
  const store = memoryStore()
  const agentOf = (answer: string) => createAgent({ model: scriptedModel([answer]), runtime: () => jsRuntime() })
  await using front = createEngine({ agents: { one: agentOf("One.") }, store, backend: inlineBackend() })
  const { id } = await front.submit("one", "Go")
  await using other = createEngine({ agents: { two: agentOf("Two.") }, store })
  // The run of `two` is found by the look that also sees the run of `one`.
  await using feeder = createEngine({ agents: { two: agentOf("Never.") }, store, backend: inlineBackend() })
  await other.work()
  const two = await feeder.submit("two", "Go")
  assert.equal((await other.result(two.id)).output, "Two.")
  assert.equal((await front.get(id))?.refused, undefined)
})
