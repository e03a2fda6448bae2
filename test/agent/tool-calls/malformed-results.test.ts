import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Hooks } from "../../../src/actions/hooks.ts"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { isMessageList } from "../../../src/core/checks/message-shape.ts"
import { ConfigError } from "../../../src/core/errors.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import fc from "../../property.ts"
import { call, calls, callsIn, errorCodeOf, resultsIn, toolEnds } from "../tool-call-helpers.ts"

/** What an untyped tool or hook may return instead of a value of the declared type. */
const untyped = (value: unknown): never => value as never

describe("a malformed tool result", () => {
  const cases: [title: string, result: () => unknown, message: RegExp][] = [
    ["without a text", () => toolResult(untyped({ text: undefined })), /`text` must be a string, received undefined/],
    ["made of a number", () => toolResult(untyped(5)), /`text` must be a string, received undefined/],
    ["whose text is a number", () => toolResult(untyped({ text: 5 })), /`text` must be a string, received 5/],
    ["whose code is no string", () => toolFailure(untyped(404), "No."), /`code` must be a string.*received 404/],
    ["with a misspelt field", () => toolResult(untyped({ text: "a", image: [] })), /unknown field `image`.*images/],
    ["with images that are none", () => toolResult(untyped({ text: "a", images: ["x"] })), /`images`/],
    [
      "with an unknown directive",
      () => toolResult(untyped({ text: "a", directive: { kind: "stop" } })),
      /unknown directive "stop".*finish, ask, continue/,
    ],
    [
      "with a directive that is a text",
      () => toolResult(untyped({ text: "a", directive: "finish" })),
      /`directive` must be an object/,
    ],
    [
      "that finishes without a message",
      () => toolResult(untyped({ text: "a", directive: { kind: "finish" } })),
      /`directive.message` must be a string, received undefined/,
    ],
    [
      "that asks nothing",
      () => toolResult({ text: "a", directive: { kind: "ask", question: " " } }),
      /`directive.question` must be a text that is not empty/,
    ],
    [
      "that offers numbers as options",
      () => toolResult(untyped({ text: "a", directive: { kind: "ask", question: "Which?", options: [1] } })),
      /`directive.options` must be a list of strings/,
    ],
  ]
  for (const [title, result, message] of cases) {
    test(`${title} is an error of that call, and the session goes on`, async () => {
      const broken = tool({ name: "broken", description: "", run: result })
      const fine = tool({ name: "fine", description: "", run: () => "fine" })
      const model = scriptedModel([calls(call("broken"), call("fine")), "First.", "Second."])
      const session = await createAgent({ model, tools: [broken, fine], noTool: "answer" }).session()
      const first = await session.send("go")
      const [end, other] = toolEnds(first.trajectory.events)
      assert.equal(errorCodeOf(end), "invalid-result")
      assert.match(end?.text ?? "", message)
      assert.match(end?.text ?? "", /"broken"/)
      assert.equal(other?.text, "fine")
      assert.equal(first.output, "First.")
      assert.equal((await session.send("again")).output, "Second.")
      await session.close()
    })
  }

  test("of a hook is an error of that call", async () => {
    const hooks: Hooks = { afterCall: () => ({ value: toolResult(untyped({ text: null })) }) }
    const fine = tool({ name: "fine", description: "", run: () => "fine" })
    const model = scriptedModel([calls(call("fine")), "Done."])
    const { trajectory, output } = await createAgent({ model, tools: [fine], noTool: "answer", hooks }).run("go")
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[0]), "invalid-result")
    assert.equal(output, "Done.")
  })

  test("is thrown in the cell that called the tool", async () => {
    const broken = tool({ name: "broken", description: "", run: () => toolResult(untyped({ text: 5 })) })
    const model = scriptedModel(["```ts\nawait broken({})\n```\n", "Done."])
    const { messages } = await createAgent({ model, runtime: jsRuntime({ broken }) }).run("go")
    assert.match(JSON.stringify(messages), /`text` must be a string, received 5/)
  })

  test("stays as it was returned when the tool changes its object later", async () => {
    const images = [{ type: "image" as const, mediaType: "image/png", data: "AAAA" }]
    const shows = tool({ name: "shows", description: "", run: () => toolResult({ text: "a", images }) })
    const model = scriptedModel([calls(call("shows")), "Done."])
    const { trajectory } = await createAgent({ model, tools: [shows], noTool: "answer" }).run("go")
    images.push({ type: "image", mediaType: "image/png", data: "BBBB" })
    assert.equal(toolEnds(trajectory.events)[0]?.images?.length, 1)
  })
})

describe("an empty steer", () => {
  test("of a hook fails the run with the name of the hook, and the session goes on", async () => {
    let steers = true
    const hooks: Hooks = { afterCycle: () => (steers ? { steer: " " } : undefined) }
    const session = await createAgent({
      model: scriptedModel(["First.", "Second."]),
      tools: [],
      hooks,
      noTool: "answer",
    }).session()
    await assert.rejects(async () => await session.send("go"), /The afterCycle hook failed: .*steer/)
    steers = false
    assert.equal((await session.send("again")).output, "Second.")
    await session.close()
  })

  test("of a caller is refused at once", async () => {
    const run = createAgent({ model: scriptedModel(["Done."]), tools: [], noTool: "answer" }).run("go")
    assert.throws(() => run.steer(""), ConfigError)
    assert.throws(() => run.steer(untyped(undefined)), ConfigError)
    await run
  })
})

/** Malformed values: what tools and hooks may return or throw if nothing checks their types. */
const garbage = fc.oneof(
  fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true, withNullPrototype: true }),
  fc.constantFrom<unknown>(
    undefined,
    Symbol("s"),
    () => 1,
    Object.create(null),
    new Map([["a", new Set([1n])]]),
    new (class Point {
      x = 1
    })(),
    new Proxy({}, { get: () => undefined }),
    {
      get text(): string {
        throw new Error("a getter")
      },
    },
    {
      toString() {
        throw new Error("toString")
      },
    },
    {
      toJSON() {
        throw new Error("toJSON")
      },
    },
    Object.assign(new Error("e"), { message: 5 }),
    Object.assign(new Error("e"), { name: Object.create(null) }),
    { kind: "finish" },
  ),
)

/** The same values as parts of what a tool or hook is expected to return. */
const nearMiss = fc.oneof(
  garbage,
  garbage.map((text) => toolResult(untyped({ text }))),
  garbage.map((directive) => toolResult(untyped({ text: "a", directive }))),
  garbage.map((message) => toolResult(untyped({ text: "a", directive: { kind: "finish", message } }))),
  garbage.map((question) => toolResult(untyped({ text: "a", directive: { kind: "ask", question } }))),
  garbage.map((images) => toolResult(untyped({ text: "a", images }))),
  garbage.map((image) => toolResult(untyped({ text: "a", images: [image] }))),
  garbage.map((code) => toolFailure(untyped(code), "a")),
)

const hookValue = fc.oneof(
  garbage,
  fc
    .tuple(
      fc.constantFrom("prompt", "stop", "output", "messages", "tools", "note", "system", "answer", "parts", "steer"),
      fc.oneof(
        garbage,
        garbage.map((item) => [item]),
        garbage.map((text) => [{ type: "text", text }]),
        garbage.map((id) => [{ type: "tool-call", id, name: "fine", input: {} }]),
        garbage.map((input) => [{ type: "tool-call", id: "x", name: "fine", input }]),
        garbage.map((parts) => [{ id: "m", role: "user", origin: "prompt", parts }]),
      ),
    )
    .map(([key, value]) => ({ [key]: value })),
  nearMiss.map((value) => ({ value })),
  nearMiss.map((result) => ({ result })),
  garbage.map((refuse) => ({ refuse })),
  garbage.map((args) => ({ args })),
)

const points = [
  "beforeRun",
  "afterRun",
  "beforeModel",
  "afterModel",
  "afterCycle",
  "beforeCall",
  "afterCall",
  "onEvent",
] as const

/** Fails if a conversation contains something that a provider or archive would reject. */
function assertSound(messages: Parameters<typeof callsIn>[0]): void {
  assert.ok(isMessageList(messages), "the conversation holds a malformed message")
  assert.deepEqual(JSON.parse(JSON.stringify(messages)), messages)
  assert.deepEqual(
    resultsIn(messages).map(({ id }) => id),
    callsIn(messages).map(({ id }) => id),
  )
}

describe("whatever tools and hooks return or throw", () => {
  test("every call of a tool has one result, and the session goes on", async () => {
    await fc.assert(
      fc.asyncProperty(nearMiss, fc.boolean(), fc.boolean(), async (value, throws, parallel) => {
        const odd = tool({
          name: "odd",
          description: "",
          parallel,
          run() {
            if (throws) throw value
            return value
          },
        })
        const model = scriptedModel([calls(call("odd"), call("odd")), "First.", "Second."])
        const session = await createAgent({ model, tools: [odd], noTool: "answer" }).session()
        const first = await session.send("go")
        assert.equal(toolEnds(first.trajectory.events).length, 2)
        assertSound(first.messages)
        const second = await session.send("again")
        assert.equal(second.status, "done")
        assertSound(second.messages)
        await session.close()
      }),
      { numRuns: 300 },
    )
  })

  test("a hook's values reach neither the conversation nor the next run of the session", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...points), hookValue, fc.boolean(), async (point, value, throws) => {
        let active = true
        const hooks: Hooks = {
          [point]() {
            if (!active) return undefined
            if (throws) throw value
            return value
          },
        }
        const fine = tool({ name: "fine", description: "", run: () => "fine" })
        const model = scriptedModel(({ messages }) =>
          resultsIn(messages).length === 0 ? calls(call("fine")) : "Answer.",
        )
        const session = await createAgent({
          model,
          tools: [fine],
          noTool: "answer",
          hooks,
          limits: { cycles: 4 },
        }).session()
        const first = await session.send("go").settled
        assert.equal(first.trajectory.events.filter(({ type }) => type === "run-end").length, 1)
        assertSound(first.messages)
        assert.doesNotThrow(() => JSON.stringify(first.trajectory.events))
        active = false
        const second = await session.send("again").settled
        assert.equal(second.status, "done")
        assertSound(second.messages)
        await session.close()
      }),
      { numRuns: 400 },
    )
  })
})
