// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { ConfigError, createAgent, fn, jsRuntime, tool } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { queuedMarkerKey } from "../../src/engine/checkpoint.ts"

const adding = () => ["```ts\nlet x = 2 + 3\nx\n```", "It is 5."]

test("a submitted run is worked on, and its result and events are read from the store", async () => {
  const agent = createAgent({ model: scriptedModel(adding()), runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { adder: agent }, store: memoryStore() })
  const { id } = await engine.submit("adder", "Add 2 and 3", { metadata: { for: "test" } })
  const result = await engine.result(id)
  assert.equal(result.status, "done")
  assert.equal(result.output, "It is 5.")
  assert.equal(result.cycles, 2)
  assert.deepEqual(
    result.messages.map(({ role }) => role),
    ["user", "assistant", "result", "assistant"],
  )
  const events = await Array.fromAsync(engine.watch(id))
  assert.equal(events[0]?.type, "run-start")
  assert.equal(events.at(-1)?.type, "run-end")
  const later = await Array.fromAsync(engine.watch(id, { from: 5 }))
  assert.deepEqual(
    later,
    events.filter(({ seq }) => seq >= 5),
  )
})

test("the same key twice is the same run", async () => {
  const agent = createAgent({ model: scriptedModel(adding()), runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { adder: agent }, store: memoryStore() })
  const [one, two] = await Promise.all([
    engine.submit("adder", "Add", { key: "order-1" }),
    engine.submit("adder", "Add", { key: "order-1" }),
  ])
  assert.equal(one.id, two.id)
  assert.equal((await engine.result(one.id)).status, "done")
  assert.equal((await Array.fromAsync(engine.list())).length, 1)
})

test("the same key with other options is a conflict, and with equal ones the same run", async () => {
  const agent = createAgent({ model: scriptedModel(["Done."]), runtime: () => jsRuntime({ rows: [1] }) })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const options = () => ({
    limits: { cycles: 3, tokens: Infinity },
    values: { rows: [new Date(0), 2n] },
    state: { a: 1 },
  })
  const { id } = await engine.submit("agent", "Go", { key: "one", ...options() })
  assert.equal((await engine.submit("agent", "Go", { key: "one", ...options() })).id, id)
  await engine.result(id)
  assert.equal((await engine.submit("agent", "Go", { key: "one", ...options() })).id, id)
  for (const other of [{}, { ...options(), values: { rows: [3] } }, { ...options(), limits: { cycles: 4 } }])
    await assert.rejects(
      engine.submit("agent", "Go", { key: "one", ...other }),
      /other limits, outputs, values or state/,
    )
})

test("a watcher sees events as they come, before the run has ended", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const agent = createAgent({
    model: scriptedModel(["```ts\n1\n```", "```ts\nawait wait()\n```", "Done."]),
    runtime: () => jsRuntime({ wait: () => gate }),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  const seen: string[] = []
  for await (const event of engine.watch(id)) {
    seen.push(event.type)
    if (event.type === "cycle-end") open()
  }
  assert.equal(seen.at(-1), "run-end")
})

test("a run that asks waits without a worker, and goes on in another engine once it is answered", async () => {
  const store = memoryStore()
  const model = scriptedModel([
    [{ type: "tool-call", id: "c1", name: "ask", input: { question: "Which colour?" } }],
    "Blue it is.",
  ])
  const agent = createAgent({ model, noTool: "answer", tools: [greet()] })
  const first = createEngine({ agents: { agent }, store })
  const { id } = await first.submit("agent", "Paint")
  const waiting = await first.result(id)
  assert.equal(waiting.status, "waiting")
  assert.equal(waiting.pending?.kind, "question")
  await first.close()
  await using second = createEngine({ agents: { agent }, store })
  assert.deepEqual(await second.recover(), [])
  await second.answer(id, "Blue")
  const result = await second.result(id)
  assert.equal(result.output, "Blue it is.")
  assert.ok(JSON.stringify(model.requests[1]?.messages).includes("Blue"))
  await assert.rejects(second.answer(id, "Red"), { code: "not-waiting" })
})

test("a call that waits for approval past its time gives the cell up, and what was done before is not done again", async () => {
  const store = memoryStore()
  const paid: number[] = []
  const wiped: number[] = []
  const agent = createAgent({
    model: scriptedModel([
      "```ts\nconst a = await pay(1)\nconst t = Date.now()\nawait wipe(a);\n`${a} ${typeof t}`\n```",
      "Wiped.",
    ]),
    runtime: () =>
      jsRuntime({
        pay: fn(async (amount: number) => paid.push(amount)),
        wipe: fn(async (what: number) => wiped.push(what), { approve: true }),
      }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  assert.equal(pending?.kind, "approval")
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
  await second.approve(id, pending?.id ?? "", "allow")
  const result = await second.result(id)
  assert.equal(result.output, "Wiped.")
  assert.deepEqual([paid, wiped], [[1], [1]])
  const events = await Array.fromAsync(second.watch(id))
  const about = events.filter(({ type }) => type.startsWith("approval")).map(({ type }) => type)
  assert.deepEqual(about, ["approval-requested", "approval-resolved"])
})

test("an approval within its time lets the held cell go on", async () => {
  const wiped: number[] = []
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait wipe(1)\n```", "Wiped."]),
    runtime: () => jsRuntime({ wipe: fn(async (what: number) => wiped.push(what), { approve: true }) }),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  let pending: string | undefined
  while (pending === undefined) {
    await new Promise((resolve) => setImmediate(resolve))
    pending = (await engine.get(id))?.pending?.id
  }
  await engine.approve(id, pending, "allow")
  assert.equal((await engine.result(id)).output, "Wiped.")
  assert.deepEqual(wiped, [1])
})

test("a run is aborted by an engine that does not work on it", async () => {
  const store = memoryStore()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait forever()\n```", "Never."]),
    runtime: () =>
      jsRuntime({
        forever() {
          begin()
          return new Promise(() => undefined)
        },
      }),
  })
  await using worker = createEngine({ agents: { agent }, store })
  await using other = createEngine({ agents: { agent }, store })
  const { id } = await worker.submit("agent", "Go")
  await begun
  await other.abort(id, "Enough.")
  const { status, detail, completion } = await other.result(id)
  assert.deepEqual(
    { status, detail, completion },
    { status: "aborted", detail: "Enough.", completion: { by: "abort" } },
  )
  await other.abort(id)
})

test("a run that waits is aborted by any engine, and says why", async () => {
  const store = memoryStore()
  const asks = () =>
    scriptedModel([[{ type: "tool-call", id: "c1", name: "ask", input: { question: "Which colour?" } }]])
  const agent = createAgent({ model: asks(), tools: [greet()] })
  const first = createEngine({ agents: { agent }, store })
  const { id } = await first.submit("agent", "Paint")
  assert.equal((await first.result(id)).status, "waiting")
  await first.close()
  await using other = createEngine({ agents: { agent }, store })
  await other.abort(id, "Enough.")
  const { status, detail, pending } = await other.result(id)
  assert.deepEqual({ status, detail, pending }, { status: "aborted", detail: "Enough.", pending: undefined })
})

test("what is said to a run is heard before its next cycle", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const model = scriptedModel(["```ts\nawait wait()\n```", "Heard."])
  const agent = createAgent({
    model,
    runtime: () =>
      jsRuntime({
        wait() {
          begin()
          return gate
        },
      }),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  await begun
  await engine.steer(id, "Hurry up.")
  open()
  await engine.result(id)
  assert.ok(JSON.stringify(model.requests[1]?.messages).includes("Hurry up."))
})

test("runs of one session share the conversation and its objects", async () => {
  const model = scriptedModel(["```ts\nlet rows = [1, 2, 3]\n```", "Loaded.", "```ts\nrows.length\n```", "Three."])
  const agent = createAgent({ model, runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const one = await engine.submit("agent", "Load", { session: "s" })
  const two = await engine.submit("agent", "How many?", { session: "s" })
  assert.equal((await engine.result(one.id)).output, "Loaded.")
  const result = await engine.result(two.id)
  assert.equal(result.output, "Three.")
  const said = JSON.stringify(model.requests[3]?.messages)
  assert.ok(said.includes("Load") && said.includes("<output>\\n3\\n</output>"), said)
})

test("an agent that changed shape is refused by name, and goes on with allowChanged", async () => {
  const store = memoryStore()
  const ask = [{ type: "tool-call", id: "c1", name: "ask", input: { question: "Well?" } }] as const
  const before = createAgent({ model: scriptedModel([ask]), noTool: "answer", tools: [greet()] })
  const first = createEngine({ agents: { agent: before }, store })
  const { id } = await first.submit("agent", "Go")
  await first.result(id)
  await first.close()
  const after = createAgent({ model: scriptedModel(["Fine."]), noTool: "answer", tools: [greet("wave")] })
  const strict = createEngine({ agents: { agent: after }, store })
  await strict.answer(id, "Yes")
  await assert.rejects(strict.result(id), /the tool "greet" is gone.*allowChanged/)
  await strict.close()
  await using lenient = createEngine({ agents: { agent: after }, store, allowChanged: true })
  assert.deepEqual(await lenient.recover(), [id])
  const { output, trajectory } = await lenient.result(id)
  assert.equal(output, "Fine.")
  const warning = trajectory.events.find((event) => event.type === "warning-raised" && event.code === "agent-changed")
  assert.match(JSON.stringify(warning), /the tool \\"greet\\" is gone/)
})

test("what calls gave is kept while the run goes on, and not once it has ended", async () => {
  const store = memoryStore()
  const kept: number[] = []
  const agent = createAgent({
    model: scriptedModel(["```ts\n(await token()).length\nawait look()\n```", "Looked."]),
    runtime: () =>
      jsRuntime({
        token: fn(async () => "a secret"),
        look: fn(async () => kept.push(...(await inJournals()))),
      }),
  })
  const inJournals = async () => {
    const [run] = await Array.fromAsync(engine.list())
    const entries = await Array.fromAsync(store.read(`runs/${run?.id}/journal`))
    return entries.map((entry) => JSON.stringify(entry).indexOf("a secret")).filter((place) => place >= 0)
  }
  await using engine = createEngine({ agents: { agent }, store })
  const { id } = await engine.submit("agent", "Look")
  assert.equal((await engine.result(id)).output, "Looked.")
  assert.equal(kept.length, 1)
  assert.deepEqual(await Array.fromAsync(store.read(`runs/${id}/journal`)), [])
})

test("an ended run is removed with everything of it, and its key is free again", async () => {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(() => "Hello."), runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { agent }, store })
  const { id } = await engine.submit("agent", "Hi", { key: "k" })
  await engine.result(id)
  assert.deepEqual(await engine.prune({ olderThanMs: 1_000_000 }), [])
  await engine.delete(id)
  assert.deepEqual(await Array.fromAsync(store.keys("")), [queuedMarkerKey])
  await assert.rejects(engine.result(id), { code: "unknown-run" })
  assert.notEqual((await engine.submit("agent", "Hi", { key: "k" })).id, id)
})

test("an agent whose runs share one runtime is refused", () => {
  const agent = createAgent({ model: scriptedModel(() => "Hello."), runtime: jsRuntime() })
  assert.throws(() => createEngine({ agents: { agent }, store: memoryStore() }), ConfigError)
})

function greet(name = "greet") {
  return tool({ name, description: "Greets.", run: () => "Hello." })
}
