// Starts a Redis for the tests that are declared in a function.
import { after, before, describe } from "node:test"
import { type RedisServer, startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"

/** Declares tests that need a Redis; its address is in KARST_TEST_REDIS. */
export function withRedis(title: string, declare: () => void): void {
  describe(title, { skip: requires("redis") }, () => {
    let server: RedisServer
    before(async () => {
      server = await startRedis()
      process.env.KARST_TEST_REDIS = server.url
    })
    after(() => server[Symbol.asyncDispose]())
    declare()
  })
}
