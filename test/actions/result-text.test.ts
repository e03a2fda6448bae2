import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { tool, toolFailure } from "../../src/tools/tool.ts"
import { call, calls, errorCodeOf, toolEnds } from "../agent/tool-call-helpers.ts"

async function endOf(run: () => unknown) {
  const odd = tool({ name: "odd", description: "", run })
  const model = scriptedModel([calls(call("odd")), "Done."])
  const { trajectory } = await createAgent({ model, tools: [odd], noTool: "answer" }).run("go")
  const [end] = toolEnds(trajectory.events)
  assert.ok(end)
  return end
}

class Money {
  #cents = 150
  toString() {
    return `${this.#cents / 100} EUR`
  }
}

class Safe {
  #code = 1234
  opens = (code: number) => code === this.#code
}

class Empty {}

class Order {
  id = 7
  lines = new Map([["apple", 2]])
}

describe("the model reads", () => {
  const cases: [title: string, run: () => unknown, text: string][] = [
    ["a Map with texts as keys as an object", () => new Map([["a", 1]]), '{"a":1}'],
    ["another Map as pairs", () => new Map([[1, "a"]]), '[[1,"a"]]'],
    ["a Set as a list", () => new Set(["a", "b"]), '["a","b"]'],
    [
      "Maps and Sets inside of a value",
      () => ({ tags: new Set([1]), of: [new Map([["k", new Set([2])]])] }),
      '{"tags":[1],"of":[{"k":[2]}]}',
    ],
    ["an instance with its fields", () => new Order(), '{"id":7,"lines":{"apple":2}}'],
    ["an instance without fields as the text it gives", () => ({ price: new Money() }), '{"price":"1.5 EUR"}'],
    ["an empty instance by its class", () => new Empty(), '"Empty {}"'],
    ["large integers as digits", () => ({ id: 12345678901234567890n }), '{"id":"12345678901234567890"}'],
    ["an error by its message", () => ({ problem: new RangeError("too far") }), '{"problem":"RangeError: too far"}'],
    ["numbers of a typed array as a list", () => new Float64Array([1.5, 2]), "[1.5,2]"],
    [
      "dates and plain data as JSON",
      () => ({ at: new Date(0), list: [1, null] }),
      '{"at":"1970-01-01T00:00:00.000Z","list":[1,null]}',
    ],
    [
      "the values of a generator",
      function* () {
        yield 1
        yield "two"
      },
      '[1,"two"]',
    ],
    [
      "the values of an asynchronous generator",
      async function* () {
        yield { page: 1 }
        yield { page: 2 }
      },
      '[{"page":1},{"page":2}]',
    ],
    ["the values of an iterator", () => new Map([["a", 1]]).keys(), '["a"]'],
  ]
  for (const [title, run, text] of cases) {
    test(title, async () => {
      const end = await endOf(run)
      assert.equal(end.text, text)
      assert.equal(end.ok, true)
    })
  }

  test("bytes, functions and cycles as short text", async () => {
    assert.match((await endOf(() => Buffer.alloc(10_000, 7))).text, /Buffer.* 07 07 .*more bytes/s)
    assert.match((await endOf(() => new Safe())).text, /^"Safe/)
    assert.match((await endOf(() => () => 1)).text, /Function/)
    const circle: { self?: unknown } = {}
    circle.self = circle
    assert.match((await endOf(() => circle)).text, /Circular/)
  })

  test("a generator that does not end as an error", async () => {
    let closed = false
    const end = await endOf(function* () {
      try {
        for (;;) yield 1
      } finally {
        closed = true
      }
    })
    assert.match(end.text, /more than 10000 values/)
    assert.equal(closed, true)
  })
})

describe("a tool that throws", () => {
  const cases: [title: string, thrown: unknown, text: string][] = [
    [
      "a plain object shows its members",
      { status: 404, path: "/x" },
      'Error (tool-failed): { status: 404, path: "/x" }',
    ],
    ["an object with a message shows the message", { message: "no such file" }, "Error (tool-failed): no such file"],
    ["a text shows the text", "no such file", "Error (tool-failed): no such file"],
    ["undefined says so", undefined, "Error (tool-failed): undefined was thrown in place of an error"],
    ["a number says so", 5, "Error (tool-failed): 5 was thrown in place of an error"],
    [
      "an object without a prototype shows its members",
      Object.create(null, { a: { value: 1, enumerable: true } }),
      "Error (tool-failed): { a: 1 }",
    ],
  ]
  for (const [title, thrown, text] of cases) {
    test(title, async () => {
      const end = await endOf(() => {
        throw thrown
      })
      assert.equal(end.text, text)
    })
  }

  test("an error of another context shows its name and message", async () => {
    const { runInNewContext } = await import("node:vm")
    const end = await endOf(() => {
      throw runInNewContext("new TypeError('far away')")
    })
    assert.equal(end.text, "Error (tool-failed): TypeError: far away")
  })
})

describe("a failure of five megabytes", () => {
  const huge = "x".repeat(5_000_000)
  const mostEventChars = 40_000
  const sizesOf = (events: readonly AgentEvent[]) => events.map((event) => JSON.stringify(event).length)
  const assertBounded = (events: readonly AgentEvent[]) => {
    for (const size of sizesOf(events)) assert.ok(size < mostEventChars, `an event has ${size} characters`)
  }

  test("thrown by a tool is short in its event, and whole in the artifact", async () => {
    const fails = tool({
      name: "fails",
      description: "",
      run() {
        throw new Error(huge, { cause: new Error(huge) })
      },
    })
    const model = scriptedModel([calls(call("fails")), "Done."])
    const { trajectory } = await createAgent({ model, tools: [fails], noTool: "answer" }).run("go")
    const [end] = toolEnds(trajectory.events)
    assert.equal(end?.kept, "_output_1")
    assert.match(end?.error?.message ?? "", /characters left out/)
    assertBounded(trajectory.events)
  })

  test("returned by a tool as a failure is short in its event", async () => {
    const fails = tool({ name: "fails", description: "", run: () => toolFailure("no", huge) })
    const model = scriptedModel([calls(call("fails")), "Done."])
    const { trajectory } = await createAgent({ model, tools: [fails], noTool: "answer" }).run("go")
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[0]), "no")
    assertBounded(trajectory.events)
  })

  test("thrown by a function or by the cell itself is short in the events", async () => {
    const fails = () => {
      throw new Error(huge)
    }
    const model = scriptedModel([
      "```ts\nfails()\n```\n",
      "```ts\nthrow new Error('x'.repeat(5_000_000))\n```\n",
      "Done.",
    ])
    const { trajectory } = await createAgent({ model, runtime: jsRuntime({ fails }) }).run("go")
    assertBounded(trajectory.events)
  })

  test("of a model, a hook or an observer is short in the events and in the result", async () => {
    const failing = async (options: Partial<Parameters<typeof createAgent>[0]>) => {
      const agent = createAgent({ model: scriptedModel(["Done."]), tools: [], noTool: "answer", ...options })
      const { trajectory, error } = await agent.run("go").settled
      assertBounded(trajectory.events)
      assert.ok((error?.message.length ?? 0) < mostEventChars)
    }
    const throws = () => {
      throw new Error(huge)
    }
    await failing({ model: scriptedModel([[new Error(huge)]]) })
    await failing({ hooks: { afterModel: throws } })
    await failing({ hooks: { afterCycle: () => ({ stop: huge }) } })
    await failing({ hooks: { onEvent: throws } })
  })
})
