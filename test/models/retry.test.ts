import assert from "node:assert/strict"
import { test } from "node:test"
import { ModelError, type ModelErrorCode } from "../../src/core/errors.ts"
import type { Model } from "../../src/models/model.ts"
import { type ModelRetry, type RetryOptions, withRetry } from "../../src/models/retry.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { ask, collect, failing, modelOf, text, textOf } from "./helpers.ts"

function failure(code: ModelErrorCode, options: { retryable?: boolean; retryAfterMs?: number } = {}): ModelError {
  return new ModelError(`It was ${code}.`, { code, retryable: true, ...options })
}

/** Retry options that record delays instead of waiting. */
function noWait(random = 0) {
  const delays: number[] = []
  return {
    delays,
    random: () => random,
    async sleep(ms: number) {
      delays.push(ms)
    },
  }
}

const retrying = (model: Model, { delays: _, ...options }: RetryOptions & { delays?: number[] } = {}) =>
  withRetry(model, options)

test("what may work later is tried again until it works", async () => {
  const model = scriptedModel([failure("rate-limited"), failure("connection"), "hello"])
  const options = noWait()
  assert.equal(textOf(await collect(retrying(model, options).stream(ask))), "hello")
  assert.deepEqual(options.delays, [500, 1000])
})

test("delays double from half a second, five times, and then the last error comes out", async () => {
  const last = failure("overloaded")
  const model = scriptedModel([...Array.from({ length: 5 }, () => failure("server-error")), last])
  const options = noWait()
  const { error } = await failing(retrying(model, options).stream(ask))
  assert.equal(error, last)
  assert.deepEqual(options.delays, [500, 1000, 2000, 4000, 8000])
})

test("jitter adds up to a quarter, and no delay goes over the cap", async () => {
  const model = scriptedModel(() => failure("timeout"))
  const options = noWait(1)
  await failing(retrying(model, { ...options, maxRetries: 8 }).stream(ask))
  assert.deepEqual(options.delays, [625, 1250, 2500, 5000, 10_000, 20_000, 32_000, 32_000])
})

test("the service's own wish to wait is honoured up to the cap, without jitter", async () => {
  const model = scriptedModel([failure("rate-limited", { retryAfterMs: 32_000 }), "hello"])
  const options = noWait(1)
  await collect(retrying(model, options).stream(ask))
  assert.deepEqual(options.delays, [32_000])
})

test("a service that wants a longer wait fails at once, and the error says how long", async () => {
  const model = scriptedModel([failure("rate-limited", { retryAfterMs: 60_000 }), "hello"])
  const options = noWait()
  const { error } = await failing(retrying(model, options).stream(ask))
  assert.equal(error instanceof ModelError && error.retryAfterMs, 60_000)
  assert.deepEqual([options.delays, model.remaining], [[], 1])
})

for (const code of ["billing", "authentication", "invalid-request", "context-overflow", "not-found"] as const) {
  test(`${code} is never tried again`, async () => {
    const model = scriptedModel([failure(code, { retryable: false }), "hello"])
    const options = noWait()
    const { error } = await failing(retrying(model, options).stream(ask))
    assert.equal(error instanceof ModelError && error.code, code)
    assert.deepEqual(options.delays, [])
  })
}

test("a programming error is never tried again, and comes out itself", async () => {
  const bug = new TypeError("undefined is not a function")
  const model = scriptedModel([bug, "hello"])
  const { error } = await failing(retrying(model, noWait()).stream(ask))
  assert.equal(error, bug)
  assert.equal(model.remaining, 1)
})

test("raw errors of a model of one's own are judged too: the status decides, not the words", async () => {
  const refused = Object.assign(new Error("timeout must be a number"), { status: 400 })
  const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
  const options = noWait()
  assert.equal(textOf(await collect(retrying(scriptedModel([reset, "hello"]), options).stream(ask))), "hello")
  const { error } = await failing(retrying(scriptedModel([refused, "hello"]), options).stream(ask))
  assert.equal(error instanceof ModelError && error.code, "invalid-request")
  assert.equal(options.delays.length, 1)
})

test("after the first part nothing is tried again", async () => {
  const broken = failure("connection")
  const model = scriptedModel([[text("half"), broken], "hello"])
  const options = noWait()
  const { parts, error } = await failing(retrying(model, options).stream(ask))
  assert.deepEqual([textOf(parts), error, options.delays], ["half", broken, []])
})

test("each retry is shown with its number, delay and error, and a throwing observer changes nothing", async () => {
  const seen: ModelRetry[] = []
  const first = failure("overloaded")
  const model = scriptedModel([first, failure("timeout"), "hello"])
  const onRetry = (retried: ModelRetry) => {
    seen.push(retried)
    throw new Error("observer")
  }
  assert.equal(textOf(await collect(retrying(model, { ...noWait(), onRetry }).stream(ask))), "hello")
  assert.deepEqual(
    seen.map(({ attempt, delayMs }) => [attempt, delayMs]),
    [
      [1, 500],
      [2, 1000],
    ],
  )
  assert.equal(seen[0]?.error, first)
})

test("an abort during the wait ends it, without another attempt", async () => {
  const model = scriptedModel([failure("overloaded"), "hello"])
  const controller = new AbortController()
  const onRetry = () => controller.abort()
  const { error } = await failing(retrying(model, { onRetry }).stream({ ...ask, signal: controller.signal }))
  assert.equal((error as Error).name, "AbortError")
  assert.equal(model.remaining, 1)
})

test("an abort during an attempt is not tried again", async () => {
  const controller = new AbortController()
  let attempts = 0
  const model = modelOf(async function* () {
    attempts++
    controller.abort()
    yield* []
    throw failure("connection")
  })
  const options = noWait()
  const { error } = await failing(retrying(model, options).stream({ ...ask, signal: controller.signal }))
  assert.equal((error as Error).name, "AbortError")
  assert.deepEqual([attempts, options.delays], [1, []])
})

test("leaving early closes the model's stream", async () => {
  let closed = false
  const model = modelOf(async function* () {
    try {
      yield text("one")
      yield text("two")
    } finally {
      closed = true
    }
  })
  for await (const _ of retrying(model).stream(ask)) break
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(closed, true)
})

test("with no retries the first error comes out", async () => {
  const { error } = await failing(retrying(scriptedModel([failure("timeout")]), { maxRetries: 0 }).stream(ask))
  assert.equal(error instanceof ModelError && error.code, "timeout")
})

test("id, window and price are those of the model inside", () => {
  const model = scriptedModel([], { id: "acme/stone-1", contextWindow: 9, price: { input: 1, output: 2 } })
  const { id, contextWindow, price } = retrying(model)
  assert.deepEqual(
    { id, contextWindow, price },
    { id: "acme/stone-1", contextWindow: 9, price: { input: 1, output: 2 } },
  )
})
