// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, test } from "node:test"
import { Redis } from "ioredis"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, redisStore, type Store, type StorePut, sqliteStore } from "karst/stores"
import { runKeys } from "../../src/engine/checkpoint.ts"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"

const talker = () => createAgent({ model: scriptedModel(() => "Hello."), runtime: () => jsRuntime() })
const storing = () =>
  createAgent({
    model: scriptedModel(["```ts\nlet rows = [1]\n```", "```ts\nawait wipe()\n```", "Done."]),
    runtime: () => jsRuntime({ wipe: fn(() => rows, { approve: true }) }),
  })
const rows = [1]

async function truncate(store: Store, log: string, length: number): Promise<void> {
  const items = (await Array.fromAsync(store.read(log))).slice(0, length)
  await store.commit([
    { type: "delete", key: log },
    { type: "append", log, items },
  ])
}

describe("a run whose records are damaged", () => {
  test("is reported as corrupt where its log has lost its end, and is not shown as waiting", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: talker() }, store })
    const { id } = await engine.submit("agent", "Go")
    await engine.result(id)
    await truncate(store, runKeys(id).events, 2)
    await assert.rejects(engine.result(id), { code: "corrupt", message: /its log has 2 of \d+ events/ })
    await assert.rejects(Array.fromAsync(engine.watch(id)), { code: "corrupt" })
  })

  test("is not worked on where its prompt is missing, and says why", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: talker() }, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    await store.commit([{ type: "delete", key: runKeys(id).input }])
    await engine.work()
    await assert.rejects(engine.result(id), /its prompt is missing/)
    assert.match((await engine.get(id))?.refused ?? "", /its prompt is missing/)
  })

  for (const value of ["text", 5, null, { version: 1, id: "run_other", status: "done", asked: [] }]) {
    test(`is reported as corrupt where its head is ${JSON.stringify(value)}`, async () => {
      const store = memoryStore()
      await store.commit([{ type: "put", key: "runs/run_1", value }])
      await using engine = createEngine({ agents: { agent: talker() }, store })
      await assert.rejects(engine.get("run_1"), { code: "corrupt" })
      await assert.rejects(engine.result("run_1"), { code: "corrupt" })
    })
  }

  const damages: [what: string, damage: (id: string) => StorePut][] = [
    ["the record of its key", (id) => ({ type: "put", key: "keys/agent/k", value: [id] })],
    ["the last run of its session", () => ({ type: "put", key: "sessions/agent/s", value: { run: 1 } })],
    ["its prompt", (id) => ({ type: "put", key: runKeys(id).input, value: ["Go"] })],
  ]
  for (const [what, damage] of damages) {
    test(`is reported as corrupt by submit where ${what} has another form`, async () => {
      const store = memoryStore()
      await using engine = createEngine({ agents: { agent: talker() }, store, backend: inlineBackend() })
      const options = what.includes("session") ? { session: "s" } : { key: "k" }
      const { id } = await engine.submit("agent", "Go", options)
      await store.commit([damage(id)])
      await assert.rejects(engine.submit("agent", "Go", options), { code: "corrupt" })
    })
  }

  for (const [what, part] of [
    ["its prompt", "input"],
    ["its options", "options"],
  ] as const) {
    test(`is not worked on where ${what} has another form, and says why`, async () => {
      const store = memoryStore()
      await using engine = createEngine({ agents: { agent: talker() }, store, backend: inlineBackend() })
      const { id } = await engine.submit("agent", "Go")
      await store.commit([{ type: "put", key: runKeys(id)[part], value: [1] }])
      await engine.work()
      await assert.rejects(engine.result(id), new RegExp(`${what} (is|are) not`))
    })
  }

  test("is reported as corrupt where its log has foreign JSON", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: talker() }, store })
    const { id } = await engine.submit("agent", "Go")
    await engine.result(id)
    await store.commit([{ type: "append", log: runKeys(id).events, items: [{ hello: "world" }] }])
    await assert.rejects(engine.result(id), { code: "corrupt", message: /item \d+ of its log is not an event/ })
    await assert.rejects(Array.fromAsync(engine.watch(id)), { code: "corrupt" })
  })

  test("has a key and a session that can be stored: anything else is refused with the reason", async () => {
    await using engine = createEngine({ agents: { agent: talker() }, store: memoryStore() })
    for (const [name, told] of [
      ["", /is empty/],
      ["..", /part "\." or "\.\."/],
      ["a/../b", /part/],
      ["a\u0000b", /control characters/],
      ["a".repeat(600), /longer than 500 bytes/],
    ] as const) {
      await assert.rejects(engine.submit("agent", "Go", { key: name }), { name: "ConfigError", message: told })
      await assert.rejects(engine.submit("agent", "Go", { session: name }), { name: "ConfigError", message: told })
    }
  })

  test("has an id that names one run: anything else is refused", async () => {
    await using engine = createEngine({ agents: { agent: talker() }, store: memoryStore() })
    for (const id of ["", "run_1/input", "../x", "a b"]) await assert.rejects(engine.get(id), { code: "config" })
  })

  test("is not resumed without the live objects it had", async () => {
    const store = memoryStore()
    const first = createEngine({ agents: { agent: storing() }, store, holdMs: 0 })
    const { id } = await first.submit("agent", "Go")
    const { pending } = await first.result(id)
    assert.equal(pending?.kind, "approval")
    await first.close()
    await store.commit([{ type: "delete", key: runKeys(id).snapshot }])
    await using second = createEngine({ agents: { agent: storing() }, store })
    await second.approve(id, pending?.id ?? "", "allow")
    await assert.rejects(second.result(id), /its live objects are missing/)
  })
})

test("a log of sqliteStore with a missing item is reported as corrupt, not as shorter", async () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-damaged-"))
  const path = join(folder, "karst.db")
  try {
    await using store = sqliteStore(path)
    await store.commit([{ type: "append", log: "events", items: [0, 1, 2, 3] }])
    const database = new DatabaseSync(path)
    database.exec("DELETE FROM items WHERE value = '2'")
    await assert.rejects(Array.fromAsync(store.read("events")), { code: "corrupt", message: /no item 2 of 4/ })
    database.exec("UPDATE entries SET value = 5")
    await store.commit([{ type: "put", key: "k", value: 1 }])
    database.exec("UPDATE entries SET value = 5")
    database.close()
    await assert.rejects(store.get("k"), { code: "corrupt" })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe("redisStore", { skip: requires("redis") }, () => {
  test("reports an emptied server as gone to processes that saw it before, and is empty for new ones", async (context) => {
    await using server = await startRedis()
    const admin = new Redis(server.url)
    context.after(() => admin.disconnect())
    await using store = redisStore(server.url)
    await using reader = redisStore(server.url)
    await using engine = createEngine({ agents: { agent: talker() }, store })
    const { id } = await engine.submit("agent", "Go")
    await engine.result(id)
    assert.ok(await reader.get(runKeys(id).head))
    await admin.flushall()
    await assert.rejects(engine.get(id), { code: "gone" })
    await assert.rejects(engine.submit("agent", "Go"), { code: "gone" })
    await assert.rejects(Array.fromAsync(engine.list()), { code: "gone" })
    await assert.rejects(reader.get(runKeys(id).head), { code: "gone" })
    await assert.rejects(Array.fromAsync(reader.read(runKeys(id).events)), { code: "gone" })
    await using fresh = redisStore(server.url)
    assert.equal(await fresh.get(runKeys(id).head), undefined)
    await fresh.commit([{ type: "put", key: "a", value: 1 }])
    await assert.rejects(store.get("a"), { code: "gone" })
  })

  test("reports records of the wrong type, and incomplete ones, as corrupt", async (context) => {
    await using server = await startRedis()
    const admin = new Redis(server.url)
    context.after(() => admin.disconnect())
    await using store = redisStore(server.url)
    await admin.set("{karst}:value:a", "text")
    await admin.hset("{karst}:value:b", "revision", "1")
    await admin.set("{karst}:log:c", "text")
    await assert.rejects(store.get("a"), { code: "corrupt" })
    await assert.rejects(store.get("b"), { code: "corrupt" })
    await assert.rejects(Array.fromAsync(store.read("c")), { code: "corrupt" })
  })

  test("warns once where the server keeps nothing on disk", async () => {
    await using server = await startRedis("--appendonly", "no")
    const warnings: string[] = []
    const listen = (warning: Error) => warnings.push(warning.message)
    process.on("warning", listen)
    await using store = redisStore(server.url)
    for (const value of [1, 2, 3]) await store.commit([{ type: "put", key: "a", value }])
    while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.match(warnings.join(), /no append-only file.*appendonly yes/)
    assert.equal(warnings.length, 1)
    process.off("warning", listen)
  })
})

test("a prefix that cannot name a store is refused", () => {
  for (const prefix of ["", "a{b", "{}", "a\nb", "x".repeat(201)]) {
    assert.throws(() => redisStore("redis://127.0.0.1:1", { prefix }), /the prefix .* cannot be used/)
  }
})
