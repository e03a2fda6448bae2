// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Agent, type AgentEvent, createAgent, fn, jsRuntime, ModelError } from "karst"
import { createEngine } from "karst/engine"
import { type Model, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import type { RunHead } from "../../../src/engine/checkpoint.ts"
import { nextRetry } from "../../../src/engine/run-retries.ts"
import { untilOlder } from "../../waiting.ts"

const outage = (more: { retryAfterMs?: number } = {}) =>
  new ModelError("The model is away.", { code: "overloaded", retryable: true, ...more })

/** A model whose calls with these numbers fail, the first being 1. */
function failing(answers: string[], calls: readonly number[], error = outage()): Model & { count(): number } {
  const model = scriptedModel(answers)
  let count = 0
  return {
    ...model,
    count: () => count,
    async *stream(request) {
      if (calls.includes(++count)) throw error
      yield* model.stream(request)
    },
  }
}

function payingAgent(model: Model) {
  const paid: number[] = []
  const runtime = () => jsRuntime({ pay: fn(async (amount: number) => paid.push(amount)) })
  return { paid, agent: createAgent({ model, runtime }) }
}

const isRetried = (event: AgentEvent) => event.type === "warning-raised" && event.code === "run-retried"

describe("a durable run that fails with a retryable error", () => {
  test("is tried again from its last saved cycle, until it works", async () => {
    const { agent, paid } = payingAgent(failing(["```ts\nawait pay(1)\n```", "Paid."], [2, 3, 4]))
    await using engine = createEngine({ agents: { agent }, store: memoryStore(), retry: { firstDelayMs: 1 } })
    const { id } = await engine.submit("agent", "Pay")
    const { status, output, cycles, trajectory } = await engine.result(id)
    assert.deepEqual({ status, output, cycles }, { status: "done", output: "Paid.", cycles: 2 })
    assert.deepEqual(paid, [1])
    assert.equal(trajectory.events.filter(isRetried).length, 3)
    assert.equal((await engine.get(id))?.retries, undefined)
  })

  test("has all its attempts again after a saved cycle", async () => {
    const model = failing(["```ts\nawait pay(1)\n```", "```ts\nawait pay(2)\n```", "Paid."], [1, 2, 4, 5, 7, 8])
    const { agent, paid } = payingAgent(model)
    await using engine = createEngine({
      agents: { agent },
      store: memoryStore(),
      retry: { firstDelayMs: 1, maxRetries: 2 },
    })
    const { id } = await engine.submit("agent", "Pay")
    const { status, output } = await engine.result(id)
    assert.deepEqual({ status, output, paid }, { status: "done", output: "Paid.", paid: [1, 2] })
    assert.equal(model.count(), 9)
  })

  test("is tried again when its runtime could not be started", async () => {
    let starts = 0
    const agent = createAgent({
      model: scriptedModel(["Done."]),
      runtime() {
        if (++starts < 3) throw Object.assign(outage(), { name: "RuntimeGone" })
        return jsRuntime()
      },
    })
    await using engine = createEngine({ agents: { agent }, store: memoryStore(), retry: { firstDelayMs: 1 } })
    const { id } = await engine.submit("agent", "Go")
    assert.equal((await engine.result(id)).output, "Done.")
    assert.equal(starts, 3)
  })

  test("shows when it is tried again, and the time holds in another process", async () => {
    const store = memoryStore()
    const { agent } = payingAgent(failing(["Done."], [1]))
    const first = createEngine({ agents: { agent }, store, retry: { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 } })
    const { id } = await first.submit("agent", "Go")
    while ((await first.get(id))?.retryAt === undefined) await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    await using second = createEngine({ agents: { agent }, store })
    assert.deepEqual(await second.recover(), [])
    const [info] = await Array.fromAsync(second.list({ status: "queued" }))
    assert.equal(info?.retries, 1)
    assert.ok((info?.retryAt ?? 0) > Date.now())
    await second.abort(id)
    assert.equal((await second.result(id)).status, "aborted")
  })

  test("ends as failed after its last attempt, and keeps what engine.retry needs", async () => {
    const model = failing(["```ts\nawait pay(1)\n```", "Paid."], [2, 3, 4])
    const { agent, paid } = payingAgent(model)
    await using engine = createEngine({
      agents: { agent },
      store: memoryStore(),
      retry: { firstDelayMs: 1, maxRetries: 2 },
    })
    const { id } = await engine.submit("agent", "Pay")
    const failed = await engine.result(id)
    assert.equal(failed.status, "failed")
    assert.equal(failed.error?.code, "overloaded")
    await engine.retry(id)
    const { status, output, messages } = await engine.result(id)
    assert.deepEqual({ status, output }, { status: "done", output: "Paid." })
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "result", "assistant"],
    )
    assert.deepEqual(paid, [1])
    const events = await Array.fromAsync(engine.watch(id))
    assert.deepEqual(
      events.filter(({ type }) => type === "run-end").map((event) => event.type === "run-end" && event.status),
      ["failed", "done"],
    )
  })
})

describe("engine.retry", () => {
  const failingAgent = (calls: number[]): Agent =>
    payingAgent(failing(["Done.", "Next."], calls, new ModelError("Bad key.", { code: "authentication" }))).agent

  test("goes on with a run that failed for good once the cause is gone", async () => {
    await using engine = createEngine({ agents: { agent: failingAgent([1]) }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Go")
    assert.equal((await engine.result(id)).status, "failed")
    await engine.retry(id)
    assert.equal((await engine.result(id)).output, "Done.")
    await assert.rejects(engine.retry(id), { code: "not-failed" })
  })

  test("does not make calls again that were made in the cycle that failed", async () => {
    const paid: number[] = []
    let isBroken = true
    const agent = createAgent({
      model: scriptedModel(["```ts\nawait pay(1)\n```", "Paid."]),
      runtime: () => jsRuntime({ pay: fn(async (amount: number) => paid.push(amount)) }),
      hooks: {
        afterCycle() {
          if (isBroken) throw new Error("The hook is broken.")
        },
      },
    })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Pay")
    assert.equal((await engine.result(id)).status, "failed")
    isBroken = false
    await engine.retry(id)
    assert.equal((await engine.result(id)).output, "Paid.")
    assert.deepEqual(paid, [1])
  })

  test("is refused once a later run of the session exists", async () => {
    await using engine = createEngine({ agents: { agent: failingAgent([1]) }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Go", { session: "s" })
    await engine.result(id)
    const next = await engine.submit("agent", "Go on", { session: "s" })
    await engine.result(next.id)
    await assert.rejects(engine.retry(id), { code: "followed" })
  })

  for (const way of ["deleted", "pruned"]) {
    test(`of a run that was ${way} says that there is none`, async () => {
      const store = memoryStore()
      let isAway = false
      const { agent } = payingAgent({
        ...scriptedModel([]),
        async *stream() {
          if (isAway) throw new ModelError("Bad key.", { code: "authentication" })
          isAway = true
          yield { type: "text", text: "```ts\nawait pay(1); throw new Error()\n```" }
          yield { type: "finish", reason: "stop", usage: { complete: false } }
        },
      })
      await using engine = createEngine({ agents: { agent }, store })
      const { id } = await engine.submit("agent", "Go")
      assert.equal((await engine.result(id)).status, "failed")
      assert.ok((await Array.fromAsync(store.keys(`runs/${id}`))).length > 0)
      if (way === "deleted") await engine.delete(id)
      else {
        await untilOlder()
        await engine.prune({ olderThanMs: 0 })
      }
      await assert.rejects(engine.retry(id), { code: "unknown-run" })
      assert.deepEqual(await Array.fromAsync(store.keys(`runs/${id}`)), [])
      assert.deepEqual(await Array.fromAsync(store.read(`runs/${id}/journal`)), [])
    })
  }
})

describe("the wait before a retry", () => {
  const headWith = (retries?: RunHead["retries"]) => ({ ...(retries && { retries }) }) as RunHead

  test("doubles from 5 s to 5 min, with jitter", () => {
    for (const [count, longest] of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000].entries()) {
      const next = nextRetry(headWith({ count, since: 0 }), outage(), {}, 0)
      assert.equal(next?.count, count + 1)
      assert.ok(next && next.at >= longest / 2 && next.at <= longest, `${next?.at}`)
    }
    const waits = Array.from({ length: 20 }, () => nextRetry(headWith(), outage(), {}, 0)?.at)
    assert.ok(new Set(waits).size > 1, "all runs that failed together come back together")
  })

  test("is as long as the service asked for", () => {
    assert.equal(nextRetry(headWith(), outage({ retryAfterMs: 60_000 }), {}, 1_000)?.at, 61_000)
  })

  test("ends after ten retries, after an hour, and for what is not retryable", () => {
    assert.equal(nextRetry(headWith({ count: 10, since: 0 }), outage(), {}, 0), undefined)
    assert.equal(nextRetry(headWith({ count: 1, since: 0 }), outage(), {}, 3_600_000), undefined)
    assert.equal(nextRetry(headWith(), new Error("No."), {}, 0), undefined)
  })
})
