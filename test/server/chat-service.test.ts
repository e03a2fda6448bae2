import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AgentError, type CodeAgent, type CodeSession, createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { toResponse } from "karst/server"
import { memoryStore, type Store } from "karst/stores"
import { eventsOf, framesOf, listenWeb } from "./loopback.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

describe("a chat service over HTTP", () => {
  test("asks for approval in the stream and takes the answer at another endpoint", async () => {
    const wiped: string[] = []
    const agent = createAgent({
      model: scriptedModel([cell("await wipe('disk 1')"), "Wiped."]),
      runtime: () => jsRuntime({ wipe: fn((name: string) => void wiped.push(name), { approve: true }) }),
    })
    await using server = await chatService(agent)
    const response = await server.post("ada", "/chat", "Wipe disk 1")
    const types: string[] = []
    for await (const { event } of framesOf(response.body)) {
      if (event) types.push(event.type)
      if (event?.type !== "approval-requested") continue
      assert.deepEqual(wiped, [])
      const whole = await fetch(`${server.url}/approve/${event.id}`, { headers: { "x-user": "ada" } })
      assert.match(await whole.text(), /wipe\("disk 1"\)/)
      assert.equal((await server.post("eve", `/approve/${event.id}`, "allow")).status, 204, "another user has no run")
      assert.deepEqual(wiped, [])
      assert.equal((await server.post("ada", "/approve/other", "allow")).status, 409)
      assert.deepEqual(wiped, [])
      assert.equal((await server.post("ada", `/approve/${event.id}`, "allow")).status, 204)
    }
    assert.deepEqual(wiped, ["disk 1"])
    assert.deepEqual([types.includes("approval-resolved"), types.at(-1)], [true, "run-end"])
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
    const again = await fetch(`${server.url}/chat`, { headers: { "x-user": "ada", "last-event-id": lastId } })
    gate.resolve()
    const events = await eventsOf(again)
    assert.equal(events[0]?.type, "code-end")
    assert.ok(events.some((event) => event.type === "prompt-steered" && event.text === "in French"))
    assert.partialDeepStrictEqual(events.at(-1), { type: "run-end", output: "Heard: true" })
  })

  test("continues each user's session after a restart", async () => {
    const store = memoryStore()
    const agent = createAgent({ model: scriptedModel(({ messages }) => `Turn ${(messages.length + 1) / 2}.`) })
    for (const turn of [1, 2]) {
      await using server = await chatService(agent, store)
      for (const user of ["ada", "eve@example.com"]) {
        const events = await eventsOf(await server.post(user, "/chat", "Hi"))
        assert.partialDeepStrictEqual(events.at(-1), { output: `Turn ${turn}.` })
      }
    }
  })
})

async function chatService(agent: CodeAgent, archive: Store = memoryStore()) {
  const sessions = new Map<string, Promise<CodeSession>>()
  const open = (id: string) => {
    const session = sessions.get(id) ?? agent.session({ id, archive, approver: "events" })
    sessions.set(id, session)
    return session
  }
  const server = await listenWeb(async (request) => {
    const session = await open(request.headers.get("x-user") ?? "guest")
    const [, route, id = ""] = new URL(request.url).pathname.split("/")
    switch (`${request.method} ${route}`) {
      case "POST chat":
        return toResponse(session.send(await request.text()), { request })
      case "GET chat":
        return session.running ? toResponse(session.running, { request }) : new Response(null, { status: 204 })
      case "GET approve":
        return new Response(session.running?.pendingCall(id))
      case "POST approve":
        try {
          session.running?.approve(id, (await request.text()) === "allow" ? "allow" : "deny")
          return new Response(null, { status: 204 })
        } catch (error) {
          return new Response(null, { status: error instanceof AgentError ? 409 : 500 })
        }
      case "POST steer":
        session.steer(await request.text())
        return new Response(null, { status: 204 })
      default:
        return new Response(null, { status: 404 })
    }
  })
  return {
    url: server.url,
    post: (user: string, path: string, body: string, signal: AbortSignal | null = null) =>
      fetch(server.url + path, { method: "POST", body, headers: { "x-user": user }, signal }),
    async [Symbol.asyncDispose]() {
      for (const session of sessions.values()) await (await session)[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
