// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, type Message, messageText, type Session, tool } from "karst"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { claude, fallback } from "karst/providers"
import { askTool } from "karst/tools"
import * as z from "zod"
import { fakeCliMachine, waitUntil } from "../providers/cli-machines.ts"

for (const kind of ["agent", "CLI", "fallback"] as const) {
  describe(`the queue of a session of kind ${kind}`, () => {
    test("keeps its order when a queued send is aborted", async () => {
      await using place = await open(kind)
      const { session } = place
      const [a, b, c] = [session.send(place.slow("a")), session.send("say b"), session.send("say c")]
      await place.isWorking()
      b.abort("not needed")
      assert.equal((await b.settled).status, "aborted")
      assert.deepEqual(prompts(session), [place.slow("a")], "the third does not overtake the first")
      assert.deepEqual([session.running, session.pending.map(({ id }) => id)], [a, [c.id]])
      place.release()
      await Promise.all([a, c])
      assert.deepEqual(prompts(session), [place.slow("a"), "say c"])
    })

    test("is aborted when the session is closed, which waits for the run under way", async () => {
      await using place = await open(kind)
      const { session } = place
      const [a, b, c] = [session.send(place.slow("a")), session.send("say b"), session.send("say c")]
      await place.isWorking()
      b.abort()
      await b.settled
      const closing = session.close()
      assert.equal((await c.settled).status, "aborted")
      assert.equal(session.running, a, "the run under way goes on")
      place.release()
      const { runs } = await closing
      assert.deepEqual(
        runs.map(({ status }) => status),
        ["done"],
      )
      assert.deepEqual([session.running, session.pending], [undefined, []])
    })

    for (const end of ["failed", "aborted"] as const) {
      test(`is held back after a run that ${end}, until the owner decides`, async () => {
        await using place = await open(kind)
        const { session } = place
        const [a, b, c] = [session.send("ask gate now break 500"), session.followUp("say b"), session.send("say c")]
        await place.isWorking()
        if (end === "failed") place.release()
        else a.abort()
        assert.equal((await a.settled).status, end)
        assert.equal(session.running, undefined)
        assert.deepEqual(
          session.pending.map(({ id, prompt }) => [id, prompt]),
          [
            [b.id, "say b"],
            [c.id, "say c"],
          ],
        )
        const first = session.send("say first")
        assert.equal(session.running, first)
        assert.match((await first).output, /first/)
        assert.equal(session.pending.length, 2, "a new send releases nothing")
        session.continueQueue()
        await Promise.all([b, c])
        assert.deepEqual(prompts(session).slice(-3), ["say first", "say b", "say c"])
      })
    }

    test("can be cleared: its runs end as aborted, and were never part of the conversation", async () => {
      await using place = await open(kind)
      const { session } = place
      const [a, b, c] = [session.send(place.slow("a")), session.send("say b"), session.send("say c")]
      await place.isWorking()
      session.clearQueue()
      assert.deepEqual(
        (await Promise.all([b.settled, c.settled])).map(({ status }) => status),
        ["aborted", "aborted"],
      )
      assert.deepEqual([session.running, session.pending], [a, []])
      place.release()
      assert.equal((await a).status, "done")
      assert.equal((await session.send("say d")).status, "done")
      assert.deepEqual(prompts(session), [place.slow("a"), "say d"])
    })
  })
}

describe("a question", () => {
  test("is not answered by a follow-up that was queued before it was asked", async () => {
    const heard: string[] = []
    const model = scriptedModel(({ messages }): ScriptedStep => {
      const text = lastPrompt(messages)
      heard.push(text)
      if (text !== "Paint it") return `heard ${text}`
      return [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which colour?" } }]
    })
    await using session = await createAgent({ model, tools: [askTool()], noTool: "answer" }).session()
    const [painting, cleaning] = [session.send("Paint it"), session.followUp("Then clean up")]
    assert.equal((await painting).status, "waiting")
    assert.deepEqual(session.pending, [{ id: cleaning.id, prompt: "Then clean up" }])
    assert.equal((await session.send("blue")).output, "heard blue")
    assert.deepEqual(heard, ["Paint it", "blue"])
    session.continueQueue()
    assert.equal((await cleaning).output, "heard Then clean up")
  })
})

test("what was said while no run was under way goes to the run that begins next, not to one held back", async () => {
  const model = scriptedModel([new Error("down"), "one", "two"])
  await using session = await createAgent({ model }).session()
  const [failing, held] = [session.send("x"), session.send("later")]
  await failing.settled
  session.steer("in French")
  await session.send("now")
  assert.match(JSON.stringify(model.requests.at(-1)?.messages), /in French/)
  session.continueQueue()
  assert.equal((await held).output, "two")
})

function lastPrompt(messages: readonly Message[]): string {
  const message = messages.findLast(({ role }) => role === "user")
  return message ? (messageText(message).split("\n")[0] ?? "") : ""
}

function prompts(session: Session): string[] {
  return session.messages().flatMap((message) => {
    return message.role === "user" && message.origin === "prompt" ? [messageText(message)] : []
  })
}

interface Opened extends AsyncDisposable {
  session: Session
  /** A prompt whose run is under way until `release`. */
  slow(word: string): string
  isWorking(): Promise<void>
  release(): void
}

async function open(kind: "agent" | "CLI" | "fallback"): Promise<Opened> {
  const gate = Promise.withResolvers<string>()
  let isWorking = false
  const wait = () => {
    isWorking = true
    return gate.promise
  }
  const common = {
    slow: (word: string) => `ask gate now say ${word}`,
    isWorking: () => waitUntil("the first run is under way", () => isWorking),
    release: () => gate.resolve("open"),
  }
  if (kind === "agent") {
    const model = scriptedModel(async ({ messages }) => {
      const text = lastPrompt(messages)
      if (text.startsWith("ask gate")) await wait()
      if (text.includes("break")) throw new Error("down")
      return text.split(" ").at(-1) ?? ""
    })
    const session = await createAgent({ model }).session()
    return { ...common, session, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() }
  }
  const place = await fakeCliMachine()
  const gated = tool({ name: "gate", description: "", input: z.object({ prompt: z.string() }), run: wait })
  const cli = claude({ ...place.options, tools: [gated] })
  const session = await (kind === "CLI" ? cli : fallback(cli)).session()
  return {
    ...common,
    session,
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}
