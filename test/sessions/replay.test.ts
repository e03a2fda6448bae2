// test lane: durable
import assert from "node:assert/strict"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { z } from "zod"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ModelError } from "../../src/core/errors.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { assertReplays, replayRecording } from "../../src/testing/replay.ts"
import { tool } from "../../src/tools/tool.ts"
import { cell, freshFolder } from "./session-fixtures.ts"

const noModel = scriptedModel(() => assert.fail("a model was asked"))

describe("a recording", () => {
  test("replays with no model and no call, and cells see the same values, times and randomness", async () => {
    const store = memoryStore()
    let calls = 0
    const price = async (name: string) => {
      calls++
      if (name === "gone") throw new RangeError("sold out")
      return new Map([[name, 3]])
    }
    const code = [
      "const m = await price('tea')",
      "const seen = await price('gone').catch((error) => error.name + ': ' + error.message)",
      "console.log(m.get('tea'), seen, Date.now(), Math.random(), crypto.randomUUID())",
    ].join("\n")
    const factory = () => jsRuntime({ price: fn(price) })
    const agent = createAgent({
      model: scriptedModel([cell(code), "3.", cell("m.get('tea') * 2"), "6."]),
      runtime: factory,
    })
    const session = await agent.session({ archive: store })
    await session.send("What is tea?")
    await session.send("And two?")
    await session.close()
    assert.equal(calls, 2)
    const source = { archive: store, id: session.id }
    await assertReplays(createAgent({ model: noModel, runtime: factory }), source)
    assert.equal(calls, 2)
    const { trajectory, divergence } = await replayRecording(agent, source, { strict: true })
    assert.equal(divergence, undefined)
    assert.equal(trajectory.runs[1]?.output, "6.")
  })

  test("shows the first divergence as a diff", async () => {
    await using folder = await freshFolder()
    const total = (rows: number[]) => rows.reduce((sum, row) => sum + row, 0)
    const model = scriptedModel([cell("total([1, 2])"), "Three."])
    const session = await createAgent({
      model,
      runtime: () => jsRuntime({ total: fn(total, { sync: true }) }),
    }).session({
      archive: folder.path,
    })
    await session.send("Add")
    await session.close()
    const broken = () => jsRuntime({ total: fn((rows: number[]) => rows.length, { sync: true }) })
    const agent = createAgent({ model: noModel, runtime: broken })
    await assert.rejects(assertReplays(agent, session.directory ?? ""), (error) => {
      assert.ok(error instanceof assert.AssertionError)
      assert.match(error.message, /Run 1, step 3 \(the result of a cell\)[\s\S]*\n- 3\n\+ 2\n/)
      return true
    })
  })

  test("replays an answer that a cell passed to finish", async () => {
    const store = memoryStore()
    const model = scriptedModel([cell("finish(`${await price()} at ${Date.now()}`)"), "As I said."])
    const runtime = () => jsRuntime({ price: fn(async () => 3) })
    const session = await createAgent({ model, runtime }).session({ archive: store })
    const { output } = await session.send("What is it?")
    assert.match(output, /^3 at \d+$/)
    await session.send("Again?")
    await session.close()
    const agent = createAgent({ model: noModel, runtime })
    const replayed = await replayRecording(agent, { archive: store, id: session.id }, { strict: true })
    assert.equal(replayed.divergence, undefined)
    assert.deepEqual(
      replayed.trajectory.runs.map((run) => run.output),
      [output, "As I said."],
    )
  })

  test("can be copied: its two files are all it takes", async () => {
    await using folder = await freshFolder()
    const session = await createAgent({ model: scriptedModel(["Hi."]) }).session({ archive: folder.path })
    await session.send("Hello")
    await session.close()
    const copy = join(folder.path, "fixture")
    for (const file of ["events.jsonl", "recording.jsonl"])
      await cp(join(session.directory ?? "", file), join(copy, file))
    await assertReplays(createAgent({ model: noModel }), copy)
    await assert.rejects(assertReplays(createAgent({ model: noModel }), folder.path), /events\.jsonl" is not there/)
  })

  test("answers tools, refusals included, and ends as it did", async () => {
    const store = memoryStore()
    let sent = 0
    const mail = tool({
      name: "mail",
      description: "Sends mail",
      input: z.object({ to: z.string() }),
      approve: true,
      run: async ({ to }) => `sent to ${to}, ${++sent}`,
    })
    const call = (id: string, to: string): ScriptedStep => [{ type: "tool-call", id, name: "mail", input: { to } }]
    const steps = [
      call("1", "a"),
      call("2", "b"),
      [{ type: "tool-call", id: "3", name: "finish", input: { message: "ok" } }],
    ]
    const approve = ({ args: [input] }: { args: readonly unknown[] }) => JSON.stringify(input).includes("a")
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel(steps as ScriptedStep[]),
      tools: [mail],
      approver: approve,
    })
    const session = await agent.session({ archive: store })
    await session.send("Write")
    await session.close()
    assert.equal(sent, 1)
    await assertReplays(createAgent({ noTool: "continue", model: noModel, tools: [mail] }), {
      archive: store,
      id: session.id,
    })
    assert.equal(sent, 1)
  })

  test("lets parallel calls end in the order in which they ended", async () => {
    const store = memoryStore()
    const ends: Record<string, () => void> = {}
    const slow = (name: string) => new Promise<string>((resolve) => (ends[name] = () => resolve(name)))
    const start = async (names: string[]) => {
      for (const name of names) {
        ends[name]?.()
        await new Promise(setImmediate)
      }
    }
    const factory = () => jsRuntime({ slow, start: fn(start) })
    const code =
      "const all = [slow('a'), slow('b'), slow('c')]\nawait start(['b', 'c', 'a'])\nconst first = await Promise.race(all)\nfirst"
    const session = await createAgent({ model: scriptedModel([cell(code), "ok"]), runtime: factory }).session({
      archive: store,
    })
    const { messages } = await session.send("Race")
    assert.match(JSON.stringify(messages), /'b'|\\"b\\"|\\nb\\n/)
    await session.close()
    await assertReplays(createAgent({ model: noModel, runtime: factory }), { archive: store, id: session.id })
  })

  test("compares the results of tool calls that ran together in the order of the calls", async () => {
    const store = memoryStore()
    const { promise, resolve } = Promise.withResolvers<string>()
    const slow = tool({ name: "slow", description: "", parallel: true, run: () => promise })
    const quick = tool({ name: "quick", description: "", parallel: true, run: () => "q".repeat(20_000) })
    const calls: ScriptedStep = ["slow", "quick"].map((name) => ({ type: "tool-call", id: name, name, input: {} }))
    const tools = [slow, quick]
    const session = await createAgent({ model: scriptedModel([calls, "ok"]), tools, noTool: "answer" }).session({
      archive: store,
    })
    const run = session.send("Race")
    const ended: string[] = []
    for await (const event of run) {
      if (event.type === "tool-end") ended.push(event.name)
      if (event.type === "tool-end") resolve("s".repeat(20_000))
    }
    assert.deepEqual(ended, ["quick", "slow"])
    await session.close()
    const replaying = createAgent({ model: noModel, tools, noTool: "answer" })
    await assertReplays(replaying, { archive: store, id: session.id }, { strict: true })
  })

  test("names a call that it does not have, and one whose value is no data", async () => {
    const store = memoryStore()
    class Light {
      on = true
    }
    const factory = () => jsRuntime({ light: () => new Light(), one: () => 1 })
    const session = await createAgent({
      model: scriptedModel([cell("(await light()).on && await one()"), "ok"]),
      runtime: factory,
    }).session({ archive: store })
    await session.send("x")
    await session.close()
    const source = { archive: store, id: session.id }
    const agent = createAgent({ model: noModel, runtime: factory })
    await assert.rejects(assertReplays(agent, source), /what light gave, a Light, .*liveCalls: \["light"\]/)
    await assertReplays(agent, source, { liveCalls: ["light"] })
  })

  test("replays failures, steering and what was cut short", async () => {
    const store = memoryStore()
    const { promise, resolve } = Promise.withResolvers<void>()
    const steps: ScriptedStep[] = [
      new ModelError("No such model", { code: "not-found" }),
      cell("1"),
      "Blue it is.",
      async () => {
        resolve()
        return await new Promise<string>(() => {})
      },
    ]
    const session = await createAgent({ model: scriptedModel(steps) }).session({ archive: store })
    await session.send("fails").settled
    await session.send("steered", {
      onEvent: (event) => event.type === "code-end" && session.steer("Make it blue"),
    })
    const aborted = session.send("aborted")
    await promise
    aborted.abort()
    await aborted.settled
    await session.close()
    await assertReplays(createAgent({ model: noModel }), { archive: store, id: session.id })
  })

  test("replays a run over sub-agents without running them", async () => {
    const store = memoryStore()
    const helper = (model = scriptedModel(["helped"])) => createAgent({ model, name: "helper", description: "Helps" })
    const code = cell("(await helper.run('help')).output")
    const agent = createAgent({ model: scriptedModel([code, "ok"]), runtime: () => jsRuntime({ helper: helper() }) })
    const session = await agent.session({ archive: store })
    const { messages } = await session.send("x")
    assert.match(JSON.stringify(messages), /helped/)
    await session.close()
    const again = createAgent({ model: noModel, runtime: () => jsRuntime({ helper: helper(noModel) }) })
    await assertReplays(again, { archive: store, id: session.id })
  })

  test("replays a session that was resumed and forked", async () => {
    const store = memoryStore()
    const steps = [cell("let n = Math.random()"), "ok", cell("n += 1; n"), "ok", cell("n *= 2; n"), "ok"]
    const agent = createAgent({ model: scriptedModel(steps) })
    const session = await agent.session({ archive: store })
    await session.send("a")
    await session.close()
    const resumed = await agent.session({ resume: session.id, archive: store })
    await resumed.send("b")
    const fork = await (resumed.fork?.() ?? assert.fail("no fork"))
    await fork.send("c")
    await Promise.all([resumed.close(), fork.close()])
    const offline = createAgent({ model: noModel })
    await assertReplays(offline, { archive: store, id: resumed.id })
    const { trajectory, divergence } = await replayRecording(offline, { archive: store, id: fork.id })
    assert.equal(divergence, undefined)
    assert.equal(trajectory.runs.length, 3)
  })

  test("is compared as the mask says", async () => {
    const store = memoryStore()
    let count = 0
    const factory = () => jsRuntime({ next: fn(() => ++count, { sync: true }) })
    const session = await createAgent({ model: scriptedModel([cell("next()"), "ok"]), runtime: factory }).session({
      archive: store,
    })
    await session.send("x")
    await session.close()
    const source = { archive: store, id: session.id }
    const agent = createAgent({ model: noModel, runtime: factory })
    await assert.rejects(assertReplays(agent, source), /went another way/)
    await assertReplays(agent, source, { mask: (text) => text.replace(/\d+/g, "N") })
  })
})
