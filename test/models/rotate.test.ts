import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError, ModelError, type ModelErrorCode } from "../../src/core/errors.ts"
import { resolveModel } from "../../src/models/resolve.ts"
import { withRetry } from "../../src/models/retry.ts"
import { type EndpointChange, rotateModels } from "../../src/models/rotate.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import fc from "../property.ts"
import { ask, collect, failing, modelOf, text, textOf } from "./helpers.ts"

function failure(code: ModelErrorCode, options: { retryable?: boolean; retryAfterMs?: number } = {}): ModelError {
  return new ModelError(`It was ${code}.`, { code, retryable: true, ...options })
}

test("the endpoint that answered last is asked first, and the next one only when it fails", async () => {
  const a = scriptedModel(["a1", failure("overloaded"), "a2"])
  const b = scriptedModel(["b1", "b2"])
  const changes: EndpointChange[] = []
  const model = rotateModels([a, b], { onChange: (change) => changes.push(change) })
  const said: string[] = []
  for (let n = 0; n < 3; n++) said.push(textOf(await collect(model.stream(ask))))
  assert.deepEqual(said, ["a1", "b1", "b2"])
  assert.deepEqual(
    changes.map(({ from, to, error }) => [from, to, error.code]),
    [[0, 1, "overloaded"]],
  )
})

test("each failure that may pass goes on to the next endpoint, and no other does", async () => {
  const passing: ModelErrorCode[] = ["rate-limited", "overloaded", "server-error", "connection", "timeout", "stalled"]
  for (const code of passing) {
    assert.equal(
      textOf(await collect(rotateModels([scriptedModel([failure(code)]), scriptedModel(["b"])]).stream(ask))),
      "b",
      code,
    )
  }
  const refused = rotateModels([scriptedModel([failure("authentication", { retryable: false })]), scriptedModel(["b"])])
  assert.equal(textOf(await collect(refused.stream(ask))), "b", "another endpoint has another key")
  for (const code of ["billing", "context-overflow", "content-filter", "invalid-request"] as const) {
    const b = scriptedModel(["b"])
    const { error } = await failing(rotateModels([scriptedModel([failure(code, { retryable: false })]), b]).stream(ask))
    assert.equal(error instanceof ModelError && error.code, code)
    assert.equal(b.requests.length, 0, code)
  }
})

test("a programming error is no reason to try elsewhere", async () => {
  const b = scriptedModel(["b"])
  const { error } = await failing(rotateModels([scriptedModel([new TypeError("no such thing")]), b]).stream(ask))
  assert.ok(error instanceof TypeError)
  assert.equal(b.requests.length, 0)
})

test("an answer that has begun is never begun again, but the next request goes elsewhere", async () => {
  const a = scriptedModel([[text("half an ans"), failure("connection")], "a2"])
  const b = scriptedModel(["whole"])
  const model = rotateModels([a, b])
  const { parts, error } = await failing(model.stream(ask))
  assert.equal(textOf(parts), "half an ans")
  assert.equal(error instanceof ModelError && error.code, "connection")
  assert.equal(textOf(await collect(model.stream(ask))), "whole")
})

test("an agent goes on at another endpoint where one broke off, with what was said kept", async () => {
  const a = scriptedModel([[text("The answer is "), failure("connection")]])
  const b = scriptedModel(["42."])
  const { output } = await createAgent({ model: rotateModels([a, b]) }).run("What is it?")
  assert.equal(output, "The answer is 42.")
})

test("where all fail, one error names every attempt and the soonest time to come back", async () => {
  const model = rotateModels([
    scriptedModel([failure("rate-limited", { retryAfterMs: 9000 })]),
    scriptedModel([failure("overloaded", { retryAfterMs: 4000 })]),
  ])
  const { error } = await failing(model.stream(ask))
  assert.ok(error instanceof ModelError)
  assert.match(error.message, /None of the 2 endpoints.*endpoint 1 \(rate-limited\).*endpoint 2 \(overloaded\)/s)
  assert.deepEqual([error.code, error.retryable, error.retryAfterMs], ["rate-limited", true, 4000])
})

test("retry around it begins a second round, and the run tells each change as a warning", async () => {
  const a = scriptedModel([failure("overloaded"), "a"])
  const b = scriptedModel([failure("timeout")])
  const model = withRetry(rotateModels([a, b]), { sleep: async () => undefined })
  const run = createAgent({ model }).run("go")
  const events = await Array.fromAsync(run)
  assert.equal((await run).output, "a")
  const warnings = events.filter((event) => event.type === "warning-raised").map(({ code }) => code)
  assert.deepEqual(warnings, ["model-retried", "model-retried"])
})

test("an abort goes to no other endpoint", async () => {
  const controller = new AbortController()
  const b = scriptedModel(["b"])
  const a = scriptedModel([
    () => {
      controller.abort()
      return failure("connection")
    },
  ])
  const { error } = await failing(rotateModels([a, b]).stream({ ...ask, signal: controller.signal }))
  assert.equal(error instanceof Error && error.name, "AbortError")
  assert.equal(b.requests.length, 0)
})

test("leaving the answer early ends the request behind it", async () => {
  let closed = false
  const model = rotateModels([
    modelOf(async function* () {
      try {
        for (;;) yield text("more ")
      } finally {
        closed = true
      }
    }),
  ])
  for await (const _ of model.stream(ask)) break
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(closed)
})

test("shuffled, the rest comes in any order; an observer that throws changes nothing", async () => {
  const models = ["a", "b", "c", "d"].map((name) => scriptedModel([name === "b" ? name : failure("overloaded")]))
  const changes: number[] = []
  const onChange = ({ to }: EndpointChange) => {
    changes.push(to)
    throw new Error("observer")
  }
  const model = rotateModels(models, { shuffle: true, random: () => 0, onChange })
  assert.equal(textOf(await collect(model.stream(ask))), "b")
  assert.deepEqual(changes, [3, 1])
})

test("it promises what holds for all: the smallest window, a price only where each has one", () => {
  const price = { input: 1, output: 2 }
  const model = rotateModels([
    scriptedModel([], { contextWindow: 8000, price }),
    scriptedModel([], { contextWindow: 4000 }),
  ])
  assert.deepEqual([model.contextWindow, model.price], [4000, undefined])
  assert.throws(() => rotateModels([]), ConfigError)
})

test("keys of a real service take turns over HTTP", async () => {
  const keys: (string | null)[] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const key = new Headers(init?.headers).get("authorization")
    keys.push(key)
    if (key === "Bearer key-one") return Response.json({ error: { message: "slow down" } }, { status: 429 })
    const chunk = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] }
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    })
  }
  const id = "openai-compatible:https://models.test/v1#m"
  const endpoint = (apiKey: string) => resolveModel(id, { apiKey, fetch, retry: false })
  const model = rotateModels([await endpoint("key-one"), await endpoint("key-two")])
  for (let n = 0; n < 2; n++) assert.equal(textOf(await collect(model.stream(ask))), "hi")
  assert.deepEqual(keys, ["Bearer key-one", "Bearer key-two", "Bearer key-two"])
})

test("whatever endpoints do, a request is answered by one of them from its beginning, or fails", async () => {
  const outcome = fc.constantFrom("ok", "down", "cut", "refused")
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(outcome, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      async (plan) => {
        const models = plan.map((outcomes, endpoint) => {
          const steps: ScriptedStep[] = outcomes.map((each, nth) => {
            if (each === "down") return failure("overloaded")
            if (each === "refused") return failure("authentication", { retryable: false })
            const begin = text(`<${endpoint}.${nth}`)
            return each === "ok" ? [begin, text(">")] : [begin, failure("connection")]
          })
          return scriptedModel(steps)
        })
        const model = rotateModels(models)
        for (let request = 0; request < 6; request++) {
          const before = models.map(({ requests }) => requests.length)
          let said = ""
          let failed = false
          try {
            for await (const part of model.stream(ask)) if (part.type === "text") said += part.text
          } catch {
            failed = true
          }
          const asked = models.map(({ requests }, index) => requests.length - (before[index] ?? 0))
          assert.ok(
            asked.every((times) => times <= 1),
            "no endpoint is asked twice for one request",
          )
          assert.match(said, failed ? /^(<\d\.\d)?$/ : /^<\d\.\d>$/)
        }
      },
    ),
    { numRuns: 100 },
  )
})
