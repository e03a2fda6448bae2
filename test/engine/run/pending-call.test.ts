// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"

const long = "x".repeat(1000)
const code = `\`\`\`ts\nawait wipe("${long}", { deep: [{ end: "here\\u202e" }] })\n\`\`\``

const agentThat = (answers: string[]) =>
  createAgent({
    model: scriptedModel(answers),
    runtime: () => jsRuntime({ wipe: fn(() => "wiped", { approve: true }) }),
  })

const isWhole = (text: string | undefined) => {
  assert.ok(text?.includes(long))
  assert.match(text ?? "", /end: "here\\u\{202e\}"/)
}

test("the whole call that a durable run waits with is read from any process, until it is answered", async () => {
  const store = memoryStore()
  const agent = agentThat([code, "Wiped."])
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  assert.ok(pending?.kind === "approval")
  assert.ok(pending.call.args.length <= 200)
  await first.close()
  const second = createEngine({ agents: { agent }, store, holdMs: 0 })
  isWhole(await second.pendingCall(id, pending.id))
  assert.equal(await second.pendingCall(id, "other"), undefined)
  await second.approve(id, pending.id, "allow")
  await second.result(id)
  assert.equal(await second.pendingCall(id, pending.id), undefined)
  assert.deepEqual(await Array.fromAsync(store.keys(`runs/${id}/calls/`)), [])
  await second.close()
})

for (const [how, end] of [
  ["aborted", (engine: ReturnType<typeof createEngine>, id: string) => engine.abort(id)],
  ["deleted", (engine: ReturnType<typeof createEngine>, id: string) => engine.delete(id)],
] as const) {
  test(`nothing of the call is left when the run is ${how}`, async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: agentThat([code]) }, store, holdMs: 0 })
    const { id } = await engine.submit("agent", "Go")
    await engine.result(id)
    assert.equal((await Array.fromAsync(store.keys(`runs/${id}/calls/`))).length, 1)
    await end(engine, id)
    assert.deepEqual(await Array.fromAsync(store.keys(`runs/${id}/calls/`)), [])
  })
}

test("the whole call is answered within its time and then gone from the store", async () => {
  const store = memoryStore()
  await using engine = createEngine({ agents: { agent: agentThat([code, "Wiped."]) }, store })
  const { id } = await engine.submit("agent", "Go")
  let pending: string | undefined
  while (pending === undefined) {
    await new Promise((resolve) => setImmediate(resolve))
    pending = (await engine.get(id))?.pending?.id
  }
  isWhole(await engine.pendingCall(id, pending))
  await engine.approve(id, pending, "allow")
  await engine.result(id)
  assert.deepEqual(await Array.fromAsync(store.keys(`runs/${id}/calls/`)), [])
})

test("who reads the events of a run can read the whole call until it is answered", async () => {
  const run = agentThat([code, "Wiped."]).run("Go", { approver: "events" })
  const texts: (string | undefined)[] = []
  for await (const event of run) {
    if (event.type === "approval-requested") {
      texts.push(run.pendingCall(event.id))
      run.approve(event.id, "allow")
    }
    if (event.type === "approval-resolved") texts.push(run.pendingCall(event.id))
  }
  isWhole(texts[0])
  assert.deepEqual(texts.slice(1), [undefined])
})
