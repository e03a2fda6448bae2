// test lane: durable
import assert from "node:assert/strict"
import { registerHooks } from "node:module"
import { describe, test } from "node:test"
import { MissingPackageError } from "karst"
import { bullmqBackend } from "karst/engine"
import { redisStore } from "karst/stores"

describe("a package that is not installed is named, with how to install it, at the first use of", () => {
  const url = "redis://127.0.0.1:1"
  const job = { run: "a", revision: 1 }

  test("bullmqBackend without bullmq", async () => {
    await using backend = bullmqBackend({ url })
    await assert.rejects(
      without("bullmq", () => backend.push(job)),
      missing("bullmq", "bullmqBackend"),
    )
    await assert.rejects(
      without("bullmq", () => backend.start(async () => {}, { maxParallel: 1 })),
      missing("bullmq", "bullmqBackend"),
    )
  })

  test("bullmqBackend without ioredis", async () => {
    await using backend = bullmqBackend({ url })
    await assert.rejects(
      without("ioredis", () => backend.push(job)),
      missing("ioredis", "bullmqBackend"),
    )
  })

  test("redisStore without ioredis", async () => {
    await using store = redisStore(url)
    await assert.rejects(
      without("ioredis", () => store.get("a")),
      missing("ioredis", "redisStore"),
    )
  })
})

async function without<T>(name: string, work: () => Promise<T>): Promise<T> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name && !specifier.includes(`/node_modules/${name}/`)) return next(specifier, context)
      throw Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" })
    },
  })
  try {
    return await work()
  } finally {
    hooks.deregister()
  }
}

function missing(name: string, purpose: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof MissingPackageError, String(error))
    assert.match(error.message, new RegExp(`"${name}" is needed for ${purpose}.*npm install ${name}`))
    return true
  }
}
