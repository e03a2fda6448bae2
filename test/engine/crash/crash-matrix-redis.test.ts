// test lane: durable, long
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { type RedisServer, startRedis } from "../../redis.ts"
import { requires, skipUnless } from "../../system.ts"
import { killAt } from "./chain.ts"
import { each, some } from "./choose.ts"
import { kinds } from "./kinds.ts"

// A dead worker's job is found when its lock has run out, so most of the time is waiting.
describe("a worker of BullMQ killed at a write to Redis", { skip: requires("redis"), concurrency: 4 }, () => {
  let server: RedisServer
  before(async () => {
    server = await startRedis()
    process.env.KARST_TEST_REDIS = server.url
  })
  after(() => server[Symbol.asyncDispose]())

  for (const kind of Object.keys(kinds)) {
    const promise = `${kind}: another finishes the run; what was complete is not done again, and nothing is lost`

    test(promise, { timeout: 900_000 }, async () => {
      assert.equal(await killAt(kind, "redis", some(1, `redis ${kind}`)), 1)
    })

    test(`${promise}, at every point`, { timeout: 900_000, skip: skipUnless("KARST_CRASH_ALL") }, async (context) => {
      let points = 0
      const kills = await killAt(kind, "redis", (all) => {
        points = all.length
        return each(all)
      })
      context.diagnostic(`${kind}: killed at ${kills} of ${points} points`)
      assert.equal(kills, points)
    })
  }
})
