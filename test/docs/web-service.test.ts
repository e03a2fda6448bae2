// The programs of docs/web-service.md that are not files of examples/chat-service, each run as it is shown there.
import assert from "node:assert/strict"
import { after, describe, test } from "node:test"
// #region browser
import type { BrowserEvent } from "karst/server"
// #endregion
import { createApp } from "../../examples/chat-service/app.ts"
import { eventsOf, listenWeb, textOf } from "../server/loopback.ts"
import { start as startExpress } from "./web-service/express.ts"
import { POST } from "./web-service/route.ts"
import { sessions } from "./web-service/sessions.ts"

after(() => sessions.closeAll())

describe("a chat endpoint", () => {
  for (const [name, start] of [
    ["Express", startExpress],
    ["Next", () => listenWeb(POST)],
  ] as const) {
    test(`in ${name} streams the answer to a body of any type, in the session of its user`, async () => {
      await using server = await start()
      const said: unknown[] = []
      for (const type of ["text/plain", "application/json"]) {
        const headers = { "x-user": name, "content-type": type }
        const response = await fetch(`${server.url}/chat`, { method: "POST", body: '{ "a": 1 }', headers })
        assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
        said.push((await eventsOf(response)).find((event) => event.type === "message-end")?.text)
      }
      const asked = JSON.stringify({ type: "text", text: '{ "a": 1 }' })
      assert.deepEqual(said, [`Message 1: ${asked}`, `Message 3: ${asked}`])
    })
  }
})

describe("the browser", () => {
  test("reads the events of an answer, however the network cuts them, and reports a refusal", async () => {
    const chatService = createApp(sessions)
    const users = ["ada", undefined]
    await using server = await listenWeb(async (request) => {
      const user = users.shift()
      if (user) request.headers.set("x-user", user)
      const { body, status, headers } = await chatService.fetch(request)
      return new Response(body?.pipeThrough(singleBytes()) ?? null, { status, headers })
    })
    const fetch = (path: string, init: RequestInit) => globalThis.fetch(server.url + path, init)
    // #region browser
    async function chat(text: string, onEvent: (event: BrowserEvent) => void): Promise<void> {
      const response = await fetch("/chat", { method: "POST", body: text })
      if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read()
        if (done) return
        const frames = (rest + value).split("\n\n")
        rest = frames.pop() ?? ""
        for (const frame of frames) {
          const data = /^data: (.*)$/m.exec(frame)?.[1]
          if (data) onEvent(JSON.parse(data))
        }
      }
    }
    // #endregion
    const events: BrowserEvent[] = []
    await chat("Grüß Gott\n\n你好", (event) => events.push(event))
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["run-start", "run-end"])
    assert.match(textOf(events), /Grüß Gott\\n\\n你好/)
    await assert.rejects(
      chat("Hello", () => {}),
      /401: x-user is missing/,
    )
  })
})

function singleBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) controller.enqueue(new Uint8Array([byte]))
    },
  })
}
