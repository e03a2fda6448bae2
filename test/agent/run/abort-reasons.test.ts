import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { RunOptions } from "../../../src/core/agent.ts"
import { AbortError } from "../../../src/core/errors.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import type { Model } from "../../../src/models/model.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool } from "../../../src/tools/tool.ts"
import { call, calls, toolEnds } from "../tool-call-helpers.ts"

const reason = "The user closed the tab"

/** A tool that waits for its signal; `begun` resolves when it has started. */
function waiting() {
  const begun = Promise.withResolvers<void>()
  const heard: unknown[] = []
  const wait = tool({
    name: "wait",
    description: "",
    async run(_, { signal }) {
      begun.resolve()
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          heard.push(signal.reason)
          reject(signal.reason)
        }),
      )
    },
  })
  return { wait, begun: begun.promise, heard }
}

function endOf(events: readonly AgentEvent[]) {
  const end = events.findLast((event) => event.type === "run-end")
  assert.ok(end?.type === "run-end")
  return end
}

describe("the reason of an abort", () => {
  test("is in the result, the events, the error, the result of the call and the signal of the tool", async () => {
    const { wait, begun, heard } = waiting()
    const run = createAgent({ model: scriptedModel([calls(call("wait"))]), tools: [wait] }).run("go")
    await begun
    run.abort(reason)
    const error = await run.then(
      () => assert.fail(),
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof AbortError && error.message === reason)
    const result = await run.settled
    assert.equal(result.detail, reason)
    assert.equal(endOf(result.trajectory.events).detail, reason)
    assert.match(toolEnds(result.trajectory.events)[0]?.text ?? "", /The user closed the tab/)
    assert.equal(heard[0], error)
  })

  test("of a signal is kept, whatever it is, and is the cause of the error", async () => {
    for (const [given, text] of [
      ["a word", "a word"],
      [new Error("late"), "late"],
      [new DOMException("took too long", "TimeoutError"), "took too long"],
      [{ why: "closed" }, '{ why: "closed" }'],
      [undefined, undefined],
    ] as const) {
      const { wait, begun } = waiting()
      const controller = new AbortController()
      const options: RunOptions = { signal: controller.signal }
      const run = createAgent({ model: scriptedModel([calls(call("wait"))]), tools: [wait] }).run("go", options)
      await begun
      controller.abort(given)
      const error = await run.then(
        () => assert.fail(),
        (thrown: unknown) => thrown,
      )
      assert.ok(error instanceof AbortError)
      if (given !== undefined) assert.equal(error.cause, given)
      assert.equal((await run.settled).detail, text)
    }
  })

  test("reaches a run that a tool has started, and the result of a cell", async () => {
    const { wait, begun } = waiting()
    const seen: AgentEvent[] = []
    const inner = createAgent({ name: "inner", model: scriptedModel([calls(call("wait"))]), tools: [wait] })
    const runtime = jsRuntime({ start: async () => (await inner.run("go")).output })
    const agent = createAgent({
      model: scriptedModel(["```ts\nawait start()\n```\n"]),
      runtime,
      onEvent: (event) => void seen.push(event),
    })
    const run = agent.run("go")
    await begun
    run.abort(reason)
    const result = await run.settled
    assert.equal(result.detail, reason)
    const child = seen.find((event) => event.type === "run-end" && event.run !== result.id)
    assert.ok(child?.type === "run-end")
    assert.match(child.detail ?? "", /The user closed the tab/)
    const cell = result.trajectory.events.find((event) => event.type === "code-end")
    assert.match(cell?.type === "code-end" ? cell.text : "", /The user closed the tab/)
  })

  test("is kept by a run that had not begun: it waited for the one before it in a session", async () => {
    const asked = Promise.withResolvers<void>()
    const model: Model = {
      id: "silent",
      async *stream({ signal }) {
        asked.resolve()
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
        yield { type: "text", text: "never" }
      },
    }
    const session = await createAgent({ model, tools: [], noTool: "answer" }).session()
    const first = session.send("one")
    await asked.promise
    const second = session.send("two")
    second.abort(reason)
    const result = await second.settled
    assert.deepEqual([result.status, result.detail], ["aborted", reason])
    first.abort()
    assert.equal((await first.settled).detail, undefined)
    await session.close()
  })
})
