// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, messageText } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store, sqliteStore } from "karst/stores"
import { runKeys, updateHead } from "../../src/engine/checkpoint.ts"
import { claimedHead } from "../../src/engine/run/claim-run.ts"
import { createOwner } from "../../src/engine/run/run-owner.ts"

const talker = () => createAgent({ model: scriptedModel(() => "Hello."), runtime: () => jsRuntime() })

describe("submit with a key", () => {
  test("that another prompt or session has used is a ConflictError", async () => {
    await using engine = createEngine({ agents: { agent: talker() }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Pay 5", { key: "order-1" })
    await assert.rejects(engine.submit("agent", "Pay 6", { key: "order-1" }), {
      name: "ConflictError",
      retryable: false,
      message: new RegExp(`"order-1" was used for run ${id} with another prompt`),
    })
    await assert.rejects(engine.submit("agent", "Pay 5", { key: "order-1", session: "s" }), /another session/)
    assert.deepEqual(await engine.submit("agent", "Pay 5", { key: "order-1" }), { id })
  })

  for (const session of [undefined, "s"]) {
    test(`twice at once is one run, ${session ? "with" : "without"} a session`, async () => {
      const store = memoryStore()
      const engines = [1, 2, 3].map(() => createEngine({ agents: { agent: talker() }, store }))
      const submitted = engines.map((engine) => engine.submit("agent", "Go", { key: "k", session }))
      const ids = new Set((await Promise.all(submitted)).map(({ id }) => id))
      assert.equal(ids.size, 1)
      assert.equal((await Array.fromAsync(store.keys("status/"))).length, 1)
      await Promise.all(engines.map((engine) => engine.close()))
    })
  }

  for (const [name, open] of Object.entries({
    sqliteStore: (folder: string) => sqliteStore(join(folder, "karst.db"), { sync: false }),
  })) {
    test(`twice at once is one run, and with another prompt a conflict, in ${name} opened several times`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "karst-submit-"))
      const stores = [1, 2, 3].map(() => open(folder))
      const engines = stores.map((store) => createEngine({ agents: { agent: talker() }, store }))
      for (const session of [undefined, "s"]) {
        const key = `k-${session ?? "none"}`
        const submitted = engines.map((engine) => engine.submit("agent", "Go", { key, session }))
        assert.equal(new Set((await Promise.all(submitted)).map(({ id }) => id)).size, 1)
        const other = engines.map((engine) => engine.submit("agent", "Stop", { key, session }))
        for (const each of await Promise.allSettled(other)) {
          assert.equal(each.status === "rejected" && each.reason instanceof Error && each.reason.name, "ConflictError")
        }
      }
      await Promise.all(engines.map((engine) => engine.close()))
      await Promise.all(stores.map((store) => store.close()))
      rmSync(folder, { recursive: true, force: true })
    })
  }

  test("whose first process ended before the run was stored stores it", async () => {
    const store = memoryStore()
    await store.commit([{ type: "put", key: "keys/agent/k", value: { run: "run_1", session: "s" } }])
    await using engine = createEngine({ agents: { agent: talker() }, store })
    assert.deepEqual(await engine.submit("agent", "Go", { key: "k", session: "s" }), { id: "run_1" })
    assert.equal((await engine.result("run_1")).output, "Hello.")
  })
})

test("submit takes limits, outputs and values, which hold in the process that works on the run", async () => {
  const store = memoryStore()
  const answers = ["```ts\nsum = rows.get('a') + 1\n```", "Done."]
  const agent = createAgent({ model: scriptedModel(answers), runtime: () => jsRuntime({ rows: new Map(), sum: 0 }) })
  const front = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await front.submit("agent", "Add", {
    values: { rows: new Map([["a", 4]]) },
    outputs: { sum: { type: "number" } },
  })
  await front.close()
  await using back = createEngine({ agents: { agent }, store })
  await back.recover()
  const result = await back.result(id)
  assert.equal(result.status, "done")
  assert.deepEqual(result.objects, { sum: 5 })
  const value = { call: () => 1 }
  await assert.rejects(back.submit("agent", "Add", { values: { value } }), /values\.value cannot be stored/)
})

test("limits of a submitted run stop it", async () => {
  const model = scriptedModel(() => "```ts\n1\n```")
  const agent = createAgent({ model, runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go", { limits: { cycles: 2 } })
  const { status, cycles } = await engine.result(id)
  assert.deepEqual({ status, cycles }, { status: "stopped", cycles: 2 })
})

test("limits of Infinity hold in a submitted run", async () => {
  const steps = Array.from({ length: 12 }, () => "```ts\nawait count()\n```")
  for (const open of [memoryStore, () => sqliteStore(":memory:")]) {
    const agent = createAgent({
      model: scriptedModel([...steps, "Done."]),
      runtime: () => jsRuntime({ count: () => 1 }),
    })
    await using store = open()
    await using engine = createEngine({ agents: { agent }, store })
    const limits = { cycles: Infinity, tokens: Infinity, timeMs: Infinity, calls: Infinity, depth: Infinity }
    const { id } = await engine.submit("agent", "Go", { limits: { ...limits, callsByName: { count: Infinity } } })
    const { status, cycles } = await engine.result(id)
    assert.deepEqual({ status, cycles }, { status: "done", cycles: 13 })
  }
})

test("submit on a closed engine rejects", async () => {
  const store = memoryStore()
  const engine = createEngine({ agents: { agent: talker() }, store })
  await engine.close()
  await assert.rejects(engine.submit("agent", "Go"), { code: "closed" })
  assert.deepEqual(await Array.fromAsync(store.keys("")), [])
})

describe("abort", () => {
  const takeBy = (store: Store, id: string, host: string, leaseMs: number) =>
    updateHead(store, id, (head) => ({
      head: claimedHead(head, { owner: { ...createOwner(), id: "w", host }, leaseMs }),
    }))

  test("resolves when the run has ended", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const runtime = () =>
      jsRuntime({
        forever() {
          begin()
          return new Promise(() => undefined)
        },
      })
    const agent = createAgent({ model: scriptedModel(["```ts\nawait forever()\n```"]), runtime })
    const store = memoryStore()
    await using worker = createEngine({ agents: { agent }, store })
    await using other = createEngine({ agents: { agent }, store, backend: inlineBackend() })
    const { id } = await worker.submit("agent", "Go")
    await begun
    await other.abort(id, "Enough.")
    assert.equal((await other.get(id))?.status, "aborted")
  })

  test("ends a run itself whose worker on another machine does not answer for its lease", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: talker() }, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    await takeBy(store, id, "elsewhere", 100)
    await engine.abort(id, "Enough.")
    const { status, detail } = await engine.result(id)
    assert.deepEqual({ status, detail }, { status: "aborted", detail: "Enough." })
    assert.ok(await store.get(runKeys(id).head))
  })
})

test("an output that an earlier run of the session made does not count, also after a change of worker", async () => {
  const store = memoryStore()
  const drained: Promise<void>[] = []
  const answers = [
    "```ts\nlet sum = 1; let rows = [1]\n```",
    "There.",
    "Done.",
    "```ts\nsum = 1\n```",
    "Done.",
    "```ts\nrows.push(2)\n```",
    "Done.",
  ]
  const model = scriptedModel(() => {
    // The worker changes between the assignment of `sum` and the answer.
    if (answers.length === 4) drained.push(front.drain())
    return answers.shift() ?? "No more."
  })
  const agent = createAgent({ model, runtime: () => jsRuntime() })
  const front = createEngine({ agents: { agent }, store })
  await front.result((await front.submit("agent", "First", { session: "s" })).id)
  const outputs = { sum: { type: "number" }, rows: { type: "array" } } as const
  const { id } = await front.submit("agent", "Second", { session: "s", outputs })
  while (drained.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await Promise.all(drained)
  await front.close()
  await using back = createEngine({ agents: { agent }, store })
  await back.recover()
  const result = await back.result(id)
  assert.deepEqual(result.objects, { sum: 1, rows: [1, 2] })
  const texts = result.messages.map((message) => messageText(message)).filter((text) => text.includes("not done"))
  assert.match(texts[0] ?? "", /sum: has the value[\s\S]*rows: has the value/)
  assert.doesNotMatch(texts[1] ?? "", /sum: has the value/)
  assert.match(texts[1] ?? "", /rows: has the value/)
  assert.equal(texts.length, 2)
})

test('an output of a submitted run with stale: "allow" may have the value of an earlier run', async () => {
  const answers = ["```ts\nlet sum = 1\n```", "There.", "Done."]
  const agent = createAgent({ model: scriptedModel(answers), runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  await engine.result((await engine.submit("agent", "First", { session: "s" })).id)
  const outputs = { sum: { schema: { type: "number" }, stale: "allow" } } as const
  const result = await engine.result((await engine.submit("agent", "Second", { session: "s", outputs })).id)
  assert.deepEqual(result.objects, { sum: 1 })
})

test("a run whose process ended between its last cycle and its end hands over its outputs, and nothing is told to its model", async () => {
  const kept = memoryStore()
  let isAway = false
  const store: Store = {
    ...kept,
    async commit(changes, ...rest) {
      if (isAway) throw new Error("away")
      const revision = await kept.commit(changes, ...rest)
      const written = JSON.stringify(changes)
      isAway = written.includes('"end":{"status":"done"') && !written.includes('"type":"run-end"')
      return revision
    },
  }
  const agent = createAgent({
    model: scriptedModel(({ messages }) =>
      messages.at(-1)?.role === "result" ? "Done." : "```ts\nconst sum = 3\n```",
    ),
    runtime: () => jsRuntime(),
  })
  const first = createEngine({ agents: { agent }, store, leaseMs: 50, backend: inlineBackend({ onError() {} }) })
  const { id } = await first.submit("agent", "Go", { outputs: { sum: { type: "number" } } })
  await first.work()
  while (!isAway) await new Promise((resolve) => setImmediate(resolve))
  await first.close()
  await using second = createEngine({ agents: { agent }, store: kept, leaseMs: 50 })
  await second.recover()
  const { status, output, objects, messages } = await second.result(id)
  assert.deepEqual({ status, output, objects }, { status: "done", output: "Done.", objects: { sum: 3 } })
  assert.equal(messages.at(-1)?.role, "assistant")
})
