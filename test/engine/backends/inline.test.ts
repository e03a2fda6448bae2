// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { testBackend } from "karst/testing"
import { ConfigError } from "../../../src/core/errors.ts"
import type { Job } from "../../../src/engine/backends/backend.ts"
import { inlineBackend } from "../../../src/engine/backends/inline.ts"

describe("inlineBackend", () => {
  testBackend({
    test,
    open: () => inlineBackend({ onError() {} }),
    skip: {
      killed: "by design: its queue and its workers are one process, and end with it",
      "killed-amid": "by design: its queue and its workers are one process, and end with it",
    },
  })

  test("tells what a handler rejects, with the job", async () => {
    const told: unknown[] = []
    const again = Promise.withResolvers<void>()
    const backend = inlineBackend({ onError: (error, job) => told.push(error.message, job) })
    const stop = await backend.start(
      async () => {
        if (told.length === 0) throw "nothing but text"
        again.resolve()
      },
      { maxParallel: 1 },
    )
    await backend.push({ run: "a", revision: 1 })
    await again.promise
    await stop()
    assert.deepEqual(told, ["nothing but text", { run: "a", revision: 1 }])
  })

  test("keeps a rejected job for the next start, and no timer for itself", async () => {
    const backend = inlineBackend({ onError() {} })
    const first = Promise.withResolvers<void>()
    const stop = await backend.start(
      async () => {
        first.resolve()
        throw new Error("no")
      },
      { maxParallel: 1 },
    )
    await backend.push({ run: "a", revision: 1 })
    await first.promise
    await stop()
    assert.equal(await backend.countQueued(), 1)
    const second = Promise.withResolvers<Job>()
    const stopAgain = await backend.start(async (job) => second.resolve(job), { maxParallel: 1 })
    assert.deepEqual(await second.promise, { run: "a", revision: 1 })
    await stopAgain()
  })

  test("refuses a concurrency that is no number of jobs", async () => {
    for (const maxParallel of [0, -1, 1.5, Number.NaN]) {
      await assert.rejects(
        inlineBackend().start(async () => {}, { maxParallel }),
        ConfigError,
      )
    }
  })
})
