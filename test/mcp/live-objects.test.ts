// test lane: clis
import assert from "node:assert/strict"
import { describe, type TestContext, test } from "node:test"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Decision } from "../../src/core/agent.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import type { McpEndpoint } from "../../src/mcp/mcp-types.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import { safeRules } from "../../src/runtime/rules/safe-rules.ts"
import { retrieveAny } from "../retrieve-any.ts"
import { requires } from "../system.ts"
import { until } from "../waiting.ts"
import { call, connect, type Era, serve, textOf } from "./clients.ts"

class Light {
  brightness = 100
  dim(to: number): void {
    this.brightness = to
  }
}

for (const era of ["legacy", "modern"] satisfies Era[]) {
  describe(`live objects in the hands of a ${era} client`, () => {
    test("are declared in the instructions and changed by its code", async (context) => {
      const light = new Light()
      const runtime = jsRuntime({ light: variable(light, "Of the living room"), report: "" })
      const endpoint = await serve(context, { runtime, instructions: "Be gentle." })
      const client = await connect(context, endpoint, era)
      assert.match(
        client.getInstructions() ?? "",
        /^Be gentle\.[\s\S]*\/\*\* Of the living room \*\/\ndeclare const light/,
      )
      assert.equal(
        await call(client, "run", { code: "light.dim(20)\nreport = 'dimmed'\nlight.brightness" }),
        out("20\n(changed: report: string)"),
      )
      assert.equal(light.brightness, 20)
      assert.equal(await runtime.retrieve("report"), "dimmed")
      assert.equal(await call(client, "inspect", { name: "light.brightness" }), out("20"))
      assert.match(await call(client, "inspect"), /^report: string \(variable, size 6\)$/m)
      assert.match(await call(client, "describe", { names: ["light"] }), /declare const light/)
    })

    test("cannot end a run: finish is neither named nor allowed", async (context) => {
      const endpoint = await serve(context, { runtime: jsRuntime() })
      const client = await connect(context, endpoint, era)
      assert.doesNotMatch(JSON.stringify([client.getInstructions(), await client.listTools()]), /finish/)
      assert.match(await call(client, "run", { code: "finish('x')" }), /^! [\s\S]*belongs to no run of an agent/)
    })

    test("answers that a cell goes on when it takes long, and gives its result to who waits", async (context) => {
      const gate = Promise.withResolvers<string>()
      const runtime = jsRuntime({ open: () => gate.promise })
      const endpoint = await serve(context, { runtime, answerTimeoutMs: 30 })
      const client = await connect(context, endpoint, era)
      const { status, cell } = JSON.parse(await call(client, "run", { code: "await open()" }))
      assert.equal(status, "running")
      assert.equal(JSON.parse(await call(client, "wait", { cell })).status, "running")
      gate.resolve("opened")
      assert.equal(await waited(client, cell), out("'opened'"))
      assert.match(await call(client, "wait", { cell }), /^! There is no cell/)
    })

    test("waits for a cell without end if answerTimeoutMs is Infinity or longer than timers are", async (context) => {
      for (const answerTimeoutMs of [Infinity, 2 ** 31]) {
        const runtime = jsRuntime({ slow: () => new Promise((resolve) => setTimeout(resolve, 50, "slept")) })
        const client = await connect(context, await serve(context, { runtime, answerTimeoutMs }), era)
        assert.equal(await call(client, "run", { code: "await slow()" }), out("'slept'"))
      }
    })

    test("says when a person must approve, and goes on once that is done", async (context) => {
      const answer = Promise.withResolvers<Decision>()
      const runtime = jsRuntime({ wipe: fn(() => "wiped", { approve: true }) })
      const endpoint = await serve(context, { runtime, answerTimeoutMs: 30, approver: () => answer.promise })
      const client = await connect(context, endpoint, era)
      const { status, cell } = JSON.parse(await call(client, "run", { code: "await wipe()" }))
      assert.equal(status, "needs-approval")
      answer.resolve("allow")
      assert.equal(await waited(client, cell), out("'wiped'"))
    })

    test("aborts the cell when its call is cancelled, and the next one runs", async (context) => {
      const begun = Promise.withResolvers<void>()
      const runtime = jsRuntime({
        hold: () => {
          begun.resolve()
          return new Promise(() => {})
        },
      })
      const events: AgentEvent[] = []
      const endpoint = await serve(context, { runtime, onEvent: (event) => events.push(event) })
      const client = await connect(context, endpoint, era)
      const controller = new AbortController()
      const running = client.callTool(
        { name: "run", arguments: { code: "await hold()" } },
        { signal: controller.signal },
      )
      await begun.promise
      controller.abort()
      await assert.rejects(running)
      await until(() => events.some(({ type }) => type === "code-end"))
      const end = events.find((event) => event.type === "code-end")
      assert.equal(end?.error?.kind, "aborted")
      assert.equal(await call(client, "run", { code: "1 + 1" }), out("2"))
    })
  })
}

describe("a runtime that is served", () => {
  test("holds cells to rules, types, limits and hooks, and shapes what they give", async (context) => {
    const runtime = jsRuntime({ next: () => 1, big: "x".repeat(9000) }, { rules: safeRules() })
    const endpoint = await serve(context, {
      runtime,
      limits: { callsByName: { next: 2 } },
      hooks: { beforeCall: ({ binding }) => (binding === "next" ? undefined : { refuse: "no" }) },
      maxOutputChars: 1000,
    })
    const client = await connect(context, endpoint)
    assert.match(await call(client, "run", { code: "eval('1')" }), /^! <error>/)
    assert.match(await call(client, "run", { code: "throw new Error('oh')" }), /^! <error>\nError: oh/)
    assert.match(await call(client, "run", { code: "let = 3" }), /^! <error>/)
    assert.equal(await call(client, "run", { code: "await next() + await next()" }), out("2"))
    assert.match(await call(client, "run", { code: "await next()" }), /CallLimitReached: next was not called/)
    const long = await call(client, "run", { code: "console.log(big)" })
    const [, kept = ""] = /in the variable (\w+)/.exec(long) ?? []
    assert.equal(String(await retrieveAny(runtime, kept)).length, 9000)
  })

  test("checks cells against their types where it is asked to", { skip: requires("typescript") }, async (context) => {
    const endpoint = await serve(context, { runtime: jsRuntime({ light: new Light() }), typeGate: "block" })
    const client = await connect(context, endpoint)
    assert.match(await call(client, "run", { code: "light.dimm(3)" }), /^! <error>[\s\S]*dimm/)
  })

  test("gives pictures as pictures", async (context) => {
    const runtime = jsRuntime({})
    const drawing = {
      ...runtime,
      execute: async (...args: Parameters<typeof runtime.execute>) => ({
        ...(await runtime.execute(...args)),
        images: [{ type: "image" as const, mediaType: "image/png", data: "aGVsbG8=" }],
      }),
    }
    const client = await connect(context, await serve(context, { runtime: drawing }))
    const { content } = await client.callTool({ name: "run", arguments: { code: "1" } })
    assert.deepEqual(content[1], { type: "image", data: "aGVsbG8=", mimeType: "image/png" })
  })

  test("is shared by clients and agents of ours at once, one cell at a time", async (context) => {
    let under = 0
    let most = 0
    const runtime = jsRuntime({
      log: [] as string[],
      async work(name: string) {
        most = Math.max(most, ++under)
        await new Promise((resolve) => setTimeout(resolve, 2))
        under--
        return name
      },
    })
    const endpoint = await serve(context, { runtime })
    const clients = await Promise.all([
      connect(context, endpoint, "legacy"),
      connect(context, endpoint, "modern"),
      connect(context, endpoint, "legacy"),
    ])
    const cells = clients.flatMap((client, index) =>
      Array.from({ length: 5 }, () => call(client, "run", { code: `log.push(await work("client ${index}"))` })),
    )
    const agent = createAgent({ model: scriptedModel(["```ts\nlog.push(await work('agent'))\n```", "Done."]), runtime })
    await Promise.all([...cells, agent.run("Work.")])
    const log = await runtime.retrieve("log")
    assert.equal(log.length, 16)
    assert.equal(most, 1)
  })

  test("of another process works as well, and its functions pass the gate", async (context) => {
    await using runtime = processRuntime({ wipe: fn(() => "wiped", { approve: true }), rows: [1, 2, 3] })
    const endpoint = await serve(context, { runtime, approver: () => true })
    const client = await connect(context, endpoint)
    assert.equal(await call(client, "run", { code: "[await wipe(), rows.length]" }), out("[ 'wiped', 3 ]"))
  })

  test("of Python is run, inspected and described as such, pictures included", {
    skip: requires("python", "matplotlib"),
  }, async (context) => {
    await using runtime = pythonRuntime({ rows: [1, 2, 3] })
    const endpoint = await serve(context, { runtime })
    const client = await connect(context, endpoint)
    assert.match(client.getInstructions() ?? "", /```python[\s\S]*rows/)
    assert.equal(await call(client, "run", { code: "total = sum(rows)\ntotal + 1" }), out("7\n(new: total: int)"))
    assert.equal(await call(client, "inspect", { name: "total" }), out("6"))
    const code = "import matplotlib.pyplot as plt\nplt.plot(rows)\nplt.show()"
    const { content } = await client.callTool({ name: "run", arguments: { code } })
    assert.deepEqual(
      content.map((block) => (block.type === "image" ? block.mimeType : block.type)),
      ["text", "image/png"],
    )
  })

  for (const [answer, outcome] of [
    [{ action: "accept", content: { answer: "once" } }, /wiped all/],
    [{ action: "accept", content: { answer: "always" } }, /wiped all/],
    [{ action: "accept", content: { answer: "no" } }, /wipe was not approved/],
    [{ action: "decline" }, /wipe was not approved/],
    [{ action: "cancel" }, /wipe was not approved/],
  ] as const) {
    test(`asks the person at the client, who answers ${JSON.stringify(answer)}`, async (context) => {
      const runtime = jsRuntime({ wipe: fn((what: string) => `wiped ${what}`, { approve: true }) })
      const endpoint = await serve(context, { runtime, approver: "client", answerTimeoutMs: 20 })
      const client = new Client({ name: "person", version: "1" }, { capabilities: { elicitation: {} } })
      const asked: string[] = []
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message)
        // The answer is given after `run` has reported that the cell waits for it.
        await until(() => isWaiting)
        return answer
      })
      let isWaiting = false
      const { url, headers } = endpoint
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
      )
      context.after(() => client.close())
      const { status, cell } = JSON.parse(await call(client, "run", { code: "await wipe('all')" }))
      assert.equal(status, "needs-approval")
      isWaiting = true
      assert.match(await waited(client, cell), outcome)
      assert.deepEqual(asked, ['May wipe("all") be called?'])
      const always = "content" in answer && answer.content.answer === "always"
      if (always) assert.match(await call(client, "run", { code: "await wipe('more')" }), /wiped more/)
    })
  }

  test("asks each client for itself what another has allowed for always, and shows the whole call", async (context) => {
    const runtime = jsRuntime({ wipe: fn((what: string) => `wiped ${what.length}`, { approve: true }) })
    const endpoint = await serve(context, { runtime, approver: "client" })
    const asked: string[] = []
    const open = async (name: string, answer: string) => {
      const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {} } })
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(`${name}: ${params.message}`)
        return { action: "accept", content: { answer } }
      })
      const { url, headers } = endpoint
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
      )
      context.after(() => client.close())
      return client
    }
    const [first, second] = [await open("first", "always"), await open("second", "no")]
    const code = "await wipe('x'.repeat(500) + 'end\u202e')"
    const text = async (client: Client) => {
      const { content } = await client.callTool({ name: "run", arguments: { code } })
      return JSON.stringify(content)
    }
    assert.match(await text(first), /wiped 504/)
    assert.match(await text(first), /wiped 504/)
    assert.match(await text(second), /not approved/)
    assert.deepEqual(
      asked.map((message) => message.split(":")[0]),
      ["first", "second"],
    )
    assert.ok(asked.every((message) => message.includes(`${"x".repeat(500)}end\\u{202e}`)))
  })

  describe("asks the person at a client of the protocol of 2026, which repeats the call with the answer", () => {
    type Answer = { action: "accept"; content: { answer: string } } | { action: "decline" } | { action: "cancel" }

    async function modern(context: TestContext, endpoint: McpEndpoint, answer: (message: string) => Answer) {
      const client = new Client(
        { name: "person", version: "1" },
        { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
      )
      client.setRequestHandler("elicitation/create", ({ params }) => answer(params.message))
      const { url, headers } = endpoint
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
      )
      assert.equal(client.getProtocolEra(), "modern")
      context.after(() => client.close())
      return client
    }
    const yes: Answer = { action: "accept", content: { answer: "once" } }
    const wipes = () => {
      const wiped: string[] = []
      const wipe = (what: string) => `wiped ${wiped.push(what)}`
      return { wiped, runtime: jsRuntime({ wipe: fn(wipe, { approve: true }) }) }
    }

    for (const [answer, outcome] of [
      [yes, /wiped 1/],
      [{ action: "accept", content: { answer: "no" } }, /wipe was not approved/],
      [{ action: "accept", content: { answer: "anything" } }, /wipe was not approved/],
      [{ action: "decline" }, /wipe was not approved/],
      [{ action: "cancel" }, /wipe was not approved/],
    ] satisfies [Answer, RegExp][]) {
      test(`who answers ${JSON.stringify(answer)}`, async (context) => {
        const { runtime } = wipes()
        const endpoint = await serve(context, { runtime, approver: "client", answerTimeoutMs: 200 })
        const asked: string[] = []
        const client = await modern(context, endpoint, (message) => {
          asked.push(message)
          return answer
        })
        assert.match(await call(client, "run", { code: "await wipe('all')" }), outcome)
        assert.deepEqual(asked, ['May wipe("all") be called?'])
      })
    }

    test("once for each of several calls, each executed once", async (context) => {
      const { wiped, runtime } = wipes()
      const endpoint = await serve(context, { runtime, approver: "client" })
      const asked: string[] = []
      const client = await modern(context, endpoint, (message) => {
        asked.push(message)
        return message.includes('"b"') ? { action: "decline" } : yes
      })
      const code = "await Promise.allSettled([wipe('a'), wipe('b'), wipe('c')]); await wipe('d'); 1"
      assert.equal(await call(client, "run", { code }), out("1"))
      assert.deepEqual(wiped, ["a", "c", "d"])
      assert.equal(asked.length, 4)
    })

    test("about a function that is served as a tool", async (context) => {
      const { runtime } = wipes()
      const tools = { pay: fn((amount: number) => `paid ${amount}`, { approve: true }) }
      const endpoint = await serve(context, { runtime, tools, approver: "client" })
      const client = await modern(context, endpoint, () => yes)
      assert.equal(await call(client, "pay", { amount: 5 }), "paid 5")
    })

    test("when the cell asks after `run` has answered, by the call of `wait`", async (context) => {
      const begin = Promise.withResolvers<void>()
      const runtime = jsRuntime({ ready: () => begin.promise, wipe: fn(() => "wiped", { approve: true }) })
      const endpoint = await serve(context, { runtime, approver: "client", answerTimeoutMs: 20 })
      const client = await modern(context, endpoint, () => yes)
      const { status, cell } = JSON.parse(await call(client, "run", { code: "await ready(); await wipe()" }))
      assert.equal(status, "running")
      begin.resolve()
      assert.match(await waited(client, cell), /wiped/)
    })

    test("and refuses a continuation that the server did not give out", async (context) => {
      const { wiped, runtime } = wipes()
      const endpoint = await serve(context, { runtime, approver: "client" })
      const client = await modern(context, endpoint, () => yes)
      const forged = { name: "run", arguments: { code: "await wipe('x')" }, requestState: "guess", inputResponses: {} }
      await assert.rejects(client.callTool(forged), /to be continued is not known/)
      assert.deepEqual(wiped, [])
    })
  })

  test("refuses what the person at the client cannot be asked about", async (context) => {
    const runtime = jsRuntime({ wipe: fn(() => "wiped", { approve: true }) })
    const endpoint = await serve(context, { runtime, approver: "client" })
    for (const era of ["legacy", "modern"] satisfies Era[]) {
      const client = await connect(context, endpoint, era)
      assert.match(await call(client, "run", { code: "await wipe()" }), /needs approval and there is no approver/)
    }
  })

  test("tells its owner what clients do, as a run would", async (context) => {
    const events: AgentEvent[] = []
    const runtime = jsRuntime({ next: () => 1 })
    const endpoint = await serve(context, { runtime, onEvent: (event) => events.push(event) })
    await call(await connect(context, endpoint), "run", { code: "console.log('hi')\nawait next()" })
    assert.deepEqual(
      events.map((event) => (event.type === "code-delta" ? `${event.type} ${event.of}` : event.type)),
      ["code-start", "code-delta source", "code-delta stdout", "call-start", "call-end", "code-end"],
    )
  })

  test("that is closed is told to the client, and refuses nothing to others", async (context) => {
    const runtime = jsRuntime({})
    const endpoint = await serve(context, { runtime, tools: { add: (a: number, b: number) => a + b } })
    const client = await connect(context, endpoint)
    await runtime.close()
    assert.match(await call(client, "run", { code: "1" }), /^! [\s\S]*closed/)
    assert.match(await call(client, "describe"), /^! [\s\S]*closed/)
    assert.equal(await call(client, "add", { a: 1, b: 2 }), "3")
    assert.equal(await call(await connect(context, endpoint), "add", { a: 1, b: 2 }), "3")
  })

  test("ends its cells when the server is closed", async () => {
    const begun = Promise.withResolvers<void>()
    const events: AgentEvent[] = []
    const runtime = jsRuntime({
      hold() {
        begun.resolve()
        return new Promise(() => {})
      },
    })
    const endpoint = await serveMcp({
      name: "test",
      runtime,
      answerTimeoutMs: 5,
      onEvent: (event) => events.push(event),
    })
    await using kit = await mcpTools({ url: endpoint.url, headers: endpoint.headers })
    const agent = createAgent({
      model: scriptedModel([
        [{ type: "tool-call", id: "t", name: "run", input: { code: "await hold()" } }],
        "Left running.",
      ]),
      tools: kit.tools,
      noTool: "answer",
    })
    await agent.run("Go.")
    await begun.promise
    await endpoint.close()
    assert.equal(events.at(-1)?.type, "code-end")
  })

  for (const [tool, input, says] of [
    ["run", {}, /^! Invalid input: code: is missing/],
    ["run", { code: 3 }, /^! Invalid input: code/],
    ["inspect", { name: "light; wipe()" }, /^! "light; wipe\(\)" is not the name of a value/],
    ["inspect", { name: "nobody" }, /^! <error>[\s\S]*nobody/],
    ["describe", { names: ["nobody"] }, /nobody/],
    ["wait", { cell: "cell_x" }, /^! There is no cell "cell_x"/],
  ] as const) {
    test(`answers ${tool} with ${JSON.stringify(input)} by what is wrong`, async (context) => {
      const endpoint = await serve(context, { runtime: jsRuntime({ light: new Light() }) })
      assert.match(await call(await connect(context, endpoint), tool, input), says)
    })
  }

  test("leaves room for tools beside it, but not by its own names", async (context) => {
    const runtime = jsRuntime({})
    await assert.rejects(serve(context, { runtime, tools: { run: () => 1 } }), /"run" is a tool of the runtime/)
  })
})

function out(text: string): string {
  return `<output>\n${text}\n</output>`
}

// The call may be repeated before the cell has ended.
async function waited(client: Client, cell: string): Promise<string> {
  for (;;) {
    const text = textOf(await client.callTool({ name: "wait", arguments: { cell } }))
    if (!text.startsWith("{")) return text
  }
}
