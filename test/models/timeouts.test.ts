import assert from "node:assert/strict"
import { test } from "node:test"
import { ModelError } from "../../src/core/errors.ts"
import type { ModelRequest } from "../../src/models/model.ts"
import { withTimeouts } from "../../src/models/timeouts.ts"
import { ask, collect, failing, finish, manualClock, modelOf, settle, text, textOf } from "./helpers.ts"

const limits = { connectMs: 1, firstPartMs: 2, idleMs: 3 }

/** A model whose parts and signs of life are controlled by the test. */
function puppet() {
  const gates: PromiseWithResolvers<void>[] = []
  const seen: { request?: ModelRequest; closed: boolean } = { closed: false }
  const model = modelOf(async function* (request) {
    seen.request = request
    try {
      for (const part of [text("one"), text("two"), finish]) {
        const gate = Promise.withResolvers<void>()
        gates.push(gate)
        await gate.promise
        yield part
      }
    } finally {
      seen.closed = true
    }
  })
  return { model, seen, release: () => gates.at(-1)?.resolve() }
}

test("a model that gives no sign of life is a time-out, to be tried again", async () => {
  const { model, seen } = puppet()
  const clock = manualClock()
  const outcome = failing(withTimeouts(model, { ...limits, schedule: clock.schedule }).stream(ask))
  await settle()
  assert.deepEqual(clock.waiting, [1])
  clock.fire()
  const { error } = await outcome
  assert.ok(error instanceof ModelError)
  assert.deepEqual([error.code, error.retryable], ["timeout", true])
  assert.match(error.message, /test\/model did not answer within 0.001 s.*connectMs/)
  assert.equal(seen.request?.signal?.aborted, true)
})

test("a model that has answered but says nothing yet may think longer", async () => {
  const { model, seen } = puppet()
  const clock = manualClock()
  const outcome = failing(withTimeouts(model, { ...limits, schedule: clock.schedule }).stream(ask))
  await settle()
  seen.request?.onActivity?.()
  assert.deepEqual(clock.waiting, [2])
  clock.fire()
  const { error } = await outcome
  assert.ok(error instanceof ModelError)
  assert.deepEqual([error.code, error.retryable], ["stalled", true])
  assert.match(error.message, /firstPartMs/)
})

test("silence in the middle of an answer is a stall, and what was said before is kept", async () => {
  const { model, release } = puppet()
  const clock = manualClock()
  const outcome = failing(withTimeouts(model, { ...limits, schedule: clock.schedule }).stream(ask))
  await settle()
  release()
  await settle()
  assert.deepEqual(clock.waiting, [3])
  clock.fire()
  const { parts, error } = await outcome
  assert.equal(textOf(parts), "one")
  assert.equal(error instanceof ModelError && error.code, "stalled")
})

test("every sign of life starts the wait again, and reaches who else listens", async () => {
  const { model, seen, release } = puppet()
  const clock = manualClock()
  let heard = 0
  const alive = () => {
    heard++
  }
  const parts = withTimeouts(model, { ...limits, schedule: clock.schedule })
    .stream({ ...ask, onActivity: alive })
    [Symbol.asyncIterator]()
  const first = parts.next()
  await settle()
  const [before] = [clock.waiting]
  seen.request?.onActivity?.()
  seen.request?.onActivity?.()
  assert.deepEqual([before, clock.waiting, heard], [[1], [2], 2])
  release()
  await first
  await parts.return?.()
})

test("time the reader takes does not count", async () => {
  const { model, release } = puppet()
  const clock = manualClock()
  const parts = withTimeouts(model, { ...limits, schedule: clock.schedule })
    .stream(ask)
    [Symbol.asyncIterator]()
  const first = parts.next()
  await settle()
  release()
  await first
  assert.deepEqual(clock.waiting, [])
  await parts.return?.()
})

test("an answer that comes in time passes unchanged and leaves no timer", async () => {
  const clock = manualClock()
  const model = modelOf(async function* () {
    yield text("hello")
    yield finish
  })
  assert.deepEqual(await collect(withTimeouts(model, { ...limits, schedule: clock.schedule }).stream(ask)), [
    text("hello"),
    finish,
  ])
  assert.deepEqual(clock.waiting, [])
})

test("a stall after the finish keeps the answer", async () => {
  const model = modelOf(async function* () {
    yield text("hello")
    yield finish
    await new Promise(() => {})
  })
  assert.equal(
    textOf(await collect(withTimeouts(model, { ...limits, schedule: manualClock().schedule }).stream(ask))),
    "hello",
  )
})

test("a model that ignores its signal and never closes does not keep us", async () => {
  const clock = manualClock()
  const model = modelOf(() => ({
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: () => new Promise(() => {}) }),
  }))
  const outcome = failing(withTimeouts(model, { ...limits, schedule: clock.schedule }).stream(ask))
  await settle()
  clock.fire()
  assert.equal(((await outcome).error as ModelError).code, "timeout")
})

test("an abort ends the wait at once with an AbortError", async () => {
  const { model } = puppet()
  const clock = manualClock()
  const controller = new AbortController()
  const outcome = failing(
    withTimeouts(model, { ...limits, schedule: clock.schedule }).stream({ ...ask, signal: controller.signal }),
  )
  await settle()
  controller.abort()
  assert.equal(((await outcome).error as Error).name, "AbortError")
  assert.deepEqual(clock.waiting, [])
})

test("leaving early closes the model's stream", async () => {
  const { model, seen, release } = puppet()
  const parts = withTimeouts(model, { ...limits, schedule: manualClock().schedule })
    .stream(ask)
    [Symbol.asyncIterator]()
  const first = parts.next()
  await settle()
  release()
  await first
  await parts.return?.()
  await settle()
  assert.equal(seen.closed, true)
})

test("an error of the model itself passes as it is", async () => {
  const broken = new ModelError("no", { code: "billing" })
  const model = modelOf(async function* () {
    yield text("a")
    throw broken
  })
  assert.equal(
    (await failing(withTimeouts(model, { ...limits, schedule: manualClock().schedule }).stream(ask))).error,
    broken,
  )
})
