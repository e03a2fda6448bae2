import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { Usage } from "../../../src/core/usage.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool } from "../../../src/tools/tool.ts"
import { call, calls, errorCodeOf, finish, toolEnds } from "../tool-call-helpers.ts"

let made: string[] = []
const named = (name: string, options = {}) =>
  tool({ name, description: name, run: () => `${made.push(name)}`, ...options })
const tools = [named("a"), named("b"), named("p", { parallel: true })]

async function run(limits: object, answers: string[][], given = tools) {
  made = []
  const model = scriptedModel([...answers.map((names) => calls(...names.map((name) => call(name)))), calls(finish())])
  const { trajectory, status } = await createAgent({ noTool: "continue", model, tools: given, limits }).run("go")
  const ends = toolEnds(trajectory.events)
  return { made, status, codes: ends.map(errorCodeOf), texts: ends.map(({ text }) => text) }
}

describe("the calls a run may make", () => {
  test("are reserved for a whole answer before any of them has an effect", async () => {
    const { made, codes, texts, status } = await run({ calls: 3 }, [["a", "b"], ["a", "b"], ["b"]])
    // The second answer asks for two calls when one is left: neither is made.
    assert.deepEqual(made, ["a", "b", "b"])
    assert.deepEqual(codes, [undefined, undefined, "call-limit", "call-limit", undefined, undefined])
    assert.match(texts[2] ?? "", /this answer asks for 2, and the run may make 1 more calls in all \(limits\.calls\)/)
    // `finish` is always allowed.
    assert.equal(status, "done")
  })

  test("of one name leave the others their calls", async () => {
    const { made, codes } = await run({ callsByName: { a: 1 } }, [["a", "b", "a"], ["a"], ["a", "b"]])
    assert.deepEqual(made, ["b", "a", "b"])
    assert.deepEqual(codes, ["call-limit", undefined, "call-limit", undefined, "call-limit", undefined, undefined])
  })

  test("hold for tools that run together", async () => {
    const { made } = await run({ calls: 2 }, [
      ["p", "p", "p"],
      ["p", "p"],
    ])
    assert.deepEqual(made, ["p", "p"])
  })

  test("may be said by the tool", async () => {
    const once = named("once", { maxCalls: 1 })
    const { made, texts } = await run({}, [["once"], ["once"]], [once])
    assert.deepEqual(made, ["once"])
    assert.match(texts[1] ?? "", /no more calls of it \(maxCalls\)\. Go on without\./)
  })

  test("are not spent by what was left out, unknown or invalid", async () => {
    const strict = tool({
      name: "strict",
      description: "",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      run: ({ n }) => `${made.push(`strict ${n}`)}`,
    })
    made = []
    const speak = tool({ name: "speak", description: "", ignoresCallLimit: true, run: () => void run.steer("Hm.") })
    const model = scriptedModel([
      calls(call("strict", {}), call("nowhere"), call("strict", "{")),
      calls(call("speak"), call("strict", { n: 1 }), call("strict", { n: 2 })),
      calls(call("strict", { n: 3 }), call("strict", { n: 4 })),
      calls(finish()),
    ])
    const run = createAgent({ noTool: "continue", model, tools: [strict, speak], limits: { calls: 2 } }).run("go")
    await run
    assert.deepEqual(made, ["strict 3", "strict 4"])
  })

  test("of a run count those of the runs it starts, which cannot take what an answer has reserved", async () => {
    made = []
    const child = createAgent({
      noTool: "continue",
      name: "child",
      model: scriptedModel([calls(call("b")), calls(call("b")), calls(finish("child"))]),
      tools,
    })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const model = scriptedModel([calls(call("spawn"), call("a")), calls(finish())])
    await createAgent({ noTool: "continue", model, tools: [spawn, ...tools], limits: { calls: 3 } }).run("go")
    assert.deepEqual(made, ["b", "a"])
  })

  test("count tools and functions together", async () => {
    made = []
    const model = scriptedModel([calls("```ts\nawait f()\nawait f()\n```\n", call("a")), calls(call("a")), "ok"])
    const runtime = jsRuntime({ f: () => void made.push("f") })
    await createAgent({ model, tools, runtime, limits: { calls: 3 } }).run("go")
    assert.deepEqual(made, ["f", "f", "a"])
  })
})

describe("the tokens a run may use", () => {
  const spending = (usage: Usage, limits: object) =>
    createAgent({
      noTool: "continue",
      model: scriptedModel(() => calls(call("a")), { usage }),
      tools,
      limits: { cycles: 5, ...limits },
    }).run("go")

  test("count without what was read from a cache, where that is the limit", async () => {
    const usage = { input: 1000, cacheRead: 900, output: 10, complete: true }
    const all = await spending(usage, { tokens: 1500 })
    assert.deepEqual([all.reason, all.cycles], ["tokens", 2])
    const uncached = await spending(usage, { uncachedTokens: 300 })
    assert.deepEqual([uncached.status, uncached.reason, uncached.cycles], ["stopped", "uncached-tokens", 3])
    assert.deepEqual(uncached.completion, { by: "limit" })
  })

  test("are estimated where the provider does not say, or stop the run, as the limits want it", async () => {
    const unknown = { complete: false }
    const going = await spending(unknown, { tokens: 1_000_000 })
    assert.deepEqual([going.reason, going.usage.complete], ["cycles", false])
    assert.ok((going.usage.input ?? 0) > 0)
    const stopped = await spending(unknown, { tokens: 1_000_000, unknownUsage: "stop" })
    assert.deepEqual([stopped.status, stopped.reason, stopped.cycles], ["stopped", "unknown-usage", 1])
    const known = await spending({ input: 1, output: 1, complete: true }, { unknownUsage: "stop" })
    assert.equal(known.reason, "cycles")
  })

  test("of unknown number stop a run also where one that it started used them", async () => {
    const child = createAgent({ name: "child", model: scriptedModel(["ok"]), tools, noTool: "answer" })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const model = scriptedModel(() => calls(call("spawn")), { usage: { input: 1, output: 1, complete: true } })
    const { reason, cycles } = await createAgent({
      noTool: "continue",
      model,
      tools: [spawn],
      limits: { unknownUsage: "stop" },
    }).run("go")
    assert.deepEqual([reason, cycles], ["unknown-usage", 1])
  })

  test("must be limited by what there is", () => {
    const model = scriptedModel([])
    assert.throws(() => createAgent({ model, limits: { uncachedTokens: -1 } }), /limits\.uncachedTokens/)
    // @ts-expect-error: it continues or stops.
    assert.throws(() => createAgent({ model, limits: { unknownUsage: "maybe" } }), /limits\.unknownUsage/)
  })
})

test("active time is that of tools too, and a tool that is under way when it is over has its result", async () => {
  const hangs = tool({ name: "hangs", description: "", run: () => new Promise(() => undefined) })
  const model = scriptedModel([calls(call("hangs"), call("a"))])
  made = []
  const result = await createAgent({ noTool: "continue", model, tools: [hangs, ...tools], limits: { timeMs: 30 } }).run(
    "go",
  )
  assert.deepEqual([result.status, result.reason], ["stopped", "time"])
  assert.deepEqual(toolEnds(result.trajectory.events).map(errorCodeOf), ["aborted", "skipped-aborted"])
  assert.deepEqual(made, [])
})
