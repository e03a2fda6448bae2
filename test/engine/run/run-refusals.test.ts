// test lane: durable
import assert from "node:assert/strict"
import { once } from "node:events"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"

describe("a run whose agent has changed", () => {
  test("is refused once by each engine, however often that looks for work", async () => {
    const { store, id } = await begun()
    await using engine = createEngine({ agents: { agent: agentWith("other") }, store })
    assert.deepEqual(await engine.recover(), [id])
    await assert.rejects(engine.result(id), { code: "config", message: /the binding "call" is gone/ })
    for (let times = 0; times < 3; times++) assert.deepEqual(await engine.recover(), [])
    const events = await Array.fromAsync(store.read(`runs/${id}/events`))
    assert.equal(JSON.stringify(events).split("run-refused").length - 1, 1)
    assert.match((await engine.get(id))?.refused ?? "", /allowChanged: true/)
  })

  test("is not taken for refused while another engine goes on with it", async () => {
    const { store, id } = await begun()
    await using unfit = createEngine({ agents: { agent: agentWith("other") }, store })
    await unfit.recover()
    await assert.rejects(unfit.result(id))
    await using fit = createEngine({ agents: { agent: agentWith("call") }, store })
    assert.deepEqual(await fit.recover(), [id])
    assert.equal((await fit.get(id))?.refused, undefined)
    assert.equal((await fit.result(id)).output, "Called twice.")
  })
})

test("an engine without a store, or with a time that is none, is refused at once", () => {
  const agents = { agent: agentWith("call") }
  assert.throws(() => createEngine({ agents } as never), { code: "config", message: /needs a store/ })
  for (const leaseMs of [-1, 0, Number.NaN, "30s" as never]) {
    assert.throws(() => createEngine({ agents, store: memoryStore(), leaseMs }), {
      message: /`leaseMs` is not a whole number/,
    })
  }
})

/** A run that was left after its first cycle. */
async function begun(): Promise<{ store: Store; id: string }> {
  const store = memoryStore()
  const engine = createEngine({ agents: { agent: agentWith("call", () => void engine.drain()) }, store })
  const { id } = await engine.submit("agent", "Call twice")
  for await (const event of engine.watch(id)) if (event.type === "cycle-end") break
  await engine.close()
  return { store, id }
}

function agentWith(name: string, call = () => undefined as unknown) {
  const steps = ["```ts\nawait call()\n```\n", "```ts\nawait call()\n```\n", "Called twice."]
  return createAgent({
    model: scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? ""),
    runtime: () => jsRuntime({ [name]: fn(call) }),
  })
}

test("a run that cannot be read does not keep others from being found, and is told of", async () => {
  const { store, id } = await begun()
  const newer = { version: 2, id: "run_newer" }
  await store.commit([
    { type: "put", key: "runs/run_newer", value: newer },
    { type: "put", key: "status/under-way/run_newer", value: 0 },
  ])
  const warned = once(process, "warning")
  await using engine = createEngine({ agents: { agent: agentWith("call") }, store })
  assert.deepEqual(await engine.recover(), [id])
  assert.match(String((await warned)[0]), /run_newer was saved by another version of Karst/)
  assert.equal((await engine.result(id)).status, "done")
  await assert.rejects(engine.get("run_newer"), { code: "version" })
})
