// test lane: clis
import assert from "node:assert/strict"
import { AsyncLocalStorage } from "node:async_hooks"
import { describe, test } from "node:test"
import type { Journal } from "../../src/actions/journal-contract.ts"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import type { McpHost } from "../../src/mcp/mcp-types.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { call, connect, serve, use } from "./clients.ts"

const helper = createAgent({ name: "helper", model: scriptedModel(() => "Helped.") })

describe("a server that is opened in a run", () => {
  test("makes the runs of its sub-agents children of that run", async () => {
    const runtime = jsRuntime({
      async ask() {
        await using endpoint = await serveMcp({ name: "test", tools: [helper] })
        await using kit = await mcpTools({ url: endpoint.secretUrl })
        return (await use(kit, "helper", { prompt: "Help." })).text
      },
    })
    const agent = createAgent({ model: scriptedModel(["```ts\nawait ask()\n```", "Done."]), runtime })
    const events: AgentEvent[] = []
    const run = agent.run("Ask for help.")
    for await (const event of run) events.push(event)
    const child = events.find((event) => event.type === "run-start" && event.agent === "helper")
    assert.equal(child?.parent, run.id)
  })

  test("lets its clients into the runtime whose cell waits for them", async () => {
    const runtime = jsRuntime({
      total: 1,
      async outside(code: string) {
        await using endpoint = await serveMcp({ name: "test", runtime: shared() })
        await using kit = await mcpTools({ url: endpoint.secretUrl })
        return (await use(kit, "run", { code })).text
      },
    })
    const shared = () => runtime
    const execution = await runtime.execute("await outside('total += 1')\ntotal")
    assert.ok(execution.ok)
    assert.equal(execution.value, 2)
  })

  test("lets them in as well when it was opened before, if its host says where the call belongs", async (context) => {
    let host: McpHost = {}
    const runtime = jsRuntime({
      total: 1,
      async outside(code: string) {
        host = { within: AsyncLocalStorage.snapshot() }
        return await call(client, "run", { code })
      },
    })
    const endpoint = await serve(context, { runtime, host: () => host })
    const client = await connect(context, endpoint)
    const execution = await runtime.execute("await outside('total += 1')\ntotal")
    assert.ok(execution.ok)
    assert.equal(execution.value, 2)
  })
})

test("the calls of clients pass the journal of a durable run, in cells and as tools", async (context) => {
  const recorded: string[] = []
  const journal: Journal = {
    async call({ binding, args }, { approve, make }) {
      recorded.push(`${binding}(${JSON.stringify(args)})`)
      await approve()
      return make("key")
    },
    answersApprovals: false,
    wrapModel: (model) => model,
    cellEnv: () => undefined,
    openChild: () => journal,
  }
  const endpoint = await serve(context, {
    runtime: jsRuntime({ pay: fn((amount: number) => `paid ${amount}`, { approve: true }) }),
    tools: { refund: (amount: number) => `refunded ${amount}` },
    host: () => ({ journal, approver: () => true }),
  })
  const client = await connect(context, endpoint)
  assert.match(await call(client, "run", { code: "await pay(3)" }), /paid 3/)
  assert.equal(await call(client, "refund", { amount: 4 }), "refunded 4")
  assert.deepEqual(recorded, ["pay([3])", 'refund([{"amount":4}])'])
})
