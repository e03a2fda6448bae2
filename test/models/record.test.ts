import assert from "node:assert/strict"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import { userMessage } from "../../src/core/message.ts"
import type { ModelPart } from "../../src/models/model.ts"
import { type RecordedCall, record, replay } from "../../src/models/record.ts"
import { scripted } from "../../src/models/scripted.ts"
import { ask, collect, failing, text, textOf } from "./helpers.ts"

const request = { ...ask, messages: [userMessage("hi")], tools: [{ name: "add", description: "Adds", input: {} }] }

async function folder() {
  const path = await mkdtemp(join(tmpdir(), "karst-record-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

test("a recorded model behaves as before, and its calls are written down with text put together", async () => {
  const calls: RecordedCall[] = []
  const model = record(scripted(["hello"], { id: "acme/stone-1", chunk: 2 }), calls)
  assert.equal(model.id, "acme/stone-1")
  assert.equal(textOf(await collect(model.stream(request))), "hello")
  assert.deepEqual(calls, [
    {
      version: 1,
      call: 0,
      model: "acme/stone-1",
      request: { messages: ["user: text"], tools: ["add"] },
      parts: [text("hello"), { type: "finish", reason: "stop", usage: { complete: false } }],
    },
  ])
})

test("reasoning is put together block by block", async () => {
  const calls: RecordedCall[] = []
  const parts: ModelPart[] = [
    { type: "reasoning", text: "a" },
    { type: "reasoning", text: "b" },
    { type: "reasoning", text: "", provider: { acme: { signature: "1" } } },
    { type: "reasoning", text: "c" },
  ]
  await collect(record(scripted([parts]), calls).stream(ask))
  assert.deepEqual(calls[0]?.parts.slice(0, -1), [
    { type: "reasoning", text: "ab", provider: { acme: { signature: "1" } } },
    { type: "reasoning", text: "c" },
  ])
})

test("a file of lines is written, folders made, and played back", async () => {
  await using directory = await folder()
  const path = join(directory.path, "deep", "run.jsonl")
  const model = record(scripted(["one", "two"], { id: "acme/stone-1" }), path)
  await collect(model.stream(request))
  await collect(model.stream(request))
  assert.equal((await readFile(path, "utf8")).trim().split("\n").length, 2)
  const played = replay(path)
  assert.equal(played.id, "acme/stone-1")
  assert.equal(textOf(await collect(played.stream(request))), "one")
  assert.equal(textOf(await collect(played.stream(request))), "two")
})

test("calls made at once are played back in the order they were made", async () => {
  const calls: RecordedCall[] = []
  const gate = Promise.withResolvers<string>()
  const model = record(scripted([() => gate.promise, "second"]), calls)
  const first = collect(model.stream(ask))
  await collect(model.stream(ask))
  gate.resolve("first")
  await first
  assert.deepEqual(
    calls.map(({ call }) => call),
    [1, 0],
  )
  const played = replay(calls)
  assert.equal(textOf(await collect(played.stream(ask))), "first")
  assert.equal(textOf(await collect(played.stream(ask))), "second")
})

test("a failure is recorded and thrown again as it was", async () => {
  const calls: RecordedCall[] = []
  const broken = new ModelError("Slow down.", { code: "rate-limited", retryable: true, status: 429, retryAfterMs: 7 })
  await failing(record(scripted([[text("half"), broken]]), calls).stream(ask))
  const { parts, error } = await failing(replay(calls).stream(ask))
  assert.deepEqual(parts, [text("half")])
  assert.ok(error instanceof ModelError)
  const { code, retryable, status, retryAfterMs, message } = error
  assert.deepEqual([code, retryable, status, retryAfterMs, message], ["rate-limited", true, 429, 7, "Slow down."])
})

test("a call left early is recorded so far, and whoever reads on is told", async () => {
  const calls: RecordedCall[] = []
  for await (const _ of record(scripted([[text("one"), text("two")]]), calls).stream(ask)) break
  assert.deepEqual(calls[0]?.parts, [text("one")])
  for await (const part of replay(calls).stream(ask)) {
    assert.deepEqual(part, text("one"))
    break
  }
  const { error } = await failing(replay(calls).stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /left before its end/)
})

test("an aborted call is recorded as left early, not as a failure", async () => {
  const calls: RecordedCall[] = []
  const controller = new AbortController()
  const model = record(scripted(["hello"], { chunk: 1 }), calls)
  await assert.rejects(async () => {
    for await (const _ of model.stream({ ...ask, signal: controller.signal })) controller.abort()
  })
  assert.deepEqual(calls[0]?.parts, [text("h")])
  assert.equal(calls[0]?.error, undefined)
})

test("one call more than recorded is an error that says how many there are", async () => {
  const { error } = await failing(replay([]).stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /has 0 calls, and a further one was made/)
})

test("a strict replay names the first message that differs", async () => {
  const calls: RecordedCall[] = []
  await collect(record(scripted(["hello"]), calls).stream(request))
  assert.equal(textOf(await collect(replay(calls, { strict: true }).stream(request))), "hello")
  const longer = { ...request, messages: [...request.messages, userMessage("more")] }
  const { error } = await failing(replay(calls, { strict: true }).stream(longer))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /Call 1 of the recording given .*message 2 was "missing" and is "user: text"/)
  assert.equal(textOf(await collect(replay(calls).stream(longer))), "hello")
})

test("a strict replay notices other tools", async () => {
  const calls: RecordedCall[] = []
  await collect(record(scripted(["hello"]), calls).stream(request))
  const { error } = await failing(replay(calls, { strict: true }).stream({ ...request, tools: [] }))
  assert.match(String(error), /recorded with the tools \[add\], called with \[\]/)
})

test("a paced replay gives out text bit by bit with a wait before each", async () => {
  const calls: RecordedCall[] = []
  await collect(record(scripted(["the quick brown fox"]), calls).stream(ask))
  const waits: number[] = []
  const sleep = async (ms: number) => {
    waits.push(ms)
  }
  const parts = await collect(replay(calls, { paceMs: 20, sleep }).stream(ask))
  assert.deepEqual(parts.slice(0, 2), [text("the quick br"), text("own fox")])
  assert.deepEqual(waits, [20, 20, 20])
})

test("aborting a paced replay ends its wait", async () => {
  const controller = new AbortController()
  const calls: RecordedCall[] = []
  await collect(record(scripted(["hello"]), calls).stream(ask))
  const outcome = failing(replay(calls, { paceMs: 3_600_000 }).stream({ ...ask, signal: controller.signal }))
  controller.abort()
  assert.equal(((await outcome).error as Error).name, "AbortError")
})

test("a missing recording says how to make one, and a bad line its number", async () => {
  await using directory = await folder()
  assert.throws(() => replay(join(directory.path, "none.jsonl")), /cannot be read. Make one with record/)
  const path = join(directory.path, "bad.jsonl")
  await writeFile(path, '{"version":1,"call":0,"parts":[]}\n\n{"version":2}\n')
  assert.throws(() => replay(path), /Line 3 of the recording .* is not a recorded call of version 1/)
})
