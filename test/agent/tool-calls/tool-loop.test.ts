import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { ConfigError } from "../../../src/core/errors.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { call, calls, callsIn, errorCodeOf, finish, resultsIn, toolEnds } from "../tool-call-helpers.ts"

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
})

describe("an agent with tools", () => {
  test("calls them with validated input, sees their results, and ends by finish with its message", async () => {
    const model = scriptedModel([calls("Let me see.", call("add", { a: 2, b: 3 })), calls(finish("It is 5."))])
    const result = await createAgent({ noTool: "continue", model, tools: [add] }).run("2 + 3?")
    assert.equal(result.status, "done")
    assert.equal(result.output, "It is 5.")
    assert.equal(result.cycles, 2)
    assert.deepEqual(result.completion, { by: "tool", tool: "finish" })
    assert.deepEqual(
      resultsIn(result.messages).map(({ name, ok, text }) => [name, ok, text]),
      [
        ["add", true, "5"],
        ["finish", true, "Finished."],
      ],
    )
    const offered = model.requests[0]?.tools?.map(({ name }) => name)
    assert.deepEqual(offered?.slice(0, 1), ["add"])
    assert.ok(offered?.includes("finish"))
  })

  test("tells a run by events: start, cycle, message, tool, end", async () => {
    const model = scriptedModel([calls(call("add", { a: 1, b: 1 })), calls(finish())])
    const run = createAgent({ noTool: "continue", model, tools: [add] }).run("go")
    const types = (await Array.fromAsync(run)).map(({ type }) => type)
    assert.deepEqual(types, [
      ...["run-start", "cycle-start", "message-end", "tool-start", "tool-end", "cycle-end"],
      ...["cycle-start", "message-end", "tool-start", "tool-end", "cycle-end", "run-end"],
    ])
  })

  test("gives the model a stable code and a message it can act on for everything that goes wrong", async () => {
    const broken = tool({
      name: "broken",
      description: "Throws.",
      run() {
        throw new RangeError("too far")
      },
    })
    const slow = tool({ name: "slow", description: "Hangs.", timeoutMs: 5, run: () => new Promise(() => undefined) })
    const unable = tool({ name: "unable", description: "Fails.", run: () => toolFailure("no-luck", "Try another.") })
    const asking = tool({ name: "asking", description: "Asks.", approve: true, run: () => "never" })
    const model = scriptedModel([
      calls(
        call("nowhere", {}),
        call("add", '{"a": 1, "b"'),
        call("add", { a: "1", b: 2 }),
        call("add", [1, 2]),
        call("broken"),
        call("slow"),
        call("unable"),
        call("asking"),
      ),
      calls(finish()),
    ])
    const agent = createAgent({
      noTool: "continue",
      model,
      tools: [add, broken, slow, unable, asking],
      approver: () => false,
    })
    const { trajectory } = await agent.run("go")
    const ends = toolEnds(trajectory.events).slice(0, 8)
    assert.deepEqual(ends.map(errorCodeOf), [
      ...["unknown-tool", "invalid-json", "invalid-input", "invalid-input"],
      ...["tool-failed", "timeout", "no-luck", "not-approved"],
    ])
    assert.match(ends[0]?.text ?? "", /^Error \(unknown-tool\): There is no tool "nowhere"\. There are: add, broken/)
    assert.match(ends[2]?.text ?? "", /a: .*number/)
    assert.match(ends[4]?.text ?? "", /RangeError: too far/)
    assert.match(ends[5]?.text ?? "", /longer than 5 ms/)
    assert.equal(ends[6]?.text, "Error (no-luck): Try another.")
    assert.deepEqual(
      ends.map(({ error }) => error?.kind),
      ["input", "input", "input", "input", "throw", "timeout", "throw", "refused"],
    )
  })

  test("validates before it asks for approval and before any effect", async () => {
    const made: unknown[] = []
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input: z.object({ amount: z.number().positive() }),
      approve: true,
      run: ({ amount }) => void made.push(amount),
    })
    const asked: unknown[] = []
    const model = scriptedModel([calls(call("pay", { amount: -1 }), call("pay", { amount: 7 })), calls(finish())])
    const approve = (made: { args: readonly unknown[] }) => asked.push(...made.args) > 0
    await createAgent({ noTool: "continue", model, tools: [pay], approver: approve }).run("go")
    assert.deepEqual(asked, [{ amount: 7 }])
    assert.deepEqual(made, [7])
  })

  test("calls one after the other in the model's order, unless neighbours are all marked parallel", async () => {
    const log: string[] = []
    const gates = new Map<string, () => void>()
    const step = (name: string, parallel: boolean) =>
      tool({
        name,
        description: name,
        parallel,
        async run() {
          log.push(`+${name}`)
          if (parallel) {
            await new Promise<void>((open) => {
              gates.set(name, open)
              // The last call to arrive releases all calls, in reverse order.
              if (gates.size === 3) setImmediate(() => [...gates.values()].reverse().map((open) => open()))
            })
          }
          log.push(`-${name}`)
          return name
        },
      })
    const tools = [step("a", false), step("p", true), step("q", true), step("r", true), step("z", false)]
    const model = scriptedModel([calls(...["a", "p", "q", "r", "z"].map((name) => call(name))), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools }).run("go")
    assert.deepEqual(log, ["+a", "-a", "+p", "+q", "+r", "-r", "-q", "-p", "+z", "-z"])
    assert.deepEqual(
      resultsIn(messages).map(({ text }) => text),
      ["a", "p", "q", "r", "z", "Finished."],
    )
  })

  test("tells that a call has ended when it has, and not when those beside it have; the model sees the order of the calls", async () => {
    const slow = Promise.withResolvers<string>()
    const wait = tool({ name: "wait", description: "", parallel: true, run: () => slow.promise })
    const quick = tool({ name: "quick", description: "", parallel: true, run: () => "quick" })
    const model = scriptedModel([calls(call("quick"), call("wait"), call("quick"), call("quick")), calls(finish())])
    const run = createAgent({ noTool: "continue", model, tools: [wait, quick], maxParallelTools: 2 }).run("go")
    const ended: string[] = []
    for await (const event of run) {
      if (event.type !== "tool-end") continue
      ended.push(event.name)
      // The slow call ends only after the ends of the others were emitted.
      if (ended.length === 3) slow.resolve("slow")
    }
    assert.deepEqual(ended, ["quick", "quick", "quick", "wait", "finish"])
    const { messages, trajectory } = await run
    const texts = ["quick", "slow", "quick", "quick", "Finished."]
    assert.deepEqual(
      resultsIn(messages).map(({ text }) => text),
      texts,
    )
    assert.deepEqual(
      resultsIn(trajectory.messages).map(({ text }) => text),
      texts,
    )
    assert.deepEqual(
      resultsIn(model.requests[1]?.messages ?? []).map(({ text }) => text),
      texts.slice(0, 4),
    )
  })

  test("never has more than maxParallelTools under way", async () => {
    let under = 0
    let most = 0
    const wait = tool({
      name: "wait",
      description: "Waits.",
      parallel: true,
      async run() {
        most = Math.max(most, ++under)
        await new Promise(setImmediate)
        under--
      },
    })
    const model = scriptedModel([calls(...Array.from({ length: 9 }, () => call("wait"))), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools: [wait], maxParallelTools: 3 }).run("go")
    assert.equal(most, 3)
    assert.equal(resultsIn(messages).length, 10)
  })

  test("shows who watches how far a tool is, and never tells the model", async () => {
    const long = tool({
      name: "long",
      description: "Long.",
      run(_input, { progress }) {
        progress("half")
        return "whole"
      },
    })
    const model = scriptedModel([calls(call("long")), calls(finish())])
    const run = createAgent({ noTool: "continue", model, tools: [long] }).run("go")
    const deltas = (await Array.fromAsync(run)).filter((event) => event.type === "tool-delta")
    assert.deepEqual(
      deltas.map(({ text }) => text),
      ["half"],
    )
    assert.ok(!JSON.stringify((await run).messages).includes("half"))
  })

  test("runs a cell and then the calls of the same answer, each with its result", async () => {
    const log: string[] = []
    const note = tool({ name: "note", description: "Notes.", run: () => void log.push("tool") })
    const runtime = jsRuntime({ mark: () => void log.push("cell") })
    const model = scriptedModel([calls("```ts\nawait mark()\n```\n", call("note")), "Both done."])
    const { output, messages } = await createAgent({ model, tools: [note], runtime }).run("go")
    assert.deepEqual(log, ["cell", "tool"])
    assert.equal(output, "Both done.")
    assert.deepEqual(
      messages.filter(({ role }) => role === "result").map(({ parts }) => parts[0]?.type),
      ["code-result", "tool-result"],
    )
    // An agent that writes code answers in prose and needs no tool to end.
    assert.ok(!model.requests[0]?.tools?.some(({ name }) => name === "finish"))
  })

  test("makes no call of an answer whose cell the user has interrupted", async () => {
    const note = tool({ name: "note", description: "Notes.", run: () => assert.fail("not to be called") })
    const speak = () => void run.steer("wait")
    const model = scriptedModel([calls("```ts\nawait speak()\n```\n", call("note")), "I wait."])
    const run = createAgent({ model, tools: [note], runtime: jsRuntime({ speak }) }).run("go")
    assert.equal(errorCodeOf(toolEnds((await run).trajectory.events)[0]), "skipped-steering")
  })

  test("gives each call an id of its own where a provider gives the same again, also in later runs", async () => {
    const model = scriptedModel(() =>
      calls(call("add", { a: 1, b: 1 }, "call_0"), call("finish", { message: "ok" }, "call_0")),
    )
    await using session = await createAgent({ noTool: "continue", model, tools: [add] }).session()
    await session.send("one")
    await session.send("two")
    const ids = resultsIn(session.messages()).map(({ id }) => id)
    assert.equal(ids.length, 4)
    assert.equal(new Set(ids).size, 4)
  })

  test("remembers a call as the model made it, whatever a tool does to its input", async () => {
    const input = { type: "object", properties: { list: { type: "array" } } }
    const takes = tool({ name: "takes", description: "", input, run: ({ list }) => Array.isArray(list) && list.pop() })
    const model = scriptedModel([calls(call("takes", { list: [1, 2] })), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools: [takes] }).run("go")
    assert.deepEqual(callsIn(messages)[0]?.input, { list: [1, 2] })
  })

  test("calls a tool without input when the model sends nothing", async () => {
    const ping = tool({ name: "ping", description: "Pings.", run: () => "pong" })
    const model = scriptedModel([
      calls(call("ping", null), call("ping", {}), call("ping", { loud: true })),
      calls(finish()),
    ])
    const { trajectory } = await createAgent({ noTool: "continue", model, tools: [ping] }).run("go")
    assert.deepEqual(
      toolEnds(trajectory.events).map((end) => errorCodeOf(end) ?? end.text),
      ["pong", "pong", "invalid-input", "Finished."],
    )
  })

  test("refuses what is no tool, no name, two of a name and an unknown policy", () => {
    const model = scriptedModel([])
    // @ts-expect-error: a bare function is no tool.
    assert.throws(() => createAgent({ model, tools: [() => 1] }), ConfigError)
    assert.throws(() => tool({ name: "two words", description: "", run: () => 1 }), /a name is a word/)
    assert.throws(() => tool({ name: "n", description: "", input: z.string(), run: () => 1 }), /must be an object/)
    // @ts-expect-error: there is no such policy.
    assert.throws(() => createAgent({ model, tools: [add], noTool: "shrug" }), /noTool/)
    // @ts-expect-error: one name is no list of names.
    assert.throws(() => createAgent({ model, tools: [add], stopOn: "add" }), /stopOn/)
    // @ts-expect-error: a path is no workspace.
    assert.throws(() => createAgent({ model, workspace: "./files" }), /localWorkspace\("\.\/files"\)/)
  })

  test("fails at once where two tools have one name", async () => {
    const { error } = await createAgent({ noTool: "continue", model: scriptedModel(["x"]), tools: [add, add] }).run(
      "go",
    ).settled
    assert.match(error?.message ?? "", /two with the name "add"/)
  })
})

describe("a tool's result", () => {
  const show = async (given: unknown) => {
    const gives = tool({ name: "gives", description: "Gives.", run: () => given })
    const model = scriptedModel([calls(call("gives")), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools: [gives] }).run("go")
    return resultsIn(messages)[0]?.text
  }

  test("is text as it is, and anything else as JSON or as people would see it", async () => {
    assert.equal(await show("plain"), "plain")
    assert.equal(await show({ a: [1, null] }), '{"a":[1,null]}')
    assert.equal(await show(undefined), "Done.")
    assert.equal(await show(toolResult({ text: "said", value: 1 })), "said")
    assert.equal(await show({ big: 1n }), '{"big":"1"}')
    const loop: { self?: unknown } = {}
    loop.self = loop
    assert.match((await show(loop)) ?? "", /Circular/)
    assert.equal(await show("half \ud800 pair"), "half \ufffd pair")
  })
})

test("results of a tool that one answer calls more than once begin with their arguments, in short", async () => {
  const double = tool({
    name: "double",
    description: "Doubles.",
    input: z.object({ n: z.number(), note: z.string().optional() }),
    run: ({ n }) => (n > 5 ? toolFailure("too-large", "Too large.") : String(n * 2)),
  })
  const note = `a\n${"b".repeat(90)}`
  const model = scriptedModel([
    calls(call("double", { n: 1 }), call("double", { n: 9, note })),
    calls(call("double", { n: 2 })),
    "Done.",
  ])
  const { messages } = await createAgent({ model, tools: [double] }).run("go")
  const texts = resultsIn(messages).map(({ text }) => text)
  assert.deepEqual(texts, [
    "[double n: 1]\n2",
    `[double n: 9, note: "a\\n${"b".repeat(36)}…]\nError (too-large): Too large.`,
    "4",
  ])
})

test("the tools and the system prompt of a session are the same in every request", async () => {
  const add = tool({ name: "add", description: "Adds.", run: () => "x".repeat(9000) })
  const model = scriptedModel([
    calls(call("add"), call("write_todos", { todos: [{ title: "Count" }] })),
    "Not yet.",
    calls(call("compact_memory", { notes: "n" })),
    "Done.",
    calls(call("add")),
    "Done.",
  ])
  const workspace = memoryWorkspace({ "a.txt": "x" })
  const memory = { model: scriptedModel(() => "A summary.") }
  const agent = createAgent({ model, memory, tools: [add], workspace, todos: true, compactMemory: true })
  await using session = await agent.session()
  await session.send("one")
  await workspace.write("b.txt", "x")
  await session.send("two")
  const sent = model.requests.filter(({ tools = [] }) => tools.length > 0)
  assert.equal(sent.length, 6)
  for (const { system, tools } of sent)
    assert.deepEqual({ system, tools }, { system: sent[0]?.system, tools: sent[0]?.tools })
})
