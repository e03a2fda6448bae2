// The programs of docs/durability.md, each run as it is shown there.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
// #region intro
import { createAgent, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
// #endregion
import type { Agent } from "../../src/core/agent.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { inlineBackend } from "../../src/engine/backends/inline.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { askTool } from "../../src/tools/finish-and-ask.ts"
import { cell } from "../agent/scripted-agents.ts"
import { until } from "../waiting.ts"
import { workIn } from "./surroundings.ts"

/** Answers by how far the conversation is, as a model does that another process asks. */
const answering = (steps: readonly ScriptedStep[]) =>
  scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "Done.")

const asks: ScriptedStep = [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which colour?" } }]

describe("a durable run", () => {
  test("that a process has submitted and left is done by the first program, once for its key", async (t) => {
    await workIn(t)
    const db = { sumOf: (month: string) => `12,400 in ${month}` }
    const model = answering([cell("db.sumOf('May')"), "May is closed."])

    const left = createEngine({
      agents: { analyst: createAgent({ model, runtime: () => jsRuntime({ db }) }) },
      store: sqliteStore("karst.db"),
      backend: inlineBackend(),
    })
    const submitted = await left.submit("analyst", "Close the books of May", { key: "books-may" })
    await left.close()
    assert.equal(model.requests.length, 0)

    // #region intro
    const analyst = createAgent({ model, runtime: () => jsRuntime({ db }) }) // a factory: each run has its own objects
    const engine = createEngine({ agents: { analyst }, store: sqliteStore("karst.db") })
    await engine.recover() // starts to work, first on runs that lost their process

    const { id } = await engine.submit("analyst", "Close the books of May", { key: "books-may" })
    // resolves when the run has ended or waits for an answer
    const { status, output, pending } = await engine.result(id)
    // #endregion
    assert.deepEqual(
      { id, status, output, pending },
      { ...submitted, status: "done", output: "May is closed.", pending: undefined },
    )
    assert.equal(model.requests.length, 2)
    await engine.close()
  })

  test("that waits gets its answer, or the decision about a call", async () => {
    const painted: string[] = []
    const runtime = () => jsRuntime({ paint: fn((colour: string) => painted.push(colour), { approve: true }) })
    const painter = createAgent({ model: answering([asks, cell("await paint('blue')")]), runtime, tools: [askTool()] })
    await using engine = engineOf({ painter })
    const { id } = await engine.submit("painter", "Paint the door")
    for (const kind of ["question", "approval"]) {
      const { pending } = await engine.result(id)
      assert.equal(pending?.kind, kind)
      // #region answers
      if (pending?.kind === "question") await engine.answer(id, "Blue")
      if (pending?.kind === "approval") await engine.approve(id, pending.id, "allow")
      // #endregion
      await until(async () => (await engine.get(id))?.pending?.kind !== kind)
    }
    assert.equal((await engine.result(id)).status, "done")
    assert.deepEqual(painted, ["blue"])
  })

  test("is steered before its next cycle, and aborted", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const called = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const wait = async (index: number) => {
      called[index]?.resolve()
      await gates[index]?.promise
    }
    const model = answering([cell("await wait(0)"), cell("await wait(1)")])
    const analyst = createAgent({ model, runtime: () => jsRuntime({ wait: fn(wait) }) })
    await using engine = engineOf({ analyst })
    const { id } = await engine.submit("analyst", "Sum up the year")
    await called[0]?.promise
    // #region answers
    await engine.steer(id, "Only the first quarter.") // the model reads it before its next cycle
    // #endregion
    gates[0]?.resolve()
    await called[1]?.promise
    assert.match(JSON.stringify(model.requests[1]?.messages), /Only the first quarter\./)
    // #region answers
    await engine.abort(id, "No longer needed.") // resolves when the run has ended
    // #endregion
    assert.equal((await engine.get(id))?.status, "aborted")
    assert.equal(model.requests.length, 2)
    gates[1]?.resolve()
  })

  test("is watched from a position on, listed while it waits, and left to others by a drain", async (t) => {
    await workIn(t)
    const log = t.mock.method(console, "log", () => {})
    const gate = Promise.withResolvers<void>()
    const called = Promise.withResolvers<void>()
    const wait = async () => {
      called.resolve()
      await gate.promise
    }
    const cycles = Array.from({ length: 12 }, (_, index) => cell(`${index}`))
    const agents = {
      counter: createAgent({ model: answering(cycles), runtime: () => jsRuntime({}) }),
      painter: createAgent({ model: answering([asks]), tools: [askTool()] }),
      slow: createAgent({ model: answering([cell("await wait()"), "At last."]), runtime: () => jsRuntime({ wait }) }),
    }
    const store = sqliteStore("karst.db")
    const engine = createEngine({ agents, store })
    const { id } = await engine.submit("counter", "Count")
    const question = await engine.submit("painter", "Paint the door")
    await engine.result(question.id)
    const slow = await engine.submit("slow", "Go")
    await called.promise
    const rendered: AgentEvent[] = []
    const render = (event: AgentEvent) => rendered.push(event)
    // #region workers
    // stored events, then new ones; ends with the run
    for await (const event of engine.watch(id, { from: 42 })) render(event)

    for await (const run of engine.list({ status: "waiting" })) console.log(run.id, run.pending)
    // #endregion
    setImmediate(gate.resolve)
    // #region workers
    await engine.drain() // finishes the cycles under way; other workers continue the runs
    // #endregion
    assert.deepEqual([rendered[0]?.seq, rendered.at(-1)?.type], [42, "run-end"])
    assert.partialDeepStrictEqual(
      log.mock.calls.map((call) => call.arguments),
      [[question.id, { kind: "question", question: "Which colour?" }]],
    )
    assert.partialDeepStrictEqual(await engine.get(slow.id), { status: "queued", cycles: 1 })
    await engine.close()
    await using other = createEngine({ agents, store })
    await other.recover()
    assert.equal((await other.result(slow.id)).output, "At last.")
  })
})

test("the runs of a session are queued, share their conversation and objects, and are deleted from the end", async () => {
  const gate = Promise.withResolvers<void>()
  const steps: ScriptedStep[] = [
    cell("const may = await close('May')"),
    "May is closed.",
    cell("may"),
    "June is closed.",
  ]
  const called = Promise.withResolvers<void>()
  const close = async (month: string) => {
    called.resolve()
    await gate.promise
    return `${month}: 12,400`
  }
  const model = answering(steps)
  const analyst = createAgent({ model, runtime: () => jsRuntime({ close }) })
  await using engine = engineOf({ analyst })
  // #region sessions
  await engine.submit("analyst", "Close May", { session: "books" })
  // runs after the first: same conversation, same objects
  const { id } = await engine.submit("analyst", "And June?", { session: "books" })
  // #endregion
  await called.promise
  // #region sessions
  const { running, pending } = await engine.queue("analyst", "books") // pending: [{ id, prompt }], each prompt in parts
  await engine.continueQueue("analyst", "books") // or clearQueue: see below
  // #endregion
  gate.resolve()
  assert.deepEqual(pending, [{ id, prompt: [{ type: "text", text: "And June?" }] }])
  assert.equal((await engine.result(id)).output, "June is closed.")
  assert.match(JSON.stringify(model.requests[3]?.messages), /Close May.*And June\?.*May: 12,400/)
  // #region sessions
  await engine.prune({ olderThanMs: 30 * 86_400_000 }) // deletes runs that ended so long ago
  await engine.delete(id) // deletes one run that has ended or waits
  // #endregion
  assert.deepEqual([(await engine.get(id))?.status, (await engine.get(running ?? ""))?.status], [undefined, "done"])
})

function engineOf<Name extends string>(agents: Record<Name, Agent>) {
  return createEngine({ agents, store: memoryStore() })
}
