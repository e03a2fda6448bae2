import assert from "node:assert/strict"
import { test } from "node:test"
import { ConfigError } from "../../src/core/errors.ts"
import { userMessage } from "../../src/core/message.ts"
import type { ModelPart } from "../../src/models/model.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import fc from "../property.ts"
import { ask, collect, failing, text, textOf } from "./helpers.ts"

const call: ModelPart = { type: "tool-call", id: "c1", name: "add", input: {} }

test("a text is an answer that stops", async () => {
  assert.deepEqual(await collect(scriptedModel(["hello"]).stream(ask)), [
    text("hello"),
    { type: "finish", reason: "stop", usage: { complete: false } },
  ])
})

test("parts are given out as they are, and a missing finish is added to suit", async () => {
  const parts = await collect(scriptedModel([[text("adding"), call]]).stream(ask))
  assert.deepEqual(
    parts.map((part) => part.type),
    ["text", "tool-call", "finish"],
  )
  const last = parts.at(-1)
  assert.equal(last?.type === "finish" && last.reason, "tool-calls")
})

test("a finish of one's own is kept", async () => {
  const finish: ModelPart = { type: "finish", reason: "length", usage: { input: 1, output: 2, complete: true } }
  assert.deepEqual(await collect(scriptedModel([[text("half"), finish]]).stream(ask)), [text("half"), finish])
})

test("usage and price are reported with every answer", async () => {
  const usage = { input: 1_000_000, output: 0, complete: true }
  const model = scriptedModel(["a"], { usage, price: { input: 3, output: 9 } })
  const last = (await collect(model.stream(ask))).at(-1)
  assert.deepEqual(last?.type === "finish" && last.usage, { ...usage, costUsd: 3 })
})

test("steps are used in order, and the model says how many are left", async () => {
  const model = scriptedModel(["one", "two"])
  assert.equal(model.remaining, 2)
  assert.equal(textOf(await collect(model.stream(ask))), "one")
  assert.equal(model.remaining, 1)
  assert.equal(textOf(await collect(model.stream(ask))), "two")
  assert.equal(model.remaining, 0)
})

test("running out of steps says which answer was missing", async () => {
  const model = scriptedModel(["one"], { id: "test/short" })
  await collect(model.stream(ask))
  const { error } = await failing(model.stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /"test\/short" was asked for answer 2 and has only 1[\s\S]*The last message is: /)
})

test("an error step is thrown, and an error among parts when its turn comes", async () => {
  const broken = new Error("broken")
  assert.equal((await failing(scriptedModel([broken]).stream(ask))).error, broken)
  const { parts, error } = await failing(scriptedModel([[text("half"), broken]]).stream(ask))
  assert.deepEqual([parts, error], [[text("half")], broken])
})

test("a function sees the request and may answer with any step", async () => {
  const model = scriptedModel([async (request) => (request.system === "Be brief." ? () => "brief" : "long")])
  assert.equal(textOf(await collect(model.stream(ask))), "brief")
})

test("a function instead of steps answers every request", async () => {
  const model = scriptedModel((request) => String(request.messages.length))
  assert.equal(model.remaining, Infinity)
  assert.equal(textOf(await collect(model.stream(ask))), "0")
  assert.equal(textOf(await collect(model.stream({ ...ask, messages: [userMessage("hi")] }))), "1")
})

test("text cut into pieces is the same text, and no character is cut in two", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 9 }), async (content, chunk) => {
      const parts = await collect(scriptedModel([content], { chunkChars: chunk }).stream(ask))
      assert.equal(textOf(parts), content)
      for (const part of parts) {
        if (part.type !== "text") continue
        assert.ok(part.text.length <= chunk + 1)
        assert.ok(part.text.isWellFormed())
      }
    }),
    { numRuns: 200 },
  )
})

test("an abort between pieces is an AbortError", async () => {
  const controller = new AbortController()
  const seen: ModelPart[] = []
  await assert.rejects(
    async () => {
      for await (const part of scriptedModel(["hello"], { chunkChars: 1 }).stream({
        ...ask,
        signal: controller.signal,
      })) {
        seen.push(part)
        controller.abort()
      }
    },
    { name: "AbortError" },
  )
  assert.equal(seen.length, 1)
})
