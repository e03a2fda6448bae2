// test lane: runtimes, long
// The service of docs/web-service.md, whose snippets are the files of examples/chat-service.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, test } from "node:test"
import { type CodeAgent, createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import type { BrowserMessage } from "karst/server"
import { memoryStore, type Store } from "karst/stores"
import { createSupportAgent, type Shop } from "../../examples/chat-service/agent.ts"
import { createApp } from "../../examples/chat-service/app.ts"
import { createSessions, type Sessions } from "../../examples/chat-service/sessions.ts"
import { eventsOf, framesOf, listenWeb } from "./loopback.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

function wiper(wiped: string[], steps = [cell("await wipe('disk 1')"), "Wiped."]): CodeAgent {
  return createAgent({
    model: scriptedModel(steps),
    runtime: () => jsRuntime({ wipe: fn((name: string) => void wiped.push(name), { approve: true }) }),
  })
}

describe("the chat service of docs/web-service.md", () => {
  test("asks for approval in the stream and takes the answer at another endpoint", async () => {
    const wiped: string[] = []
    await using server = await chatService(wiper(wiped))
    const types: string[] = []
    for await (const { event } of framesOf((await server.post("ada", "/chat", "Wipe disk 1")).body)) {
      if (event) types.push(event.type)
      if (event?.type !== "approval-requested") continue
      const { id, call } = event
      assert.deepEqual(await server.json("ada", "/approvals"), [{ id, call, text: 'wipe("disk 1")' }])
      assert.deepEqual(await server.json("eve", "/approvals"), [])
      assert.equal((await server.post("eve", `/approvals/${id}`, "allow")).status, 409, "another user has no run")
      assert.equal((await server.post("ada", "/approvals/other", "allow")).status, 409)
      assert.equal((await server.post("ada", "/chat", "And now?")).status, 409, "a prompt would wait in the queue")
      assert.deepEqual(wiped, [])
      assert.equal((await server.post("ada", `/approvals/${id}`, "allow")).status, 204)
      assert.equal((await server.post("ada", `/approvals/${id}`, "allow")).status, 409, "it was answered")
    }
    assert.deepEqual(wiped, ["disk 1"])
    assert.deepEqual([types.includes("approval-resolved"), types.at(-1)], [true, "run-end"])
    assert.deepEqual(await server.json("ada", "/approvals"), [])
  })

  test("steers the run under way, and lets a browser reconnect to it", async () => {
    const gate = Promise.withResolvers<void>()
    const agent = createAgent({
      model: scriptedModel([
        cell("await slow()"),
        ({ messages }) => `Heard: ${/in French/.test(JSON.stringify(messages))}`,
      ]),
      runtime: () => jsRuntime({ slow: () => gate.promise }),
    })
    await using server = await chatService(agent)
    const left = new AbortController()
    const first = await server.post("ada", "/chat", "Go", left.signal)
    let lastId = ""
    for await (const { id, event } of framesOf(first.body)) {
      lastId = id ?? lastId
      if (event?.type === "message-end") break
    }
    left.abort()
    await server.post("ada", "/steer", "in French")
    const again = await server.get("ada", "/chat", { "last-event-id": lastId })
    gate.resolve()
    const events = await eventsOf(again)
    assert.equal(events[0]?.type, "code-end")
    assert.ok(events.some((event) => event.type === "prompt-steered" && event.text === "in French"))
    assert.partialDeepStrictEqual(events.at(-1), { type: "run-end", output: "Heard: true" })
  })

  test("gives the answer to a browser that comes back after the run has ended", async () => {
    await using server = await chatService(createAgent({ model: scriptedModel(["It is done."]) }))
    assert.equal((await server.get("ada", "/chat")).status, 204, "there was no run")
    const frames = await Array.fromAsync(framesOf((await server.post("ada", "/chat", "Go")).body))
    assert.partialDeepStrictEqual((await eventsOf(await server.get("ada", "/chat"))).at(-1), { output: "It is done." })
    const seen = { "last-event-id": frames.at(-1)?.id ?? "" }
    assert.equal((await server.get("ada", "/chat", seen)).status, 204, "the browser has seen the end")
  })

  test("continues each user's session after a restart, with the conversation and the budget", async () => {
    const store = memoryStore()
    const usage = { input: 90, output: 10, complete: true }
    const agent = createAgent({
      model: scriptedModel(({ messages }) => `Turn ${(messages.length + 1) / 2}.`, { usage }),
    })
    for (const turn of [1, 2]) {
      await using server = await chatService(agent, store)
      for (const user of ["ada", "eve@example.com"]) {
        const events = await eventsOf(await server.post(user, "/chat", "Hi"))
        assert.partialDeepStrictEqual(events.at(-1), { output: `Turn ${turn}.` })
      }
    }
    await using server = await chatService(agent, store)
    const { messages, left } = (await server.json("ada", "/history")) as { messages: BrowserMessage[]; left: unknown }
    assert.deepEqual(
      messages.map(({ role, text }) => `${role}: ${text}`),
      ["user: Hi", "assistant: Turn 1.", "user: Hi", "assistant: Turn 2."],
    )
    assert.deepEqual(left, { tokens: 499_800 })
  })

  test("opens a session again after another process had taken it over", async () => {
    const store = memoryStore()
    const agent = createAgent({ model: scriptedModel(({ messages }) => `${messages.length} messages.`) })
    await using one = await chatService(agent, store)
    await using two = await chatService(agent, store)
    await eventsOf(await one.post("ada", "/chat", "1"))
    await eventsOf(await two.post("ada", "/chat", "2"))
    const [refused] = (await eventsOf(await one.post("ada", "/chat", "3"))).slice(-1)
    assert.partialDeepStrictEqual(refused, { type: "run-end", status: "failed", error: { code: "conflict" } })
    const again = await eventsOf(await one.post("ada", "/chat", "3"))
    assert.partialDeepStrictEqual(again.at(-1), { status: "done", output: "5 messages." })
  })

  test("closes idle sessions, not those with a run, and opens them again at a request", async () => {
    let open = 0
    const agent = createAgent({
      model: scriptedModel([cell("await wipe()"), "Wiped.", "Hello again."]),
      runtime() {
        open++
        const runtime = jsRuntime({ wipe: fn(() => {}, { approve: true }) })
        const close = runtime.close.bind(runtime)
        return Object.assign(runtime, {
          close() {
            open--
            return close()
          },
        })
      },
    })
    const sessions = createSessions(agent, memoryStore(), 1)
    const session = await sessions.of("ada")
    const run = session.send("Wipe")
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.equal(open, 1, "the session waits for the approval")
      run.approve(event.id, "allow")
    }
    while (open > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    assert.throws(() => session.send("Hi"), { code: "closed" })
    const again = await sessions.of("ada")
    assert.equal((await again.send("Hi")).output, "Hello again.")
    await sessions.closeAll()
  })

  test("stops although an approval is open, and aborts a run that does not end", async () => {
    const wiped: string[] = []
    const sessions = createSessions(wiper(wiped), memoryStore())
    const asking = (await sessions.of("ada")).send("Wipe")
    for await (const event of asking) if (event.type === "approval-requested") break
    await sessions.closeAll()
    assert.deepEqual([(await asking.settled).status, wiped], ["done", []])

    const endless = createAgent({
      model: scriptedModel([cell("await never()")]),
      runtime: () => jsRuntime({ never: () => new Promise<void>(() => {}) }),
    })
    const others = createSessions(endless, memoryStore())
    const run = (await others.of("ada")).send("Go")
    for await (const event of run) if (event.type === "call-start" || event.type === "code-start") break
    await others.closeAll(1)
    assert.partialDeepStrictEqual(await run.settled, { status: "aborted", detail: "The server stops." })
  })

  test("keeps the names and the data of each user apart, and asks unless an amount is a number up to 100", async () => {
    const refunded: unknown[] = []
    const shop: Shop = {
      ordersOf: async (user) => [{ id: 1, item: `lamp of ${user}`, euros: 49 }],
      async refund(user, order, euros) {
        refunded.push([user, order, euros])
        return "refunded"
      },
    }
    const steps = [
      cell("const [mine] = await listOrders(); await refund(mine.id, 100); mine.item"),
      "One.",
      cell("[typeof mine, (await listOrders())[0].item]"),
      "Two.",
      cell("await refund(1, 101)"),
      "Three.",
      cell("await refund(1, NaN)"),
      "Four.",
    ]
    const model = scriptedModel(steps)
    await using server = await chatService(createSupportAgent(model, shop))
    await eventsOf(await server.post("ada", "/chat", "1"))
    await eventsOf(await server.post("bob", "/chat", "2"))
    assert.deepEqual(refunded, [["ada", 1, 100]])
    assert.match(JSON.stringify(model.requests[3]?.messages), /'undefined', 'lamp of bob'/)
    for (const prompt of ["101", "NaN"]) {
      const asked: string[] = []
      for await (const { event } of framesOf((await server.post("bob", "/chat", prompt)).body)) {
        if (event?.type !== "approval-requested") continue
        asked.push(event.call.args)
        await server.post("bob", `/approvals/${event.id}`, "deny")
      }
      assert.deepEqual(asked, [`1, ${prompt}`])
    }
    assert.equal(refunded.length, 1)
  })

  test("answers 401 without a user, and starts and stops as a program", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "karst-chat-service-"))
    const program = join(import.meta.dirname, "../../examples/chat-service/server.ts")
    const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
    const child = spawn(process.execPath, [...flags, program], {
      cwd,
      env: { ...process.env, PORT: "0", MODEL: "openai/gpt-5.2", OPENAI_API_KEY: "none" },
      stdio: ["ignore", "pipe", "inherit"],
    })
    try {
      const [line]: string[] = await once(createInterface(child.stdout), "line")
      const url = `http://127.0.0.1:${/port (\d+)/.exec(line ?? "")?.[1]}`
      assert.equal((await fetch(`${url}/history`)).status, 401)
      const history = await fetch(`${url}/history`, { headers: { "x-user": "ada" } })
      assert.deepEqual(await history.json(), { messages: [], left: { tokens: 500_000 } })
      child.kill("SIGTERM")
      assert.deepEqual(await once(child, "exit"), [0, null])
    } finally {
      child.kill("SIGKILL")
      await rm(cwd, { recursive: true })
    }
  })
})

async function chatService(agent: CodeAgent, archive: Store = memoryStore()) {
  const sessions: Sessions = createSessions(agent, archive)
  const app = createApp(sessions)
  const server = await listenWeb(async (request) => app.fetch(request))
  const get = (user: string, path: string, headers: Record<string, string> = {}) =>
    fetch(server.url + path, { headers: { "x-user": user, ...headers } })
  return {
    get,
    json: async (user: string, path: string) => (await get(user, path)).json(),
    post: (user: string, path: string, body: string, signal: AbortSignal | null = null) =>
      fetch(server.url + path, { method: "POST", body, headers: { "x-user": user }, signal }),
    async [Symbol.asyncDispose]() {
      await sessions.closeAll(1)
      await server[Symbol.asyncDispose]()
    },
  }
}
