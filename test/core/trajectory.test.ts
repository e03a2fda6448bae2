import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { AgentEvent, EventBody } from "../../src/core/event.ts"
import { type Message, userMessage } from "../../src/core/message.ts"
import { foldMessages, trajectory } from "../../src/core/trajectory.ts"

let seq = 0
const stamp = (body: EventBody, run = "r1"): AgentEvent => ({ ...body, run, seq: seq++, at: seq * 10 })
const usage = { input: 10, output: 5, complete: true }
const changes = { created: [], reassigned: [], removed: [] }
const prompt = userMessage("hi")
const answer: Message = {
  id: "m2",
  role: "assistant",
  parts: [{ type: "code", id: "c1", tag: "ts", code: "1", closed: true }],
}

function story(run = "r1"): AgentEvent[] {
  return [
    stamp({ type: "run-start", agent: "a", system: "S", messages: [prompt], metadata: { team: "x" } }, run),
    stamp({ type: "cycle-start", cycle: 1 }, run),
    stamp({ type: "text-delta", text: "never stored" }, run),
    stamp(
      { type: "message-end", message: answer as Extract<Message, { role: "assistant" }>, finish: "stop", usage },
      run,
    ),
    stamp({ type: "code-end", id: "c1", ok: true, text: "1", durationMs: 1, changes, calls: 0 }, run),
    stamp({ type: "run-end", status: "done", output: "bye", cycles: 1, usage }, run),
  ]
}

describe("a trajectory", () => {
  test("is a fold over the events: messages, runs, usage, times", () => {
    const record = trajectory(story())
    assert.equal(record.agent, "a")
    assert.equal(record.system, "S")
    assert.deepEqual(
      record.messages.map((message) => message.role),
      ["user", "assistant", "result"],
    )
    assert.equal(record.runs[0]?.output, "bye")
    assert.deepEqual(record.usage, usage)
    assert.ok(record.endedAt && record.endedAt > record.startedAt)
  })

  test("leaves out deltas and is the same without them", () => {
    const events = story()
    const stored = events.filter((event) => event.type !== "text-delta")
    assert.deepEqual(trajectory(events), trajectory(stored))
  })

  test("adds up the usage of several runs and merges their metadata, later over earlier", () => {
    const second = story("r2").map((event) =>
      event.type === "run-start" ? { ...event, metadata: { team: "y", extra: 1 } } : event,
    )
    const record = trajectory([...story(), ...second])
    assert.deepEqual(record.metadata, { team: "y", extra: 1 })
    assert.equal(record.usage.input, 20)
    assert.equal(record.runs.length, 2)
  })

  test("keeps a sub-agent's events without mixing them into the conversation", () => {
    const child = story("child").map((event) => ({ ...event, parent: "r1" }))
    const record = trajectory([...story(), ...child])
    assert.equal(record.messages.length, 3)
    assert.equal(record.runs.length, 1)
    assert.equal(record.usage.input, 10)
    assert.equal(record.events.filter((event) => event.run === "child").length, 5)
  })

  test("puts the results of parallel calls in the order of the calls, whatever order they end in", () => {
    const ids = ["a", "b", "c", "d"]
    const parts = ids.map((id) => ({ type: "tool-call" as const, id, name: "t", input: {} }))
    const asked = stamp({
      type: "message-end",
      message: { id: "m", role: "assistant", parts },
      finish: "tool-calls",
      usage,
    })
    const end = (id: string) => stamp({ type: "tool-end", id, name: "t", ok: true, text: id, durationMs: 1 })
    for (const order of ["abcd", "dcba", "bdac", "cabd"]) {
      const { messages } = trajectory([asked, ...order.split("").map(end)])
      assert.deepEqual(
        messages.slice(1).map(({ id }) => id),
        ["r_a", "r_b", "r_c", "r_d"],
      )
    }
  })

  test("of thousands of calls in one answer takes no longer than reading them", () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `call-${index}`)
    const parts = ids.map((id) => ({ type: "tool-call" as const, id, name: "t", input: {} }))
    const message = { id: "m", role: "assistant" as const, parts }
    let reads = 0
    const counted = new Proxy(parts, {
      get(target, name, receiver) {
        reads++
        return Reflect.get(target, name, receiver)
      },
    })
    const ends = ids.map((id) => stamp({ type: "tool-end", id, name: "t", ok: true, text: "", durationMs: 1 }))
    const asked = stamp({
      type: "message-end",
      message: { ...message, parts: counted },
      finish: "tool-calls",
      usage,
    })
    const { messages } = trajectory([asked, ...ends])
    assert.equal(messages.length, ids.length + 1)
    assert.ok(reads < ids.length * 10, `${reads} reads`)
  })

  test("survives JSON unchanged", () => {
    const record = trajectory(story())
    assert.deepEqual(JSON.parse(JSON.stringify(record)), record)
  })

  test("replaces the compacted range by its replacement", () => {
    const messages: Message[] = [userMessage("a"), userMessage("b"), userMessage("c")]
    const [first, , third] = messages
    assert.ok(first && third)
    const summary = userMessage("summary", "host")
    foldMessages(
      messages,
      stamp({ type: "memory-compacted", tier: 2, from: first.id, to: third.id, messages: [summary], usage }),
    )
    assert.deepEqual(messages, [summary, third])
  })
})
