// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { Redis } from "ioredis"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { redisStore } from "karst/stores"
import { startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { untilOlder } from "../../waiting.ts"

test("abort, delete and prune work when Redis is full", { skip: requires("redis") }, async (context) => {
  await using server = await startRedis("--maxmemory-policy", "noeviction")
  await using store = redisStore(server.url)
  const admin = new Redis(server.url)
  context.after(() => admin.disconnect())
  const agent = createAgent({
    model: scriptedModel((request) => (request.messages.length > 1 ? "Done." : "```ts\nawait wipe()\n```")),
    runtime: () => jsRuntime({ wipe: fn(() => "wiped", { approve: true }) }),
  })
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const talker = createAgent({
    model: scriptedModel((request) =>
      JSON.stringify(request.messages).includes("Stay") ? "```ts\nawait stay()\n```" : "Hi.",
    ),
    runtime: () =>
      jsRuntime({
        stay() {
          begin()
          return new Promise(() => undefined)
        },
      }),
  })
  await using engine = createEngine({ agents: { agent, talker }, store, holdMs: 0 })
  await using front = createEngine({ agents: { agent, talker }, store, backend: inlineBackend() })
  const waiting = await engine.submit("agent", "Go")
  const ended = await engine.submit("talker", "Hello")
  const old = await engine.submit("talker", "Hello again")
  const running = await engine.submit("talker", "Stay")
  for (const { id } of [waiting, ended, old]) await engine.result(id)
  await begun
  try {
    await admin.config("SET", "maxmemory", "1")
    await assert.rejects(engine.submit("talker", "One more"), { code: "no-space" })
    await engine.abort(waiting.id)
    await front.abort(running.id, "Enough.")
    for (const { id } of [waiting, running]) assert.equal((await engine.get(id))?.status, "aborted")
    await engine.delete(ended.id)
    assert.equal(await engine.get(ended.id), undefined)
    await untilOlder()
    const pruned = await engine.prune({ olderThanMs: 0 })
    assert.deepEqual(pruned.toSorted(), [waiting.id, old.id, running.id].toSorted())
    assert.deepEqual(await Array.fromAsync(store.keys("runs/")), [])
  } finally {
    await admin.config("SET", "maxmemory", "0")
  }
})
