// test lane: clis
import assert from "node:assert/strict"
import { connect as connectSocket } from "node:net"
import { describe, test } from "node:test"
import * as z from "zod"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { methods } from "../../src/mcp/tool-sources.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { tool, toolFailure, toolResult } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { until } from "../waiting.ts"
import { call, connect, type Era, serve, textOf } from "./clients.ts"

class Counter {
  #total = 0
  add(by: number, times = 1): number {
    this.#total += by * times
    return this.#total
  }
  async put({ total }: { total: number }): Promise<string> {
    this.#total = total
    return `It is ${total}.`
  }
}

const echo = tool({
  name: "echo",
  description: "Says it again.",
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})

for (const era of ["legacy", "modern"] satisfies Era[]) {
  describe(`a tool kit served to a ${era} client`, () => {
    test("has tools, functions by their parameters, methods with state, and agents", async (context) => {
      const helper = createAgent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") })
      const endpoint = await serve(context, {
        tools: {
          echo,
          helper,
          join: (first: string, second = "!", ...more: string[]) => [first, second, ...more].join(" "),
          area: ({ width, height = 2 }: { width: number; height?: number }) => width * height,
          power: fn((base: number, exponent: number) => base ** exponent, {
            description: "To the power.",
            input: z.tuple([z.number(), z.number().max(9)]),
          }),
          greet: fn((name: string) => `Hello ${name}`, { signature: '(name: "Ada" | "Bob") => string' }),
        },
      })
      const client = await connect(context, endpoint, era)
      const { tools } = await client.listTools()
      const input = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
      assert.deepEqual(Object.keys(input), ["echo", "helper", "join", "area", "power", "greet"])
      assert.deepEqual(input.join?.required, ["first"])
      assert.deepEqual(input.power?.properties?.exponent, { type: "number", maximum: 9 })
      assert.deepEqual(input.greet?.properties, { name: { enum: ["Ada", "Bob"] } })
      assert.equal(await call(client, "echo", { text: "hi" }), "hi")
      assert.equal(await call(client, "join", { first: "a", second: "b", more: ["c", "d"] }), "a b c d")
      assert.equal(await call(client, "join", { first: "a" }), "a !")
      assert.equal(await call(client, "area", { width: 3 }), "6")
      assert.equal(await call(client, "power", { base: 2, exponent: 5 }), "32")
      assert.match(await call(client, "power", { base: 2, exponent: 10 }), /^! Error \(invalid-input\): exponent/)
      assert.match(await call(client, "greet", { name: "Eve" }), /^! Error \(invalid-input\)/)
      assert.equal(await call(client, "helper", { prompt: "Help me." }), "Helped.")
    })

    test("keeps the state of an object between calls and clients", async (context) => {
      const counter = new Counter()
      const endpoint = await serve(context, {
        tools: methods(
          counter,
          { add: "Adds to the total.", put: { description: "Sets it.", input: z.object({ total: z.number() }) } },
          { prefix: "counter" },
        ),
      })
      const [one, two] = [await connect(context, endpoint, era), await connect(context, endpoint, era)]
      assert.equal(await call(one, "counter_add", { by: 2 }), "2")
      assert.equal(await call(two, "counter_add", { by: 2, times: 3 }), "8")
      assert.equal(await call(one, "counter_put", { total: 1 }), "It is 1.")
      assert.equal(counter.add(0), 1)
    })

    test("gives failures as results, and an unknown tool as an error of the protocol", async (context) => {
      const endpoint = await serve(context, {
        tools: {
          throws: () => {
            throw new RangeError("too far")
          },
          fails: () => toolFailure("no-luck", "Not today."),
          draws: () =>
            toolResult({ text: "A dot.", images: [{ type: "image", mediaType: "image/png", data: "aGVsbG8=" }] }),
        },
      })
      const client = await connect(context, endpoint, era)
      assert.equal(await call(client, "throws"), "! Error (tool-failed): RangeError: too far")
      assert.equal(await call(client, "fails"), "! Error (no-luck): Not today.")
      const { content } = await client.callTool({ name: "draws", arguments: {} })
      assert.deepEqual(content[1], { type: "image", data: "aGVsbG8=", mimeType: "image/png" })
      await assert.rejects(call(client, "nowhere"), /Unknown tool "nowhere". There are: throws, fails, draws/)
    })

    test("gives an object as an object beside its text, as the hooks leave it, and a text as a text", async (context) => {
      const endpoint = await serve(context, {
        tools: { order: () => ({ id: 7, key: "secret" }), file: () => '{"id":7}' },
        hooks: {
          afterCall: (_call, outcome) => (outcome.ok && typeof outcome.value === "object" ? redacted : undefined),
        },
      })
      const redacted = { value: { id: 7 } }
      const client = await connect(context, endpoint, era)
      const { structuredContent, content } = await client.callTool({ name: "order", arguments: {} })
      assert.deepEqual(structuredContent, { id: 7 })
      assert.deepEqual(content, [{ type: "text", text: '{"id":7}' }])
      assert.equal((await client.callTool({ name: "file", arguments: {} })).structuredContent, undefined)
    })

    test("cancels a call by its signal, and tells progress", async (context) => {
      const begun = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<unknown>()
      const endpoint = await serve(context, {
        tools: [
          tool({
            name: "slow",
            description: "",
            async run(_input, { signal, progress }) {
              progress("one")
              await until(() => heard.length > 0)
              progress("two")
              begun.resolve()
              await new Promise((resolve) => signal.addEventListener("abort", resolve))
              ended.resolve(signal.aborted)
            },
          }),
        ],
      })
      const client = await connect(context, endpoint, era)
      const controller = new AbortController()
      const heard: (string | undefined)[] = []
      const calling = client.callTool(
        { name: "slow", arguments: {} },
        { signal: controller.signal, onprogress: ({ message }) => heard.push(message) },
      )
      await begun.promise
      await until(() => heard.length === 2)
      controller.abort()
      await assert.rejects(calling)
      assert.equal(await ended.promise, true)
      assert.deepEqual(heard, ["one", "two"])
    })

    test("tells when there are other tools", async (context) => {
      const endpoint = await serve(context, { tools: [echo] })
      const changed = Promise.withResolvers<void>()
      await using kit = await mcpTools(
        { url: endpoint.url, headers: endpoint.headers },
        { onChange: () => changed.resolve() },
      )
      endpoint.updateTools({ echo, shout: (text: string) => text.toUpperCase() })
      await changed.promise
      assert.deepEqual(
        kit.tools.map(({ name }) => name),
        ["echo", "shout"],
      )
    })
  })
}

describe("the calls of MCP clients", () => {
  test("pass the gate: hooks, limits, approval and events", async (context) => {
    const events: AgentEvent[] = []
    const wiped: string[] = []
    const endpoint = await serve(context, {
      tools: {
        wipe: fn((what: string) => void wiped.push(what), { approve: true }),
        ask: fn(() => "asked", { approve: true }),
        echo,
      },
      approver: ({ binding }) => binding === "wipe",
      hooks: { beforeCall: ({ args: [input] }) => ({ args: [input] }), afterCall: () => undefined },
      limits: { callsByName: { echo: 1 } },
      onEvent: (event) => events.push(event),
    })
    const client = await connect(context, endpoint)
    assert.equal(await call(client, "wipe", { what: "all" }), "Done.")
    assert.match(await call(client, "ask"), /^! Error \(not-approved\): ask was not approved/)
    assert.equal(await call(client, "echo", { text: "a" }), "a")
    assert.match(await call(client, "echo", { text: "b" }), /^! Error \(call-limit\)/)
    assert.deepEqual(wiped, ["all"])
    assert.deepEqual(events.map(({ type }) => type).slice(0, 4), [
      "tool-start",
      "approval-requested",
      "approval-resolved",
      "tool-end",
    ])
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index),
    )
  })

  test("are refused where nobody can approve them", async (context) => {
    const endpoint = await serve(context, { tools: { wipe: fn(() => "wiped", { approve: true }) } })
    assert.match(await call(await connect(context, endpoint), "wipe"), /needs approval and there is no approver/)
  })

  test("have the host that holds for each of them", async (context) => {
    const told: string[] = []
    const endpoint = await serve(context, {
      tools: { wipe: fn(() => "wiped", { approve: true }) },
      host: ({ tool, client, input }) => ({
        approver: () => true,
        emit: ({ type }) => told.push(`${tool} by ${client} with ${JSON.stringify(input)}: ${type}`),
      }),
    })
    assert.equal(await call(await connect(context, endpoint), "wipe"), "wiped")
    assert.equal(told[0], "wipe by a legacy client with {}: tool-start")
    assert.equal(told.length, 4)
  })

  test("run one after the other in a session unless the tool may run beside others", async (context) => {
    const order: string[] = []
    const both = Promise.withResolvers<void>()
    const slowly = async (name: string) => {
      order.push(`${name} begins`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
    }
    let beside = 0
    const together = tool({
      name: "together",
      description: "",
      parallel: true,
      async run() {
        if (++beside === 2) both.resolve()
        await both.promise
      },
    })
    const endpoint = await serve(context, { tools: { slowly, together } })
    const client = await connect(context, endpoint)
    await Promise.all([call(client, "slowly", { name: "a" }), call(client, "slowly", { name: "b" })])
    assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends"])
    await Promise.all([call(client, "together"), call(client, "together")])
  })

  test("are ended when the server is closed, which then listens no more", async () => {
    const begun = Promise.withResolvers<void>()
    let ended = false
    const endpoint = await serveMcp({
      name: "test",
      tools: [
        tool({
          name: "slow",
          description: "",
          async run(_input, { signal }) {
            begun.resolve()
            await new Promise((resolve) => signal.addEventListener("abort", resolve))
            ended = true
          },
        }),
      ],
    })
    await using kit = await mcpTools({ url: endpoint.url, headers: endpoint.headers })
    const agent = createAgent({
      model: scriptedModel([[{ type: "tool-call", id: "t", name: "slow", input: {} }], "It was ended."]),
      tools: kit.tools,
      noTool: "answer",
    })
    const run = agent.run("Go.")
    await begun.promise
    await Promise.all([endpoint.close(), endpoint.close()])
    assert.equal(ended, true)
    assert.equal((await run).output, "It was ended.")
    const { port } = new URL(endpoint.url)
    await assert.rejects(
      new Promise((resolve, reject) => connectSocket(Number(port), "127.0.0.1", () => resolve(0)).on("error", reject)),
      /ECONNREFUSED/,
    )
  })
})

describe("serveMcp", () => {
  test("refuses what cannot be a kit, with the cure", async () => {
    for (const [tools, says] of [
      [{ x: class X {} }, /tools\.x: this is no tool/],
      [[echo, echo], /two with the name "echo"/],
      [{ x: 3 }, /tools\.x: this is no tool/],
    ] as const) {
      // Values that the types would refuse.
      await assert.rejects(serveMcp({ name: "test", tools: tools as never }), says)
    }
    assert.throws(() => methods(new Counter(), { nothing: "x" } as never), /has no method "nothing"/)
    await assert.rejects(serveMcp({ name: "test", token: "short" }), ConfigError)
  })

  test("takes a list of tools, functions by their own names, agents and lists", async (context) => {
    const shout = (text: string) => text.toUpperCase()
    const helper = createAgent({ name: "helper", model: scriptedModel(() => "Helped.") })
    const endpoint = await serve(context, { tools: [echo, shout, helper, methods(new Counter(), { add: "Adds." })] })
    const client = await connect(context, endpoint)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["echo", "shout", "helper", "add"],
    )
    assert.equal(await call(client, "shout", { text: "hi" }), "HI")
  })

  test("takes a port and a token, and says when the port is taken", async (context) => {
    const token = "0123456789abcdef0123456789abcdef"
    const endpoint = await serve(context, { tools: [echo], token })
    assert.deepEqual(endpoint.headers, { Authorization: `Bearer ${token}` })
    const port = Number(new URL(endpoint.url).port)
    await assert.rejects(serveMcp({ name: "other", port }), /port \d+ cannot be had/)
  })

  test("ends the session that was idle longest when there are too many, and its client begins another", async (context) => {
    const endpoint = await serve(context, { tools: [echo], maxSessions: 2 })
    const kits = []
    for (let index = 0; index < 3; index++) {
      const kit = await mcpTools({ url: endpoint.url, headers: endpoint.headers })
      context.after(() => kit.close())
      kits.push(kit)
    }
    for (const kit of kits) {
      const agent = createAgent({
        model: scriptedModel([[{ type: "tool-call", id: "t", name: "echo", input: { text: "still here" } }], "Done."]),
        tools: kit.tools,
        noTool: "answer",
      })
      assert.match(JSON.stringify((await agent.run("Go.")).messages), /"ok":true,"text":"still here"/)
    }
  })

  test("gives tools the files of a workspace, and a state that stays", async (context) => {
    const workspace = memoryWorkspace({ "notes.txt": "remember" })
    const read = tool({
      name: "read",
      description: "",
      async run(_input, { workspace, state }) {
        const times = Number(state.get("times") ?? 0) + 1
        state.set("times", times)
        return `${times}: ${new TextDecoder().decode(await workspace.read("notes.txt"))}`
      },
    })
    const endpoint = await serve(context, { tools: [read], workspace })
    assert.equal(await call(await connect(context, endpoint), "read"), "1: remember")
    assert.equal(await call(await connect(context, endpoint, "modern"), "read"), "2: remember")
  })

  test("shows long results in part", async (context) => {
    const endpoint = await serve(context, { tools: { long: () => "x".repeat(100_000) } })
    const text = textOf(await (await connect(context, endpoint)).callTool({ name: "long", arguments: {} }))
    assert.ok(text.length < 41_000 && text.includes("of 100000 characters left out"), text.slice(-300))
  })
})
