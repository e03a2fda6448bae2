import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { messageText } from "../../src/core/message.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { tool } from "../../src/tools/tool.ts"
import { goodSummary } from "../memory/memory-helpers.ts"
import { call, finish } from "./delegate-case.ts"

const read = tool({
  name: "read",
  description: "Reads",
  input: { type: "object", properties: { page: { type: "number" } } },
  run: ({ page }) => `Page ${page}: ${"words on the page ".repeat(200)}`,
})

const pages = (count: number): ScriptedStep[] =>
  Array.from({ length: count }, (_, page) => call("read", { page }, `page-${page}`))

const summarising = () => scriptedModel(() => goodSummary("- pages seen"), { id: "scripted/summariser" })

test("compact_memory has older messages replaced by a summary before the next request", async () => {
  const summariser = summarising()
  const model = scriptedModel([
    ...pages(8),
    call("compact_memory", { notes: "Page 3 has the key 4711." }),
    finish("Done."),
  ])
  const run = createAgent({
    noTool: "continue",
    compactMemory: true,
    model,
    tools: [read],
    memory: { model: summariser },
    limits: { cycles: 20 },
  }).run("Read")
  const events = await Array.fromAsync(run)
  const { messages, status } = await run
  assert.equal(status, "done")
  const tiers = events.filter((event) => event.type === "memory-compacted").map(({ tier }) => tier)
  assert.ok(tiers.includes(2), `a summary was made: ${tiers}`)
  const last = model.requests.at(-1)
  const length = (request: typeof last) => JSON.stringify(request?.messages).length
  assert.ok(length(last) < length(model.requests.at(-2)) / 2, "the next request is less than half as long")
  assert.match(messages.map(messageText).join("\n"), /Your notes:\nPage 3 has the key 4711\./)
  assert.equal(summariser.requests.length, 1)
})

test("the wish is granted once: later requests are left alone", async () => {
  const summariser = summarising()
  const steps = [...pages(8), call("compact_memory", { notes: "n" }), ...pages(2), finish("Done.")]
  const agent = createAgent({
    noTool: "continue",
    compactMemory: true,
    model: scriptedModel(steps),
    tools: [read],
    memory: { model: summariser },
    limits: { cycles: 20 },
  })
  const { trajectory } = await agent.run("Read")
  const types = trajectory.events.map(({ type }) => type)
  assert.equal(summariser.requests.length, 1)
  assert.ok(types.lastIndexOf("memory-compacted") < types.indexOf("message-end", types.indexOf("memory-compacted")))
})

test("a hook is told that the model asked for it", async () => {
  const reasons: string[] = []
  const agent = createAgent({
    noTool: "continue",
    compactMemory: true,
    model: scriptedModel([...pages(6), call("compact_memory", { notes: "n" }), finish("Done.")]),
    tools: [read],
    memory: { model: summarising() },
    hooks: {
      beforeCompact({ reason }) {
        reasons.push(reason)
      },
    },
  })
  await agent.run("Read")
  assert.deepEqual(reasons, ["asked"])
})

test("with hardly anything said, nothing is made shorter and the run goes on", async () => {
  const summariser = summarising()
  const model = scriptedModel([call("compact_memory", { notes: "n" }), finish("Done.")])
  const { status, trajectory } = await createAgent({
    noTool: "continue",
    compactMemory: true,
    model,
    tools: [read],
    memory: { model: summariser },
  }).run("Hi")
  assert.equal(status, "done")
  assert.ok(!trajectory.events.some(({ type }) => type === "memory-compacted"))
  assert.equal(summariser.requests.length, 0)
})

test("the calls that stay after it keep their results", async () => {
  const model = scriptedModel([...pages(8), call("compact_memory", { notes: "n" }), ...pages(1), finish("Done.")])
  const agent = createAgent({
    noTool: "continue",
    compactMemory: true,
    model,
    tools: [read],
    memory: { model: summarising() },
    limits: { cycles: 20 },
  })
  const { messages } = await agent.run("Read")
  const calls = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-call" ? part.id : [])))
  const results = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? part.id : [])))
  assert.deepEqual(results, calls)
})
