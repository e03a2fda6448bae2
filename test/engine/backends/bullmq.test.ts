// test lane: durable, long
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { Redis } from "ioredis"
import { testBackend } from "karst/testing"
import { AgentError, ConfigError } from "../../../src/core/errors.ts"
import type { Job } from "../../../src/engine/backends/backend.ts"
import { type BullmqBackendOptions, bullmqBackend } from "../../../src/engine/backends/bullmq.ts"
import { open } from "../../fixtures/backends/bullmq.ts"
import { type RedisServer, startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"

describe("bullmqBackend", { skip: requires("redis") }, () => {
  let server: RedisServer
  let queues = 0
  const make = (options: Partial<BullmqBackendOptions> = {}) =>
    bullmqBackend({ url: server.url, queue: `q${++queues}`, onError() {}, ...options })

  before(async () => {
    server = await startRedis()
    process.env.KARST_TEST_REDIS = server.url
  })
  after(() => server[Symbol.asyncDispose]())

  testBackend({
    test,
    open,
    module: new URL("../../fixtures/backends/bullmq.ts", import.meta.url),
    async outage() {
      await server.kill()
      return () => server.start()
    },
  })

  test("needs to know where Redis is", () => {
    assert.throws(() => bullmqBackend({}), ConfigError)
    assert.throws(() => bullmqBackend({ url: "" }), ConfigError)
  })

  test("leaves no connection open, whatever it was used for", async () => {
    const client = new Redis(server.url)
    const before = await connections(client)
    await make().close()
    const pushing = make()
    await pushing.push({ run: "a", revision: 1 })
    await pushing.close()
    await pushing.close()
    const working = make()
    await working.start(async () => {}, { maxParallel: 2 })
    const stop = await working.start(async () => {}, { maxParallel: 2 })
    await stop()
    await working.close()
    while ((await connections(client)) > before) await client.ping()
    await assert.rejects(pushing.push({ run: "a", revision: 1 }), { code: "closed" })
    await client.quit()
  })

  test("uses a ready client, whatever its settings, and leaves it open", async () => {
    const client = new Redis(server.url)
    const backend = make({ connection: client, url: undefined, prefix: "mine" })
    const handled = Promise.withResolvers<Job>()
    await backend.start(async (job) => handled.resolve(job), { maxParallel: 1 })
    await backend.push({ run: "a", revision: 3 })
    assert.deepEqual(await handled.promise, { run: "a", revision: 3 })
    await backend.close()
    const keys = await client.keys("*mine*")
    assert.ok(keys.length > 0 && keys.every((key) => key.startsWith("{mine}:")), String(keys))
    await client.quit()
  })

  test("keeps nothing of a job that is done", async () => {
    const client = new Redis(server.url)
    await using backend = make({ queue: "tidy" })
    await backend.start(async () => {}, { maxParallel: 4 })
    const jobsOf = async () => (await client.keys("{karst}:tidy:*")).filter((key) => /:\d+(:lock)?$/.test(key))
    for (let revision = 0; revision < 20; revision++) await backend.push({ run: `run ${revision}`, revision })
    while ((await jobsOf()).length > 0) await client.ping()
    assert.equal(await client.zcard("{karst}:tidy:completed"), 0)
    await client.quit()
  })

  test("begins jobs with a smaller priority first, and those without before all", async () => {
    await using backend = make({ priority: ({ revision }) => (revision === 0 ? undefined : revision) })
    for (const revision of [5, 1, 0, 3]) await backend.push({ run: `run ${revision}`, revision })
    assert.equal(await backend.countQueued(), 4)
    const order: number[] = []
    const all = Promise.withResolvers<void>()
    await backend.start(
      async ({ revision }) => {
        if (order.push(revision) === 4) all.resolve()
      },
      { maxParallel: 1 },
    )
    await all.promise
    assert.deepEqual(order, [0, 1, 3, 5])
  })

  test("begins no more jobs in a time than the rate limit allows", async () => {
    await using backend = make({ rateLimit: { max: 2, durationMs: 60_000 } })
    for (let revision = 0; revision < 5; revision++) await backend.push({ run: `run ${revision}`, revision })
    let begun = 0
    const two = Promise.withResolvers<void>()
    const stop = await backend.start(
      async () => {
        if (++begun === 2) two.resolve()
      },
      { maxParallel: 5 },
    )
    await two.promise
    await stop()
    assert.equal(begun, 2)
    assert.equal(await backend.countQueued(), 3)
  })

  test("gives a job up after so many deaths, and does not hold up the others", async () => {
    const backend = make({ maxStalledCount: 0, lockDurationMs: 500, stalledIntervalMs: 200 })
    const client = new Redis(server.url)
    const name = `q${queues}`
    await backend.push({ run: "deadly", revision: 1 })
    // What a worker that died leaves behind: a job under way without a lock.
    await client.lmove(`{karst}:${name}:wait`, `{karst}:${name}:active`, "LEFT", "RIGHT")
    const handled: string[] = []
    const well = Promise.withResolvers<void>()
    await backend.start(
      async ({ run }) => {
        handled.push(run)
        if (run === "well") well.resolve()
      },
      { maxParallel: 1 },
    )
    while ((await client.zcard(`{karst}:${name}:failed`)) === 0) await client.ping()
    await backend.push({ run: "well", revision: 1 })
    await well.promise
    assert.deepEqual(handled, ["well"])
    await backend.push({ run: "deadly", revision: 1 })
    while (!handled.includes("deadly")) await client.ping()
    await backend.close()
    await client.quit()
  })

  test("says that the server wants another password, which no time will mend", async () => {
    await using locked = await startRedis("--requirepass", "secret")
    await using backend = make({ url: locked.url.replace("//", "//:wrong@") })
    const refusal = { code: "authentication", retryable: false, message: /Check the user and password/ }
    await assert.rejects(backend.push({ run: "a", revision: 0 }), refusal)
  })

  test("says that the server is out of reach, and stops and closes without it", async () => {
    await using own = await startRedis()
    const told: string[] = []
    const backend = make({ url: own.url, onError: (error) => told.push(error.message) })
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const stop = await backend.start(
      async () => {
        begun.resolve()
        await end.promise
      },
      { maxParallel: 1 },
    )
    await backend.push({ run: "a", revision: 1 })
    await begun.promise
    await own.kill()
    await assert.rejects(backend.push({ run: "b", revision: 1 }), (error) => {
      assert.ok(error instanceof AgentError)
      assert.equal(error.code, "connection")
      assert.equal(error.retryable, true)
      return true
    })
    assert.ok(told.length > 0)
    end.resolve()
    await stop()
    await backend.close()
    const late = make({ url: own.url })
    await assert.rejects(
      late.start(async () => {}, { maxParallel: 1 }),
      { code: "connection" },
    )
    await late.close()
  })
})

async function connections(client: Redis): Promise<number> {
  const list = String(await client.call("client", "list"))
  return list.trim().split("\n").length
}
