// What the factory of a runtime receives: the session, the metadata and the signal of what it creates a runtime for.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Run } from "../../src/core/agent.ts"
import type { Metadata } from "../../src/core/event.ts"
import { createEngine } from "../../src/engine/engine.ts"
import { suite } from "../../src/evals.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import type { RuntimeContext } from "../../src/runtime/typed-runtime.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { askTool } from "../../src/tools/finish-and-ask.ts"
import { call, delegate, resultIn, saidIn } from "../tools/delegate-case.ts"
import { cell } from "./scripted-agents.ts"

/** An agent with a factory, and what the factory received at each call. */
function recordedAgent(steps: Parameters<typeof scriptedModel>[0] = () => "Done.", metadata: Metadata = { team: "a" }) {
  const received: RuntimeContext[] = []
  const agent = createAgent({
    name: "recorded",
    model: scriptedModel(steps),
    metadata,
    runtime(context) {
      received.push(context)
      return jsRuntime({ count: 1 })
    },
  })
  return { agent, received }
}

const factsOf = (received: readonly RuntimeContext[]) =>
  received.map(({ session, metadata }) => ({ session, metadata }))

describe("a runtime factory receives", () => {
  test("of a run: no session, the merged metadata, and the signal of the run", async () => {
    const { agent, received } = recordedAgent()
    const run = agent.run("Go", { metadata: { user: "ada" } })
    const { trajectory } = await run
    assert.deepEqual(factsOf(received), [{ session: undefined, metadata: { team: "a", user: "ada" } }])
    assert.deepEqual(trajectory.metadata, received[0]?.metadata)
    assert.equal(received[0]?.signal.aborted, false)
  })

  test("a signal that fires when the run is aborted while the factory is still working", async () => {
    const { promise: called, resolve } = Promise.withResolvers<AbortSignal>()
    const agent = createAgent({
      model: scriptedModel(() => "Done."),
      runtime({ signal }) {
        resolve(signal)
        return new Promise<Runtime>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      },
    })
    const run = agent.run("Go")
    const signal = await called
    assert.equal(signal.aborted, false)
    run.abort("enough")
    const { status, detail } = await run.settled
    assert.deepEqual([signal.aborted, status, detail], [true, "aborted", "enough"])
  })

  test("of a session: its id, its metadata and its signal, once for all its runs", async () => {
    const { agent, received } = recordedAgent()
    const controller = new AbortController()
    await using session = await agent.session({ metadata: { user: "ada" }, signal: controller.signal })
    await session.send("One", { metadata: { nth: 1 } })
    await session.send("Two")
    assert.deepEqual(factsOf(received), [{ session: session.id, metadata: { team: "a", user: "ada" } }])
    controller.abort()
    assert.equal(received[0]?.signal.aborted, true)
  })

  test("nothing when a session is forked: the copy of the runtime is not made by the factory", async () => {
    const { agent, received } = recordedAgent()
    await using session = await agent.session()
    await using fork = await session.fork?.()
    assert.equal(await fork?.runtime.retrieve("count"), 1)
    assert.deepEqual(factsOf(received), [{ session: session.id, metadata: { team: "a" } }])
  })

  test("of a resumed session: the same id again, and the metadata of now", async () => {
    const { agent, received } = recordedAgent()
    const archive = memoryStore()
    const first = await agent.session({ archive, metadata: { day: 1 } })
    await first.send("One")
    await first.close()
    await using again = await agent.session({ archive, resume: first.handle, metadata: { day: 2 } })
    assert.equal(again.id, first.id)
    assert.deepEqual(factsOf(received), [
      { session: first.id, metadata: { team: "a", day: 1 } },
      { session: first.id, metadata: { team: "a", day: 2 } },
    ])
  })

  test("of a run of an engine: the session and the metadata of `submit`, also when it is resumed elsewhere", async () => {
    const received: RuntimeContext[] = []
    const agent = createAgent({
      model: scriptedModel((request) => (saidIn(request) === "Go" ? call("ask", { question: "Which?" }) : "Done.")),
      tools: [askTool()],
      runtime(context) {
        received.push(context)
        return jsRuntime()
      },
    })
    const store = memoryStore()
    const first = createEngine({ agents: { agent }, store })
    const { id } = await first.submit("agent", "Go", { session: "s1", metadata: { user: "ada" } })
    assert.equal((await first.result(id)).status, "waiting")
    await first.close()
    await using second = createEngine({ agents: { agent }, store })
    await second.answer(id, "blue")
    assert.equal((await second.result(id)).status, "done")
    const alone = await second.submit("agent", "Alone")
    await second.result(alone.id)
    const facts = { session: "s1", metadata: { user: "ada" } }
    assert.deepEqual(factsOf(received), [facts, facts, { session: undefined, metadata: {} }])
  })

  test("the signal of an engine's run, which is aborted and not failed if the factory stops with it", async () => {
    const { promise: called, resolve } = Promise.withResolvers<void>()
    const agent = createAgent({
      model: scriptedModel(() => "Done."),
      runtime({ signal }) {
        resolve()
        return new Promise<Runtime>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      },
    })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const { id } = await engine.submit("agent", "Go")
    await called
    await engine.abort(id, "enough")
    const { status, detail } = await engine.result(id)
    assert.deepEqual([status, detail], ["aborted", "enough"])
  })

  test("of a delegated task: no session, and the metadata of its own agent", async () => {
    const { agent: child, received } = recordedAgent(undefined, { team: "b" })
    const model = scriptedModel((request) => (resultIn(request) ? "Done." : delegate(["child: Work"])))
    const parent = createAgent({ model, agents: { child }, metadata: { team: "a" } })
    await using session = await parent.session()
    await session.send("Go")
    assert.deepEqual(factsOf(received), [{ session: undefined, metadata: { team: "b" } }])
  })

  test("of an agent that a cell runs: no session, and a signal that fires with the parent's run", async () => {
    const { promise: called, resolve } = Promise.withResolvers<AbortSignal>()
    const child = createAgent({
      model: scriptedModel(() => "Done."),
      runtime({ signal }) {
        resolve(signal)
        return new Promise<Runtime>(() => undefined)
      },
    })
    const model = scriptedModel([cell("await child.run('Work')"), "Done."])
    const run = createAgent({ model, runtime: jsRuntime({ child }) }).run("Go")
    const signal = await called
    run.abort()
    await run.settled
    assert.equal(signal.aborted, true)
  })

  test("of each case of a suite: the session of the case", async () => {
    const { agent, received } = recordedAgent()
    const cases = ["one", "two"].map((name) => ({ name, prompt: "Go" }))
    await suite(cases, { any: () => true }, { agent })
    assert.equal(new Set(received.map(({ session }) => session)).size, 2)
    assert.ok(received.every(({ session, metadata }) => session?.startsWith("s") && metadata.team === "a"))
  })

  test("of describe(): no session, and a signal that has not fired", async () => {
    const { agent, received } = recordedAgent()
    await agent.describe()
    assert.deepEqual(factsOf(received), [{ session: undefined, metadata: { team: "a" } }])
    assert.equal(received[0]?.signal.aborted, false)
  })
})

describe("a runtime instance in two sessions of an agent", () => {
  const warningsOf = async (run: Run) =>
    (await Array.fromAsync(run)).filter((event) => event.type === "warning-raised" && event.code === "shared-runtime")

  test("raises a warning that names the other session, once", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hi."), runtime: jsRuntime({}) })
    const archive = memoryStore()
    await using ada = await agent.session({ id: "ada", archive })
    await using bob = await agent.session({ id: "bob", archive })
    assert.deepEqual(await warningsOf(ada.send("1")), [])
    const [warning] = await warningsOf(bob.send("1"))
    assert.match(JSON.stringify(warning), /shares all names with session ada.*runtime: \(\) => jsRuntime/)
    assert.deepEqual(await warningsOf(bob.send("2")), [])
  })

  test("raises none for a session that is opened again, for several agents, or for a factory", async () => {
    const model = scriptedModel(() => "Hi.")
    const archive = memoryStore()
    const runtime = jsRuntime({})
    const agent = createAgent({ model, runtime })
    for (let times = 0; times < 2; times++) {
      await using session = await agent.session({ id: "ada", archive })
      assert.deepEqual(await warningsOf(session.send("1")), [])
    }
    await using team = await createAgent({ model, runtime }).session()
    assert.deepEqual(await warningsOf(team.send("1")), [])
    const own = createAgent({ model, runtime: () => jsRuntime({}) })
    for (const session of [await own.session(), await own.session()]) {
      assert.deepEqual(await warningsOf(session.send("1")), [])
      await session.close()
    }
  })
})
