import assert from "node:assert/strict"
import { once } from "node:events"
import { get, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { describe, test } from "node:test"
import { type AgentEvent, createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { toNode } from "karst/server"
import { until } from "../waiting.ts"
import { eventsOf, framesOf, listen, textOf } from "./loopback.ts"

const agent = createAgent({ model: scriptedModel(() => "Hello there.", { chunkChars: 3 }) })

describe("toNode", () => {
  test("streams a run as the response of node:http, and keeps headers that are set before", async () => {
    await using server = await listen((_req, res) => {
      res.setHeader("access-control-allow-origin", "https://example.com")
      void toNode(agent.run("Hi"), res)
    })
    const response = await fetch(server.url)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
    assert.equal(response.headers.get("access-control-allow-origin"), "https://example.com")
    const events = await eventsOf(response)
    assert.equal(textOf(events), "Hello there.")
    assert.equal(events.at(-1)?.type, "run-end")
  })

  test("sends the headers before the first event", async () => {
    await using server = await listen((_req, res) => void toNode(silentStream(), res))
    const response = await fetch(server.url)
    assert.equal(response.status, 200)
    await response.body?.cancel()
  })

  test("ends an HTTP/1.1 response so that the connection can be used again", async () => {
    await using server = await listen((_req, res) => void toNode(agent.run("Hi"), res))
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1").setEncoding("utf8")
    let received = ""
    socket.on("data", (text) => {
      received += text
    })
    for (const responses of [1, 2]) {
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      await until(() => received.split("\r\n0\r\n\r\n").length === responses + 1)
    }
    assert.equal(received.match(/HTTP\/1\.1 200 OK/g)?.length, 2)
    socket.destroy()
  })

  test("resumes by the request's Last-Event-ID, and answers 204 after the end", async () => {
    const run = agent.run("Hi")
    await using server = await listen((_req, res) => void toNode(run, res))
    const frames = await Array.fromAsync(framesOf((await fetch(server.url)).body))
    const [first, last] = [frames.find(({ id }) => id)?.id ?? "", frames.at(-1)?.id ?? ""]
    const rest = await eventsOf(await fetch(server.url, { headers: { "last-event-id": first } }))
    assert.notEqual(rest[0]?.type, "run-start")
    assert.equal(textOf(rest), "Hello there.")
    assert.equal((await fetch(server.url, { headers: { "last-event-id": last } })).status, 204)
  })

  test("takes no more events than a client that does not read has room for", async () => {
    const total = 800
    let taken = 0
    let response: ServerResponse | undefined
    async function* events(): AsyncGenerator<AgentEvent> {
      for (; taken < total; taken++) yield { type: "text-delta", text: "x".repeat(65_536), run: "r", seq: taken, at: 0 }
    }
    await using server = await listen((_req, res) => {
      response = res
      void toNode(events(), res)
    })
    const request = get(server.url)
    const [incoming] = await once(request, "response")
    await until(() => response?.writableNeedDrain)
    assert.ok(taken < total, `${taken} events`)
    let length = 0
    for await (const chunk of incoming) length += chunk.length
    assert.ok(length > total * 65_536)
  })

  test("resolves without aborting the run when the client disconnects in mid-frame", async () => {
    const gate = Promise.withResolvers<string>()
    const waiting = createAgent({
      model: scriptedModel(["```ts\nawait slow()\n```", "Done."]),
      runtime: jsRuntime({ slow: fn(() => gate.promise) }),
    }).run("Go")
    const over = Promise.withResolvers<void>()
    await using server = await listen((_req, res) => void toNode(waiting, res).then(over.resolve))
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1")
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(socket, "data")
    socket.resetAndDestroy()
    await over.promise
    gate.resolve("ok")
    assert.equal((await waiting).output, "Done.")
  })

  test("aborts the run on a disconnect with abortOnDisconnect", async () => {
    const run = createAgent({
      model: scriptedModel(["```ts\nawait slow()\n```", "Done."]),
      runtime: jsRuntime({ slow: fn(() => new Promise(() => {})) }),
    }).run("Go")
    await using server = await listen((_req, res) => void toNode(run, res, { abortOnDisconnect: true }))
    const left = new AbortController()
    const response = await fetch(server.url, { signal: left.signal })
    for await (const { event } of framesOf(response.body)) if (event?.type === "code-start") break
    left.abort()
    assert.equal((await run.settled).status, "aborted")
  })

  test("closes the connection and rejects if `map` throws", async () => {
    const failed = Promise.withResolvers<unknown>()
    const map = () => {
      throw new Error("no map")
    }
    await using server = await listen((_req, res) => void toNode(agent.run("Hi"), res, { map }).catch(failed.resolve))
    await assert.rejects(async () => eventsOf(await fetch(server.url)))
    assert.match(String(await failed.promise), /no map/)
  })

  test("refuses a response that has begun", async () => {
    const failed = Promise.withResolvers<unknown>()
    await using server = await listen((_req, res) => {
      res.write("x")
      void toNode(agent.run("Hi"), res).catch(failed.resolve)
      res.end()
    })
    await (await fetch(server.url)).text()
    assert.match(String(await failed.promise), /has already begun\. Call toNode before anything is written/)
  })
})

async function* silentStream(): AsyncGenerator<AgentEvent> {
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30).unref())
}
