import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AgentEvent, ConfigError, createAgent, type Run } from "karst"
import { createEngine } from "karst/engine"
import { type Model, scriptedModel } from "karst/models"
import { type BrowserEvent, toBrowserEvent, toResponse } from "karst/server"
import { memoryStore } from "karst/stores"
import { eventsOf, type Frame, framesOf, listenWeb, textOf } from "./loopback.ts"

const answer = "The quick brown fox 🦊 jumps over the lazy dog."
const agent = createAgent({ model: scriptedModel(() => answer, { chunkChars: 5 }) })

describe("toResponse", () => {
  test("streams a run over HTTP until it ends, unbuffered", async () => {
    await using server = await listenWeb(async (request) => toResponse(agent.run(await request.text()), { request }))
    const response = await fetch(server.url, { method: "POST", body: "Hi" })
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
    assert.equal(response.headers.get("cache-control"), "no-cache, no-transform")
    assert.equal(response.headers.get("x-accel-buffering"), "no")
    const events = await eventsOf(response)
    assert.equal(textOf(events), answer)
    assert.partialDeepStrictEqual(events.at(-1), { type: "run-end", status: "done", output: answer })
  })

  test("continues after the event that Last-Event-ID names, whatever was merged meanwhile", async () => {
    const gate = Promise.withResolvers<void>()
    const run = pausedRun(gate.promise)
    const live = framesOf(toResponse(run).body)
    const seen: Frame[] = []
    for await (const frame of live) {
      seen.push(frame)
      if (frame.event?.type === "text-delta") break
    }
    gate.resolve()
    await run
    const replayed = await Array.fromAsync(framesOf(toResponse(run).body))
    assert.equal(seen.at(-1)?.event?.type, "text-delta")
    for (const frames of [seen, replayed]) {
      for (const [at, { id = "" }] of frames.entries()) {
        if (id.endsWith(":end")) continue
        const before = textOf(eventsIn(frames.slice(0, at + 1)))
        const rest = await Array.fromAsync(framesOf(resume(run, id).body))
        assert.equal(before + textOf(eventsIn(rest)), answer, id)
      }
    }
  })

  test("answers 204 to a client that has seen the end, so that EventSource stops reconnecting", async () => {
    const run = agent.run("Hi")
    const frames = await Array.fromAsync(framesOf(toResponse(run).body))
    const { id = "" } = frames.at(-1) ?? {}
    const response = resume(run, id)
    assert.equal(response.status, 204)
    assert.equal(response.body, null)
    assert.equal(resume(agent.run("Another run"), id).status, 200)
  })

  test("starts from the first event for an id that is not of this run", async () => {
    const run = agent.run("Hi")
    for (const id of ["other:3.5", "nonsense", "", `${run.id}:-1.x`]) {
      assert.equal((await eventsOf(resume(run, id)))[0]?.type, "run-start", id)
    }
  })

  test("does not abort the run when the client disconnects in mid-stream", async () => {
    const gate = Promise.withResolvers<void>()
    const run = pausedRun(gate.promise)
    await using server = await listenWeb(async (request) => toResponse(run, { request }))
    await disconnectAfterFirstText(server.url)
    gate.resolve()
    assert.equal((await run).output, answer)
  })

  test("aborts the run on a disconnect with abortOnDisconnect", async () => {
    const run = pausedRun(new Promise(() => {}))
    await using server = await listenWeb(async (request) => toResponse(run, { request, abortOnDisconnect: true }))
    await disconnectAfterFirstText(server.url)
    const { status, detail } = await run.settled
    assert.deepEqual([status, detail], ["aborted", "The client disconnected."])
  })

  test("aborts by the signal of the request if the server does not cancel the body", async () => {
    const left = new AbortController()
    const run = pausedRun(new Promise(() => {}))
    const request = new Request("http://localhost/", { signal: left.signal })
    const response = toResponse(run, { request, abortOnDisconnect: true })
    const frames = framesOf(response.body)
    await frames.next()
    left.abort()
    assert.equal((await run.settled).status, "aborted")
    for await (const { event } of frames) assert.notEqual(event?.type, "run-end")
  })

  test("merges the text that a slow client has not taken", async () => {
    const run = agent.run("Hi")
    const frames = framesOf(toResponse(run).body)
    await frames.next()
    await frames.next()
    await run
    const rest = await Array.fromAsync(frames)
    // The decoder takes one frame before it is asked for it.
    assert.ok(rest.filter(({ event }) => event?.type === "text-delta").length <= 2)
    assert.equal(textOf(eventsIn(rest)), answer)
  })

  test("sends a comment while the run is silent", async () => {
    const gate = Promise.withResolvers<void>()
    const run = pausedRun(gate.promise)
    const reader = toResponse(run, { keepAliveMs: 1 }).body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.includes(": keep-alive\n\n")) text += (await reader?.read())?.value ?? ""
    gate.resolve()
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) text += read.value
    assert.match(text, /"type":"run-end"/)
  })

  test("sends what `map` returns, and the default by toBrowserEvent", async () => {
    const map = (event: AgentEvent) =>
      event.type === "run-end" ? { type: "usage", tokens: event.usage.input ?? 0 } : toBrowserEvent(event)
    const types = (await eventsOf(toResponse(agent.run("Hi"), { map }))).map(({ type }) => type as string)
    assert.deepEqual([types[0], types.at(-1)], ["run-start", "usage"])
  })

  test("streams a durable run by engine.watch", async () => {
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Hi")
    const events = await eventsOf(toResponse(engine.watch(id)))
    assert.ok(events.some((event) => event.type === "message-end" && event.text === answer))
    assert.equal(events.at(-1)?.type, "run-end")
  })

  test("refuses a result in place of a run, with the cure", async () => {
    const result = (await agent.run("Hi")) as unknown as Run
    assert.throws(
      () => toResponse(result),
      (error) => error instanceof ConfigError && /Pass the run itself, without await/.test(error.message),
    )
    assert.throws(() => toResponse(emptyStream(), { abortOnDisconnect: true }), /needs a run, which can be aborted/)
  })
})

/** A run whose answer stops after its first piece until the promise resolves. */
function pausedRun(gate: Promise<unknown>): Run {
  const model: Model = {
    id: "test/paused",
    async *stream({ signal }) {
      yield { type: "text", text: answer.slice(0, 7) }
      const aborted = Promise.withResolvers<never>()
      signal?.addEventListener("abort", () => aborted.reject(signal.reason))
      await Promise.race([gate, aborted.promise])
      for (let at = 7; at < answer.length; at += 5) yield { type: "text", text: answer.slice(at, at + 5) }
      yield { type: "finish", reason: "stop", usage: { complete: false } }
    },
  }
  return createAgent({ model }).run("Hi")
}

function resume(run: Run, id: string): Response {
  return toResponse(run, { request: new Request("http://localhost/", { headers: { "last-event-id": id } }) })
}

function eventsIn(frames: readonly Frame[]): BrowserEvent[] {
  return frames.flatMap(({ event }) => event ?? [])
}

async function disconnectAfterFirstText(url: string): Promise<void> {
  const left = new AbortController()
  const response = await fetch(url, { signal: left.signal })
  for await (const { event } of framesOf(response.body)) if (event?.type === "text-delta") break
  left.abort()
}

async function* emptyStream(): AsyncGenerator<AgentEvent> {}
