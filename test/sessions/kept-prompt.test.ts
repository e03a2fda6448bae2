// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AgentEvent, type AgentOptions, createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { claude, fallback } from "karst/providers"
import { memoryStore, type Store } from "karst/stores"
import { askTool } from "karst/tools"
import { eventsOfType, fakeCliMachine } from "../providers/cli-machines.ts"
import { cell } from "./session-fixtures.ts"

describe("the system prompt of a resumed session", () => {
  test("is kept byte for byte while the definition of the agent is unchanged, whatever became of its objects", async () => {
    const { send, store } = sessions({ runtime: () => jsRuntime({ tasks: [] as string[], rate: 1 as unknown }) })
    const first = await send([cell("tasks.push('a'); rate = { perHour: 2 }"), "ok"], { values: { rate: "high" } })
    const second = await send(["again"], {}, { resume: first.id })
    assert.equal(second.system, first.system)
    assert.match(first.system, /rate: string/, "the values of the first send were known when it was written")
    assert.equal(second.start.system, undefined)
    const third = await send(["again"], {}, { resume: first.id, archive: store })
    assert.equal(third.system, first.system)
  })

  test("is the one of the agent's current instructions from the next run on, and stored with that run", async () => {
    const { send, change } = sessions({ instructions: "Be plain." })
    const first = await send(["ok"])
    change({ instructions: "Be a pirate." })
    const second = await send(["ok"], {}, { resume: first.id })
    assert.match(second.system, /Be a pirate/)
    assert.doesNotMatch(second.system, /Be plain/)
    assert.equal(second.start.system, second.system)
    const third = await send(["ok"], {}, { resume: first.id })
    assert.deepEqual([third.system, third.start.system], [second.system, undefined], "it is kept from then on")
    change({ instructions: "Be plain." })
    assert.match((await send(["ok"], {}, { resume: first.id })).system, /Be plain/)
  })

  test("has the current declarations of the agent's objects, which are not announced as well", async () => {
    const { send, change } = sessions({ runtime: () => jsRuntime({ a: 1 }) })
    const first = await send([cell("const made = 1"), "ok"])
    change({ runtime: () => jsRuntime({ a: 1, convert: fn((euros: number) => euros) }) })
    const second = await send(["ok"], {}, { resume: first.id })
    assert.match(second.system, /declare function convert/)
    assert.doesNotMatch(second.request, /New in the session/)
  })

  test("stays the first one with keepPrompt, and new names are announced", async () => {
    const { send, change } = sessions({ instructions: "Be plain.", runtime: () => jsRuntime({ a: 1 }) })
    const first = await send(["ok"])
    change({ instructions: "Be a pirate.", runtime: () => jsRuntime({ a: 1, b: 2 }) })
    const second = await send(["ok"], {}, { resume: first.id, keepPrompt: true })
    assert.deepEqual([second.system, second.start.system], [first.system, undefined])
    assert.match(second.request, /New in the session[\s\S]*declare let b/)
  })

  test("is not that of a single send which had its own instructions", async () => {
    const { send } = sessions({ instructions: "Be plain." })
    const first = await send(["ok"], { instructions: "Be a pirate." })
    const second = await send(["ok"], {}, { resume: first.id })
    assert.match(second.system, /Be plain/)
    const third = await send(["ok"], { instructions: "Be a pirate." }, { resume: first.id })
    assert.match(third.system, /Be a pirate/)
    assert.equal((await send(["ok"], {}, { resume: first.id })).system, second.system)
  })

  test("is the agent's current one also where the process ended during the first run", async () => {
    const store = memoryStore()
    const agent = (instructions: string, steps: ScriptedStep[]) =>
      createAgent({ model: scriptedModel(steps), instructions, runtime: () => jsRuntime() })
    const killed = await agent("Be plain.", [() => new Promise<string>(() => {})]).session({ archive: store })
    const run = killed.send("x")
    for await (const event of run) if (event.type === "cycle-start") break
    const left = await copyOf(store)
    run.abort()
    await killed.close()
    const model = scriptedModel(["ok"])
    const again = createAgent({ model, instructions: "Be a pirate.", runtime: () => jsRuntime() })
    await using resumed = await again.session({ resume: killed.id, archive: left })
    await resumed.send("y")
    assert.match(model.requests[0]?.system ?? "", /Be a pirate/)
  })
})

describe("the system prompt of an engine's session", () => {
  test("stays as it is within a run, and is the agent's current one in the next", async () => {
    const store = memoryStore()
    const asks: ScriptedStep = [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which?" } }]
    const tools = [askTool()]
    const old = createAgent({ model: scriptedModel(["one", asks]), tools, noTool: "answer", instructions: "Be plain." })
    const first = createEngine({ agents: { agent: old }, store })
    await first.result((await first.submit("agent", "a", { session: "s" })).id)
    const { id } = await first.submit("agent", "b", { session: "s" })
    assert.equal((await first.result(id)).status, "waiting")
    await first.close()
    const model = scriptedModel(["answered", "next", "last"])
    const now = createAgent({ model, tools, noTool: "answer", instructions: "Be a pirate." })
    await using second = createEngine({ agents: { agent: now }, store })
    await second.answer(id, "blue")
    await second.result(id)
    const next = await second.submit("agent", "c", { session: "s" })
    const { trajectory } = await second.result(next.id)
    await second.result((await second.submit("agent", "d", { session: "s" })).id)
    const [answered = "", following = "", last = ""] = model.requests.map(({ system }) => system ?? "")
    assert.match(answered, /Be plain/)
    assert.match(following, /Be a pirate/)
    assert.equal(startOf(trajectory.events).system, following)
    assert.equal(last, following)
  })
})

describe("the instructions of a session with a coding CLI", () => {
  test("are the current ones of the agent, or with keepPrompt those it began with", async () => {
    await using place = await fakeCliMachine()
    const archive = memoryStore()
    const agent = (instructions: string) => claude({ ...place.options, instructions })
    const session = await agent("Be plain.").session({ archive })
    await session.send("say one")
    await session.close()
    const kept = await agent("Be a pirate.").session({ archive, resume: session.id, keepPrompt: true })
    await kept.send("say two")
    assert.equal((await kept.close()).system, "Be plain.")
    const changed = await agent("Be a pirate.").session({ archive, resume: session.id })
    await changed.send("say three")
    assert.equal((await changed.close()).system, "Be a pirate.")
  })

  test("cannot be kept by a fallback, which does not store those of its agents", async () => {
    await using place = await fakeCliMachine()
    await assert.rejects(fallback(claude(place.options)).session({ keepPrompt: true }), /keepPrompt/)
  })
})

/** What a process leaves behind that is killed at this moment. */
async function copyOf(store: Store): Promise<Store> {
  const copy = memoryStore()
  for await (const key of store.keys("")) {
    const entry = await store.get(key)
    if (entry) await copy.commit([{ type: "put", key, value: entry.value }])
  }
  const logs = (await Array.fromAsync(store.keys("sessions/"))).map((key) => key.replace(/session$/, "events"))
  for (const log of logs) {
    const items = await Array.fromAsync(store.read(log))
    if (items.length > 0) await copy.commit([{ type: "append", log, items }])
  }
  return copy
}

const startOf = (events: readonly AgentEvent[]) =>
  eventsOfType(events, "run-start").at(-1) ?? assert.fail("no run-start")

/** Sessions of an agent whose definition may change between them, all in one archive. */
function sessions(definition: Partial<AgentOptions>) {
  const store = memoryStore()
  let current = definition
  return {
    store,
    change(changes: Partial<AgentOptions>) {
      current = { ...current, ...changes }
    },
    async send(steps: ScriptedStep[], sent: object = {}, opening: object = {}) {
      const model = scriptedModel(steps)
      const session = await createAgent({ model, ...current }).session({ archive: store, ...opening })
      const { trajectory } = await session.send("Work", sent)
      await session.close()
      const [request] = model.requests
      return {
        id: session.id,
        system: request?.system ?? "",
        request: JSON.stringify(request?.messages),
        start: startOf(trajectory.events),
      }
    },
  }
}
