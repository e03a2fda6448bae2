import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ModelError } from "../../src/core/errors.ts"
import type { ModelPart } from "../../src/models/model.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"

const usage = { input: 10, output: 5, complete: true }
const cut = (text: string): ModelPart[] => [
  { type: "text", text },
  { type: "finish", reason: "length", usage },
]

function recorder() {
  const ran: string[] = []
  return { ran, runtime: jsRuntime({ note: fn((what: string) => void ran.push(what), { sync: true }) }) }
}

describe("a truncated answer", () => {
  test("is continued and joined, so that a block split by the limit runs once", async () => {
    const { ran, runtime } = recorder()
    const model = scriptedModel([cut('```ts\nnote("he'), 'llo")\n```\n', "Done."])
    const result = await createAgent({ model, runtime }).run("go")
    assert.deepEqual(ran, ["hello"])
    assert.equal(result.output, "Done.")
    assert.equal(result.cycles, 2)
  })

  test("is one message in the history, with the usage of all its pieces", async () => {
    const model = scriptedModel([cut("The answer is for"), "ty-two."], { usage })
    const result = await createAgent({ model }).run("go")
    assert.equal(result.output, "The answer is forty-two.")
    assert.equal(result.messages.length, 2)
    assert.deepEqual(result.usage, { input: 20, output: 10, complete: true })
  })

  test("shows the model its own words and asks it to go on", async () => {
    const model = scriptedModel([cut("One, two,"), " three."])
    await createAgent({ model }).run("count")
    const [said, asked] = model.requests[1]?.messages.slice(-2) ?? []
    assert.deepEqual(said?.parts, [{ type: "text", text: "One, two," }])
    assert.match(asked?.parts[0]?.type === "text" ? asked.parts[0].text : "", /output limit.*Go on exactly where/)
  })

  test("runs a block that was complete when the limit came", async () => {
    const { ran, runtime } = recorder()
    const model = scriptedModel([cut('```ts\nnote("once")\n```\nand th'), "Done."])
    await createAgent({ model, runtime }).run("go")
    assert.deepEqual(ran, ["once"])
    assert.equal(model.requests.length, 2)
  })

  test("is given up after three continuations, with what was said kept", async () => {
    const model = scriptedModel(() => cut("more and "))
    const run = createAgent({ model }).run("go")
    const result = await run.settled
    assert.equal(model.requests.length, 4)
    assert.equal(result.status, "failed")
    assert.equal(result.error?.code, "truncated")
    assert.equal(result.output, "more and more and more and more and")
    await assert.rejects(async () => await run, ModelError)
  })

  test("never runs the code of an answer that was given up", async () => {
    const { ran, runtime } = recorder()
    const model = scriptedModel([cut('```ts\nnote("a")\n'), ...Array.from({ length: 3 }, () => cut('note("b")\n'))])
    const result = await createAgent({ model, runtime }).run("go").settled
    assert.deepEqual(ran, [])
    assert.equal(result.status, "failed")
    assert.equal(result.messages.at(-1)?.role, "result")
  })

  test("writes no empty message when only reasoning was truncated", async () => {
    const thinking: ModelPart[] = [
      { type: "reasoning", text: "hmm" },
      { type: "finish", reason: "length", usage },
    ]
    const model = scriptedModel([thinking, "Short."])
    const result = await createAgent({ model }).run("go")
    assert.equal(result.output, "Short.")
    assert.equal(
      model.requests[1]?.messages.some((message) => message.role === "assistant"),
      false,
    )
  })

  test("is resumed with other words when the connection dropped in the middle", async () => {
    const dropped = new ModelError("socket hang up", { code: "connection", retryable: true })
    const model = scriptedModel([[{ type: "text", text: "Half an ans" }, dropped], "wer."])
    const result = await createAgent({ model }).run("go")
    assert.equal(result.output, "Half an answer.")
    const asked = model.requests[1]?.messages.at(-1)?.parts[0]
    assert.match(asked?.type === "text" ? asked.text : "", /connection dropped/)
  })

  test("raises a warning each time it is continued", async () => {
    const model = scriptedModel([cut("a"), cut("b"), "c"])
    const events = await Array.fromAsync(createAgent({ model }).run("go"))
    assert.equal(
      events.filter((event) => event.type === "warning-raised" && event.code === "answer-continued").length,
      2,
    )
  })
})
