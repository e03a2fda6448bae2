import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Hooks } from "../../../src/actions/hooks.ts"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import { deepFreeze } from "../../../src/core/values/freeze.ts"
import { createEngine } from "../../../src/engine/engine.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { memoryStore } from "../../../src/stores/memory-store.ts"
import { tool, toolResult } from "../../../src/tools/tool.ts"
import { call, calls } from "../tool-call-helpers.ts"

/** Returns every object that can be reached from a value through its members. */
function* objectsIn(value: unknown, path = "event"): Generator<[path: string, object: object]> {
  if (typeof value !== "object" || value === null) return
  yield [path, value]
  for (const [key, member] of Object.entries(value)) yield* objectsIn(member, `${path}.${key}`)
}

function assertFrozen(value: unknown, path: string): void {
  for (const [at, object] of objectsIn(value, path)) assert.ok(Object.isFrozen(object), `${at} is not frozen`)
}

const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" }
const look = tool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  run: () => toolResult({ text: "seen", images: [image] }),
})

const answers = () => [calls("Looking.", call("look", { at: { x: [1] } })), "```ts\nconst a = 1\na\n```\n", "Done."]

describe("events are frozen once", () => {
  test("with all that is in them, for observers, readers, hooks and the record", async () => {
    const seen: AgentEvent[] = []
    const hooked: AgentEvent[] = []
    const agent = createAgent({
      model: scriptedModel(answers()),
      tools: [look],
      runtime: jsRuntime(),
      onEvent: (event) => void seen.push(event),
      hooks: { onEvent: (event) => void hooked.push(event) },
      metadata: { of: { user: "me" } },
    })
    const run = agent.run("go")
    const read = await Array.fromAsync(run)
    const { trajectory, messages } = await run
    for (const [name, events] of Object.entries({ seen, hooked, read, record: trajectory.events })) {
      assert.ok(events.length > 5)
      for (const event of events) assertFrozen(event, `${name} ${event.type}`)
    }
    for (const message of messages) assertFrozen(message, "message")
    // The same object for all readers: events are not copied.
    const ends = [seen, hooked, read, trajectory.events].map((events) => events.find(({ type }) => type === "tool-end"))
    assert.equal(new Set(ends).size, 1)
  })

  test("so that an observer which changes one throws, and the model is sent what it was", async () => {
    const problems: unknown[] = []
    const model = scriptedModel(answers())
    const agent = createAgent({
      model,
      tools: [look],
      runtime: jsRuntime(),
      onEvent(event) {
        try {
          if (event.type === "tool-end") event.text = "changed"
          if (event.type === "message-end") event.message.parts.length = 0
          if (event.type === "run-start") Object.assign(event.messages[0] ?? {}, { parts: [] })
        } catch (error) {
          problems.push(error)
        }
      },
    })
    await agent.run("go")
    assert.ok(problems.length >= 5)
    assert.ok(problems.every((problem) => problem instanceof TypeError))
    const sent = JSON.stringify(model.requests.at(-1)?.messages)
    assert.match(sent, /"go/)
    assert.match(sent, /"seen"/)
    assert.match(sent, /Looking\./)
  })

  test("and objects of the caller stay the caller's", async () => {
    const metadata = { tags: ["a"] }
    const usage = { input: 5, output: 5, complete: true }
    const history = [
      {
        id: "m1",
        role: "user" as const,
        origin: "prompt" as const,
        parts: [{ type: "text" as const, text: "Before." }],
      },
    ]
    const schema = { type: "object", properties: { n: { type: "number" } } }
    const own = tool({ name: "own", description: "", input: schema, run: () => "ok" })
    const picture = { ...image }
    const model = scriptedModel([calls(call("own", { n: 1 })), "Done."], { usage })
    const agent = createAgent({ model, tools: [own], metadata, messages: history, noTool: "answer" })
    await agent.run([{ type: "text", text: "go" }, picture])
    metadata.tags.push("b")
    usage.input++
    history[0]?.parts.push({ type: "text", text: "More." })
    schema.properties.n.type = "string"
    picture.data = "BBBB"
  })

  test("in a session that is resumed, and in a durable run", async () => {
    const seen: AgentEvent[] = []
    const hooks: Hooks = { beforeModel: ({ messages }) => void assertFrozen(messages, "messages") }
    const model = scriptedModel(["One.", "Two."])
    const agent = createAgent({ name: "a", model, tools: [], noTool: "answer", hooks })
    const store = memoryStore()
    for (const prompt of ["one", "two"]) {
      const engine = createEngine({ agents: { a: agent }, store })
      const { id } = await engine.submit("a", prompt, { session: "s" })
      for await (const event of engine.watch(id)) seen.push(event)
      assert.equal((await engine.result(id)).status, "done")
      await engine.close()
    }
    assert.ok(seen.length > 4)
  })
})

describe("hooks are given frozen data", () => {
  test("at every point, and cannot change the run by changing it", async () => {
    const points = new Map<string, unknown>()
    const look2 = (point: string) => (given: unknown) => {
      points.set(point, given)
      assert.throws(() => Object.assign(Object(given), { system: "changed", output: "changed" }), TypeError)
      assertFrozen(given, point)
    }
    const hooks: Hooks = {
      beforeRun: look2("beforeRun"),
      beforeModel: look2("beforeModel"),
      afterModel: look2("afterModel"),
      afterCycle: look2("afterCycle"),
      afterRun: look2("afterRun"),
    }
    const result = await createAgent({
      model: scriptedModel(answers()),
      tools: [look],
      runtime: jsRuntime(),
      hooks,
    }).run("go")
    assert.equal(result.output, "Done.")
    assert.equal(points.size, 5)
  })

  test("where a call is a hook cannot exchange its arguments without their validation", async () => {
    const made: unknown[] = []
    const add = tool({
      name: "add",
      description: "",
      input: { type: "object", properties: { n: { type: "number" } } },
      run: (input) => void made.push(input),
    })
    const hooks: Hooks = {
      beforeCall(given) {
        assert.throws(() => Object.assign(given, { args: [{ n: "x" }] }), TypeError)
        assert.throws(() => Object.assign(given.args, { 0: { n: "x" } }), TypeError)
      },
    }
    const model = scriptedModel([calls(call("add", { n: 1 })), "Done."])
    await createAgent({ model, tools: [add], noTool: "answer", hooks }).run("go")
    assert.deepEqual(made, [{ n: 1 }])
  })

  test("by messages() of tools and of sessions", async () => {
    const seen: unknown[] = []
    const peek = tool({ name: "peek", description: "", run: (_, { messages }) => void seen.push(messages?.()) })
    const model = scriptedModel([calls(call("look")), calls(call("peek")), "Done."])
    const session = await createAgent({ model, tools: [look, peek], noTool: "answer" }).session()
    await session.send("go")
    seen.push(session.messages())
    assert.equal(seen.length, 2)
    for (const messages of seen) {
      assert.ok(Array.isArray(messages) && messages.length > 2)
      for (const message of messages) assertFrozen(message, "message")
    }
    await session.close()
  })
})

test("deepFreeze stops at what is frozen, at instances and at bytes, and takes data of any depth", () => {
  const bytes = new Uint8Array(3)
  const date = new Date()
  const value = { bytes, date, list: [{ a: 1 }] }
  assert.equal(deepFreeze(value), value)
  assert.ok(Object.isFrozen(value.list[0]))
  assert.ok(!Object.isFrozen(bytes) && !Object.isFrozen(date))
  let deep: unknown = null
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  assert.ok(Object.isFrozen(deepFreeze(deep)))
})
