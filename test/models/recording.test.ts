import assert from "node:assert/strict"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import { userMessage } from "../../src/core/message.ts"
import type { ModelPart, ModelRequest } from "../../src/models/model.ts"
import { type RecordedCall, recordModel, replayModel } from "../../src/models/recording.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { ask, collect, failing, text, textOf } from "./helpers.ts"

const request = { ...ask, messages: [userMessage("hi")], tools: [{ name: "add", description: "Adds", input: {} }] }

async function folder() {
  const path = await mkdtemp(join(tmpdir(), "karst-record-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

test("a recorded model behaves as before, and its calls are written down with text put together", async () => {
  const calls: RecordedCall[] = []
  const model = recordModel(scriptedModel(["hello"], { id: "acme/stone-1", chunkChars: 2 }), calls)
  assert.equal(model.id, "acme/stone-1")
  assert.equal(textOf(await collect(model.stream(request))), "hello")
  assert.deepEqual(calls, [
    {
      version: 2,
      call: 0,
      model: "acme/stone-1",
      request: { system: "Be brief.", tools: ["add {}\nAdds"], messages: ["user:\nhi"] },
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
  await collect(recordModel(scriptedModel([parts]), calls).stream(ask))
  assert.deepEqual(calls[0]?.parts.slice(0, -1), [
    { type: "reasoning", text: "ab", provider: { acme: { signature: "1" } } },
    { type: "reasoning", text: "c" },
  ])
})

test("a file of lines is written, folders made, and played back", async () => {
  await using directory = await folder()
  const path = join(directory.path, "deep", "run.jsonl")
  const model = recordModel(scriptedModel(["one", "two"], { id: "acme/stone-1" }), path)
  await collect(model.stream(request))
  await collect(model.stream(request))
  assert.equal((await readFile(path, "utf8")).trim().split("\n").length, 2)
  const played = replayModel(path)
  assert.equal(played.id, "acme/stone-1")
  assert.equal(textOf(await collect(played.stream(request))), "one")
  assert.equal(textOf(await collect(played.stream(request))), "two")
})

test("calls made at once are played back in the order they were made", async () => {
  const calls: RecordedCall[] = []
  const gate = Promise.withResolvers<string>()
  const model = recordModel(scriptedModel([() => gate.promise, "second"]), calls)
  const first = collect(model.stream(ask))
  await collect(model.stream(ask))
  gate.resolve("first")
  await first
  assert.deepEqual(
    calls.map(({ call }) => call),
    [1, 0],
  )
  const played = replayModel(calls)
  assert.equal(textOf(await collect(played.stream(ask))), "first")
  assert.equal(textOf(await collect(played.stream(ask))), "second")
})

test("a failure is recorded and thrown again as it was", async () => {
  const calls: RecordedCall[] = []
  const broken = new ModelError("Slow down.", { code: "rate-limited", retryable: true, status: 429, retryAfterMs: 7 })
  await failing(recordModel(scriptedModel([[text("half"), broken]]), calls).stream(ask))
  const { parts, error } = await failing(replayModel(calls).stream(ask))
  assert.deepEqual(parts, [text("half")])
  assert.ok(error instanceof ModelError)
  const { code, retryable, status, retryAfterMs, message } = error
  assert.deepEqual([code, retryable, status, retryAfterMs, message], ["rate-limited", true, 429, 7, "Slow down."])
})

test("a call left early is recorded so far, and whoever reads on is told", async () => {
  const calls: RecordedCall[] = []
  for await (const _ of recordModel(scriptedModel([[text("one"), text("two")]]), calls).stream(ask)) break
  assert.deepEqual(calls[0]?.parts, [text("one")])
  for await (const part of replayModel(calls).stream(ask)) {
    assert.deepEqual(part, text("one"))
    break
  }
  const { error } = await failing(replayModel(calls).stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /left before its end/)
})

test("an aborted call is recorded as left early, not as a failure", async () => {
  const calls: RecordedCall[] = []
  const controller = new AbortController()
  const model = recordModel(scriptedModel(["hello"], { chunkChars: 1 }), calls)
  await assert.rejects(async () => {
    for await (const _ of model.stream({ ...ask, signal: controller.signal })) controller.abort()
  })
  assert.deepEqual(calls[0]?.parts, [text("h")])
  assert.equal(calls[0]?.error, undefined)
})

test("one call more than recorded is an error that says how many there are", async () => {
  const { error } = await failing(replayModel([]).stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /has 0 calls, and a further one was made/)
})

test("a file that has calls is refused, unless it is to be continued", async () => {
  await using directory = await folder()
  const path = join(directory.path, "run.jsonl")
  const [first, second] = [recordModel(scriptedModel(["one"]), path), recordModel(scriptedModel(["other"]), path)]
  await collect(first.stream(ask))
  const cure = /exists\. Delete it to record anew, or continue it: recordModel\(model, path, \{ append: true \}\)/
  assert.throws(() => recordModel(scriptedModel(["two"]), path), { name: "ConfigError", message: cure })
  const { error } = await failing(second.stream(ask))
  assert.match(String(error), cure)
  await collect(recordModel(scriptedModel(["two"]), path, { append: true }).stream(ask))
  const played = replayModel(path, { strict: true })
  assert.equal(textOf(await collect(played.stream(ask))), "one")
  assert.equal(textOf(await collect(played.stream(ask))), "two")
})

test("a file that is to be continued may be missing or empty", async () => {
  await using directory = await folder()
  const path = join(directory.path, "run.jsonl")
  await collect(recordModel(scriptedModel(["one"]), path, { append: true }).stream(ask))
  assert.equal(textOf(await collect(replayModel(path).stream(ask))), "one")
  const empty = join(directory.path, "empty.jsonl")
  await writeFile(empty, "")
  await collect(recordModel(scriptedModel(["one"]), empty).stream(ask))
  assert.equal(textOf(await collect(replayModel(empty).stream(ask))), "one")
  assert.throws(() => recordModel(scriptedModel(["one"]), [], { append: true }), { name: "ConfigError" })
})

const tool = { name: "add", description: "Adds", input: {} }
const asked: ModelRequest = {
  system: "Be brief.\nYou have:\ndeclare const light: Light",
  messages: [userMessage("Dim the light\nto 20")],
  tools: [tool],
}
const differences: [what: string, now: Partial<ModelRequest>, shows: RegExp][] = [
  [
    "a word of the prompt",
    { messages: [userMessage("Dim the light\nto 30")] },
    /message 1 differs[\s\S]*\n- to 20\n\+ to 30\n/,
  ],
  [
    "a message more",
    { messages: [...asked.messages, userMessage("And now?")] },
    /message 2 differs[\s\S]*\n\+ user:\n\+ And now\?\n/,
  ],
  [
    "the instructions",
    { system: asked.system.replace("brief", "polite") },
    /system prompt[\s\S]*- Be brief\.\n\+ Be polite\.\n/,
  ],
  [
    "a binding",
    { system: asked.system.replace("light: Light", "lamp: Lamp") },
    /declares the bindings, differs[\s\S]*- declare const light: Light\n\+ declare const lamp: Lamp\n/,
  ],
  ["a tool's description", { tools: [{ ...tool, description: "Sums" }] }, /tool 1 differs[\s\S]*- Adds\n\+ Sums\n/],
  [
    "a tool's input",
    { tools: [{ ...tool, input: { type: "object" } }] },
    /tool 1 differs[\s\S]*- add \{\}\n\+ add \{"type":"object"\}/,
  ],
  ["a tool less", { tools: [] }, /tool 1 differs[\s\S]*- add/],
]
for (const [what, now, shows] of differences) {
  test(`a strict replay shows as a diff that ${what} differs`, async () => {
    const calls: RecordedCall[] = []
    await collect(recordModel(scriptedModel(["hello"]), calls).stream(asked))
    assert.equal(textOf(await collect(replayModel(calls, { strict: true }).stream(asked))), "hello")
    const { error } = await failing(replayModel(calls, { strict: true }).stream({ ...asked, ...now }))
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /^Call 1 of the recording given was made with another request: /)
    assert.match(error.message, shows)
    assert.equal(textOf(await collect(replayModel(calls).stream({ ...asked, ...now }))), "hello")
  })
}

test("a strict replay compares later calls, of which only what is new is stored", async () => {
  const calls: RecordedCall[] = []
  const model = recordModel(scriptedModel(["one", "two", "three"]), calls)
  const second = { ...asked, messages: [...asked.messages, userMessage("more")] }
  const third = { ...second, system: "Other.", messages: [userMessage("a summary"), userMessage("more")] }
  for (const each of [asked, second, third]) await collect(model.stream(each))
  assert.deepEqual(calls[1]?.request, { base: 0, kept: 1, messages: ["user:\nmore"] })
  const played = replayModel(calls, { strict: true })
  for (const each of [asked, second, third]) await collect(played.stream(each))
  const other = replayModel(calls, { strict: true })
  await collect(other.stream(asked))
  const { error } = await failing(other.stream({ ...second, messages: [...asked.messages, userMessage("less")] }))
  assert.match(String(error), /^ConfigError: Call 2 [\s\S]*- more\n\+ less\n/)
})

test("a strict replay compares texts as the mask leaves them", async () => {
  const calls: RecordedCall[] = []
  const on = (day: number) => ({ ...asked, system: `Today is 2026-01-0${day}.` })
  await collect(recordModel(scriptedModel(["hello"]), calls).stream(on(1)))
  const mask = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d/g, "DATE")
  assert.equal(textOf(await collect(replayModel(calls, { strict: true, mask }).stream(on(2)))), "hello")
})

test("a strict replay of calls without requests says so", async () => {
  const calls: RecordedCall[] = []
  await collect(recordModel(scriptedModel(["hello"]), calls, { includeRequests: false }).stream(asked))
  const older = [{ ...calls[0], version: 1, request: { messages: ["user: text"], tools: [] } }] as RecordedCall[]
  for (const each of [calls, older]) {
    const { error } = await failing(replayModel(each, { strict: true }).stream(asked))
    assert.match(String(error), /has no request to compare\. Record it again/)
  }
})

test("a strict replay of an agent shows which binding is another", async () => {
  const calls: RecordedCall[] = []
  const model = recordModel(scriptedModel(["Done."]), calls)
  await createAgent({ model, runtime: jsRuntime({ light: { level: 1 } }) }).run("Go.")
  const again = createAgent({
    model: replayModel(calls, { strict: true }),
    runtime: jsRuntime({ light: { level: 2 } }),
  })
  assert.equal((await again.run("Go.")).output, "Done.")
  const other = createAgent({ model: replayModel(calls, { strict: true }), runtime: jsRuntime({ lamp: { level: 1 } }) })
  const { error } = await other.run("Go.").settled
  assert.match(error?.message ?? "", /declares the bindings, differs[\s\S]*- .*light[\s\S]*\+ .*lamp/)
})

test("a paced replay gives out text bit by bit with a wait before each", async () => {
  const calls: RecordedCall[] = []
  await collect(recordModel(scriptedModel(["the quick brown fox"]), calls).stream(ask))
  const waits: number[] = []
  const sleep = async (ms: number) => {
    waits.push(ms)
  }
  const parts = await collect(replayModel(calls, { delayMs: 20, sleep }).stream(ask))
  assert.deepEqual(parts.slice(0, 2), [text("the quick br"), text("own fox")])
  assert.deepEqual(waits, [20, 20, 20])
})

test("aborting a paced replay ends its wait", async () => {
  const controller = new AbortController()
  const calls: RecordedCall[] = []
  await collect(recordModel(scriptedModel(["hello"]), calls).stream(ask))
  const outcome = failing(replayModel(calls, { delayMs: 3_600_000 }).stream({ ...ask, signal: controller.signal }))
  controller.abort()
  assert.equal(((await outcome).error as Error).name, "AbortError")
})

test("a missing recording says how to make one, and a bad line its number", async () => {
  await using directory = await folder()
  assert.throws(() => replayModel(join(directory.path, "none.jsonl")), /cannot be read. Make one with record/)
  const path = join(directory.path, "bad.jsonl")
  await writeFile(path, '{"version":1,"call":0,"parts":[]}\n\n{"version":2}\n')
  assert.throws(() => replayModel(path), /Line 3 of the recording .* is not a recorded call of version 1/)
})
