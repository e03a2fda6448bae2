import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { AbortError, ModelError } from "../../../src/core/errors.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import type { Message } from "../../../src/core/message.ts"
import type { Model, ModelPart } from "../../../src/models/model.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

function oneEnd(events: AgentEvent[]): AgentEvent {
  const ends = events.filter((event) => event.type === "run-end")
  assert.equal(ends.length, 1)
  assert.equal(events.at(-1)?.type, "run-end")
  return ends[0] as AgentEvent
}

/** Every block has a result, and results follow only assistant messages. */
function assertPaired(messages: readonly Message[]): void {
  const asked = messages.flatMap((message) =>
    message.parts.filter((part) => part.type === "code").map((part) => part.id),
  )
  const answered = messages.flatMap((message) =>
    message.parts.filter((part) => part.type === "code-result").map((part) => part.id),
  )
  assert.deepEqual(asked, answered)
}

describe("when the model fails", () => {
  test("the run fails with the provider's error and one end", async () => {
    const error = new ModelError("no such key", { code: "authentication", status: 401 })
    const run = createAgent({ model: scriptedModel([error]) }).run("go")
    const end = oneEnd(await Array.fromAsync(run))
    assert.equal(end.type === "run-end" && end.status, "failed")
    await assert.rejects(async () => await run, error)
  })

  test("what it said until then stays in a history that can be used again", async () => {
    const error = new ModelError("overloaded", { code: "overloaded", retryable: true })
    const model = scriptedModel([[{ type: "text", text: "Let me\n```ts\nconst x" }, error], "Recovered."])
    const agent = createAgent({ model })
    const first = await agent.run("go").settled
    assert.equal(first.status, "failed")
    assertPaired(first.messages)
    const second = await agent.run("try again", { from: first })
    assert.equal(second.output, "Recovered.")
  })

  test("a stream that ends without saying so is not taken for an answer", async () => {
    const model: Model = {
      id: "cut/off",
      async *stream(): AsyncIterable<ModelPart> {},
    }
    const result = await createAgent({ model }).run("go").settled
    assert.equal(result.status, "failed")
    assert.equal(result.error?.code, "connection")
  })

  test("an answer withheld by a content filter is a failure that keeps its text", async () => {
    const usage = { input: 1, output: 1, complete: true }
    const model = scriptedModel([
      [
        { type: "text", text: "I think" },
        { type: "finish", reason: "content-filter", usage },
      ],
    ])
    const result = await createAgent({ model }).run("go").settled
    assert.equal(result.error?.code, "content-filter")
    assert.equal(result.output, "I think")
  })

  test("a model that throws at once fails the run like any other", async () => {
    const model: Model = {
      id: "broken/model",
      stream() {
        throw new TypeError("not today")
      },
    }
    const run = createAgent({ model }).run("go")
    oneEnd(await Array.fromAsync(run))
    await assert.rejects(async () => await run, /not today/)
  })

  test("a stream that cannot be closed does not hold up the answer", async () => {
    const usage = { input: 1, output: 1, complete: true }
    const model: Model = {
      id: "sticky/model",
      stream: () => ({
        [Symbol.asyncIterator]() {
          const parts: ModelPart[] = [
            { type: "text", text: "Here." },
            { type: "finish", reason: "stop", usage },
          ]
          return {
            async next() {
              const value = parts.shift()
              return value ? { value, done: false } : new Promise(() => undefined)
            },
            return: () => new Promise(() => undefined),
          }
        },
      }),
    }
    assert.equal((await createAgent({ model }).run("go")).output, "Here.")
  })

  test("a close that fails does not replace the answer", async () => {
    const usage = { input: 1, output: 1, complete: true }
    const model: Model = {
      id: "sore/model",
      async *stream() {
        try {
          yield { type: "text", text: "Fine." }
          yield { type: "finish", reason: "stop", usage }
          yield { type: "text", text: "never read" }
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: this is the misbehaviour under test.
          throw new Error("cannot close")
        }
      },
    }
    assert.equal((await createAgent({ model }).run("go")).output, "Fine.")
  })
})

describe("when the runtime is gone", () => {
  test("the run fails, with its last block paired", async () => {
    const runtime = jsRuntime()
    const model = scriptedModel([
      async () => {
        await runtime.close()
        return cell("1")
      },
    ])
    const result = await createAgent({ model, runtime }).run("go").settled
    assert.equal(result.status, "failed")
    assert.equal(result.error?.code, "closed")
    assertPaired(result.messages)
  })

  test("a factory that throws fails the run with its error", async () => {
    const agent = createAgent({
      model: scriptedModel(["never"]),
      runtime: () => {
        throw new Error("no database")
      },
    })
    await assert.rejects(async () => await agent.run("go"), /no database/)
  })
})

describe("abort", () => {
  test("in the middle of the model's answer ends the run at once, with what was said kept", async () => {
    const { promise: never } = Promise.withResolvers<void>()
    const model: Model = {
      id: "slow/model",
      async *stream() {
        yield { type: "text", text: "Thinking about" }
        await never
      },
    }
    const run = createAgent({ model }).run("go")
    for await (const event of run) if (event.type === "text-delta") break
    run.abort("changed my mind")
    const result = await run.settled
    assert.equal(result.status, "aborted")
    assert.equal(result.output, "Thinking about")
    await assert.rejects(
      async () => await run,
      (error) => error instanceof AbortError && /changed my mind/.test(error.message),
    )
  })

  test("in the middle of a cell pairs its block, marks the interruption last and leaves a usable history", async () => {
    const { promise: started, resolve } = Promise.withResolvers<void>()
    const runtime = jsRuntime({
      hang: () => {
        resolve()
        return new Promise(() => undefined)
      },
    })
    const model = scriptedModel([cell("await hang()"), "Back."])
    const agent = createAgent({ model, runtime })
    const run = agent.run("go")
    await started
    run.abort()
    const events = await Array.fromAsync(run)
    oneEnd(events)
    const result = await run.settled
    assertPaired(result.messages)
    assert.match(JSON.stringify(result.messages.at(-1)), /interrupted/)
    assert.equal((await agent.run("again", { from: result })).output, "Back.")
  })

  test("before the first cycle asks the model nothing", async () => {
    const model = scriptedModel(["never"])
    const run = createAgent({ model }).run("go", { signal: AbortSignal.abort() })
    assert.equal((await run.settled).status, "aborted")
    assert.equal(model.requests.length, 0)
  })

  test("leaving a loop early only stops reading", async () => {
    const model = scriptedModel([cell("1"), "Finished anyway."])
    const run = createAgent({ model }).run("go")
    for await (const _ of run) break
    assert.equal((await run).output, "Finished anyway.")
  })

  test("reaches a function that is being called, through its call's signal", async () => {
    const { promise: heard, resolve } = Promise.withResolvers<string>()
    const { promise: started, resolve: begin } = Promise.withResolvers<void>()
    const runtime = jsRuntime()
    const controller = new AbortController()
    await runtime.inject({ work: () => new Promise(() => begin()) })
    void runtime.execute("await work()", {
      signal: controller.signal,
      callGate: (call, next) => {
        call.signal.addEventListener("abort", () => resolve(call.binding))
        return next()
      },
    })
    await started
    controller.abort()
    assert.equal(await heard, "work")
  })
})
