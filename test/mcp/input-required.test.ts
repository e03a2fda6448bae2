// test lane: clis
import assert from "node:assert/strict"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { Client, type InputRequiredResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import type { AgentEvent } from "../../src/core/event.ts"
import type { McpEndpoint } from "../../src/mcp/mcp-types.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { until } from "../waiting.ts"
import { call, connect, serve, textOf } from "./clients.ts"

describe("calls of clients of the protocol of 2026 that wait for answers", () => {
  const code = "await wipe('a')"

  function wipes() {
    const wiped: string[] = []
    const wipe = (name: string) => `wiped ${wiped.push(name)}`
    return { wiped, runtime: jsRuntime({ wipe: fn(wipe, { approve: true }) }) }
  }

  test("ask over standard input and output as over HTTP", async (context) => {
    const bin = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url))
    const objects = fileURLToPath(new URL("../fixtures/mcp/objects.ts", import.meta.url))
    const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
    const client = new Client(
      { name: "person", version: "1" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    )
    const asked: string[] = []
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message)
      return { action: "accept", content: { answer: "once" } }
    })
    const args = [...flags, bin, "mcp", "serve", objects]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }))
    context.after(() => client.close())
    assert.equal(client.getProtocolEra(), "modern")
    assert.match(await call(client, "run", { code: "await wipe(); await wipe()" }), /'wiped'/)
    assert.deepEqual(asked, ["May wipe() be called?", "May wipe() be called?"])
  })

  test("go on by the right request after one with other arguments was refused", async (context) => {
    const { wiped, runtime } = wipes()
    const client = await manual(context, await serve(context, { runtime, approver: "client" }))
    const asked = await client.begin("run", { code })
    await assert.rejects(client.repeat("run", { code: "await wipe('b')" }, asked, "once"), /has other arguments/)
    assert.deepEqual(wiped, [])
    assert.match(await client.repeat("run", { code }, asked, "once"), /wiped 1/)
    assert.deepEqual(wiped, ["a"])
  })

  test("are continued once by each state, also by two requests at the same time", async (context) => {
    const { wiped, runtime } = wipes()
    const client = await manual(context, await serve(context, { runtime, approver: "client" }))
    const asked = await client.begin("run", { code })
    const results = await Promise.allSettled([1, 2, 3].map(() => client.repeat("run", { code }, asked, "once")))
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1)
    await assert.rejects(client.repeat("run", { code }, asked, "once"), /continued before/)
    assert.deepEqual(wiped, ["a"])
  })

  test("do not begin again by a repeated request that no longer declares that the client can ask", async (context) => {
    const ran: string[] = []
    const runtime = jsRuntime({
      mark: () => ran.push("before"),
      wipe: fn(() => ran.push("wiped"), { approve: true }),
    })
    const endpoint = await serve(context, { runtime, approver: "client" })
    const client = await manual(context, endpoint)
    const input = { code: "mark(); await wipe()" }
    const { requestState } = await client.begin("run", input)
    const mute = await connect(context, endpoint, "modern")
    const repeated = { name: "run", arguments: input, requestState: requestState ?? "", inputResponses: {} }
    await assert.rejects(mute.callTool(repeated), /does not declare the capability `elicitation`/)
    assert.deepEqual(ran, ["before"])
  })

  test("take no answer to a question of another call", async (context) => {
    const { wiped, runtime } = wipes()
    const tools = { pay: fn((amount: number) => `paid ${wiped.push(`${amount}`)}`, { approve: true }) }
    const client = await manual(context, await serve(context, { runtime, tools, approver: "client" }))
    const cell = await client.begin("run", { code })
    const pay = await client.begin("pay", { amount: 5 })
    const mixed = { ...pay, inputRequests: { ...pay.inputRequests, ...cell.inputRequests } }
    assert.match(await client.repeat("pay", { amount: 5 }, mixed, "once"), /paid 1/)
    assert.deepEqual(wiped, ["5"])
  })

  test("take no answer that was not offered", async (context) => {
    const { wiped, runtime } = wipes()
    const client = await manual(context, await serve(context, { runtime, approver: "client" }))
    const asked = await client.begin("run", { code })
    assert.match(await client.repeat("run", { code }, asked, "always"), /not approved/)
    assert.deepEqual(wiped, [])
  })

  test("do not hold up the tools of other clients", async (context) => {
    const tools = { pay: fn((amount: number) => `paid ${amount}`, { approve: true }), add: (a: number) => a + 1 }
    const endpoint = await serve(context, { tools, approver: "client" })
    const client = await manual(context, endpoint)
    await client.begin("pay", { amount: 5 })
    assert.equal(await call(await connect(context, endpoint, "modern"), "add", { a: 1 }), "2")
  })

  test("leave their turn to others when no answer comes in time", async (context) => {
    const tools = { pay: fn((amount: number) => `paid ${amount}`, { approve: true }), add: (a: number) => a + 1 }
    const events: string[] = []
    const onEvent = ({ type }: AgentEvent) => events.push(type)
    const endpoint = await serve(context, { tools, onEvent, approver: "client", approvalTimeoutMs: 20 })
    const client = await manual(context, endpoint)
    const asked = await client.begin("pay", { amount: 5 })
    await until(() => events.includes("tool-end"))
    const other = await connect(context, endpoint, "modern")
    assert.match(await call(other, "pay", { amount: 5 }), /no approver/)
    assert.equal(await call(other, "add", { a: 1 }), "2")
    assert.match(await client.repeat("pay", { amount: 5 }, asked, "once"), /not approved within 20 ms/)
    assert.equal(await call(other, "add", { a: 2 }), "3")
  })

  test("have ended when the server is closed", async (context) => {
    const events: string[] = []
    const tools = { pay: fn((amount: number) => `paid ${amount}`, { approve: true }) }
    const onEvent = ({ type }: AgentEvent) => events.push(type)
    const endpoint = await serve(context, { tools, onEvent, approver: "client" })
    const client = await manual(context, endpoint)
    await client.begin("pay", { amount: 5 })
    await endpoint.close()
    assert.equal(events.at(-1), "tool-end")
  })
})

interface Repeated {
  requestState?: string
  inputResponses?: Record<string, unknown>
}

/** A client that passes the questions to the test. */
async function manual(context: TestContext, { url, headers }: McpEndpoint) {
  const client = new Client(
    { name: "person", version: "1" },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      inputRequired: { autoFulfill: false },
    },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }))
  context.after(() => client.close())
  const ask = async (params: Parameters<Client["callTool"]>[0] & Repeated) => {
    const result: object = await client.callTool(params, { allowInputRequired: true })
    return result
  }
  return {
    async begin(name: string, input: Record<string, unknown>): Promise<InputRequiredResult> {
      const result = await ask({ name, arguments: input })
      assert.ok("inputRequests" in result && "requestState" in result, JSON.stringify(result))
      return result as InputRequiredResult
    },
    async repeat(name: string, input: Record<string, unknown>, asked: InputRequiredResult, answer: string) {
      const answers = Object.keys(asked.inputRequests ?? {}).map((key) => [
        key,
        { action: "accept", content: { answer } },
      ])
      const inputResponses = Object.fromEntries(answers)
      const result = await ask({ name, arguments: input, requestState: asked.requestState ?? "", inputResponses })
      assert.ok("content" in result, JSON.stringify(result))
      return textOf(result as Parameters<typeof textOf>[0])
    },
  }
}
