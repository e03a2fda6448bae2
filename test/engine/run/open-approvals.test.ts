// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { type AgentEvent, createAgent, fn, jsRuntime, tool } from "karst"
import { createEngine, type Engine, type RunInfo } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store, sqliteStore } from "karst/stores"

const payCell = "```ts\nawait pay(500)\n```"

function payingAgent(answers: string[] = [payCell, "Paid."]) {
  const paid: number[] = []
  const seen: AgentEvent[] = []
  const model = scriptedModel(answers)
  const agent = createAgent({
    model,
    runtime: () => jsRuntime({ pay: fn(async (euros: number) => paid.push(euros), { approve: true }) }),
    onEvent: (event) => void seen.push(event),
  })
  return { paid, seen, model, agent }
}

async function pendingId(engine: Engine, id: string): Promise<string> {
  const { status, pending } = await engine.result(id)
  assert.equal(status, "waiting")
  assert.ok(pending?.kind === "approval")
  return pending.id
}

async function listed(engine: Engine, status: RunInfo["status"]): Promise<string[]> {
  return (await Array.fromAsync(engine.list({ status }))).map((run) => run.id)
}

/** Makes the stored run look like one whose worker was killed. */
async function killWorker(store: Store, id: string): Promise<void> {
  const entry = await store.get(`runs/${id}`)
  assert.ok(entry)
  const head = structuredClone(entry.value) as unknown as { lease: { owner: { id: string; pid: number } } }
  head.lease.owner = { ...head.lease.owner, id: "worker_killed", pid: 2 ** 22 + 1 }
  await store.commit([{ type: "put", key: `runs/${id}`, value: JSON.parse(JSON.stringify(head)) }], {
    key: `runs/${id}`,
    ifRevision: entry.revision,
  })
}

const approvalIds = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "approval-requested" ? [event.id] : []))

for (const kind of ["memory", "sqlite"] as const)
  test(`while a call is held for approval the run is waiting for everyone who asks, and running once it is answered (${kind})`, async () => {
    const { agent, paid, model } = payingAgent()
    await using store = kind === "memory" ? memoryStore() : sqliteStore(":memory:")
    await using engine = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
    const { id } = await engine.submit("agent", "Pay")
    const call = await pendingId(engine, id)
    const info = await engine.get(id)
    assert.equal(info?.status, "waiting")
    assert.ok(info.pending?.kind === "approval")
    assert.equal(info.pending.id, call)
    assert.deepEqual(await listed(engine, "waiting"), [id])
    assert.deepEqual(await listed(engine, "running"), [])
    assert.deepEqual(
      (await Array.fromAsync(engine.list())).map((run) => run.id),
      [id],
    )
    await engine.approve(id, call, "allow")
    assert.deepEqual(await listed(engine, "waiting"), [])
    await assert.rejects(engine.approve(id, call, "deny"), { code: "unknown-approval" })
    assert.equal(await engine.pendingCall(id, call), undefined)
    assert.equal((await engine.result(id)).output, "Paid.")
    assert.deepEqual(paid, [500])
    assert.equal(model.requests.length, 2)
    assert.equal((await Array.fromAsync(engine.watch(id))).filter(({ type }) => type === "cycle-start").length, 2)
  })

test("engine.watch yields the request of a held call at once, and each event once and in order", async () => {
  const { agent, seen } = payingAgent()
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), holdMs: Number.POSITIVE_INFINITY })
  const { id } = await engine.submit("agent", "Pay")
  const watched: AgentEvent[] = []
  for await (const event of engine.watch(id)) {
    watched.push(event)
    if (event.type === "approval-requested") await engine.approve(id, event.id, "allow")
  }
  const stored = await Array.fromAsync(engine.watch(id))
  assert.deepEqual(watched, stored)
  const lasting = seen.filter(({ type }) => !type.endsWith("-delta") && type !== "checkpoint-saved")
  assert.deepEqual(lasting, stored)
})

test("a watcher that comes back during the hold gets what it has not seen", async () => {
  const { agent } = payingAgent()
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), holdMs: Number.POSITIVE_INFINITY })
  const { id } = await engine.submit("agent", "Pay")
  const first: AgentEvent[] = []
  for await (const event of engine.watch(id)) {
    first.push(event)
    if (event.type === "approval-requested") break
  }
  await engine.approve(id, approvalIds(first)[0] ?? "", "allow")
  const rest = await Array.fromAsync(engine.watch(id, { from: (first.at(-1)?.seq ?? 0) + 1 }))
  assert.deepEqual([...first, ...rest], await Array.fromAsync(engine.watch(id)))
})

test("with several calls held the run waits until the last one is answered, also for calls that are asked for later", async () => {
  const { agent, paid } = payingAgent(["```ts\nawait Promise.all([pay(1).then(() => pay(3)), pay(2)])\n```", "Paid."])
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), holdMs: Number.POSITIVE_INFINITY })
  const { id } = await engine.submit("agent", "Pay")
  const answered = new Set<string>()
  for (let result = await engine.result(id); result.status === "waiting"; result = await engine.result(id)) {
    assert.ok(result.pending?.kind === "approval")
    assert.ok(!answered.has(result.pending.id))
    answered.add(result.pending.id)
    await engine.approve(id, result.pending.id, "allow")
  }
  assert.deepEqual(paid.toSorted(), [1, 2, 3])
  assert.equal(answered.size, 3)
})

test("a run that is held for approval can be deleted like any waiting run", async () => {
  const { agent, paid } = payingAgent()
  const store = memoryStore()
  await using engine = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await engine.submit("agent", "Pay")
  await pendingId(engine, id)
  await engine.delete(id)
  assert.equal(await engine.get(id), undefined)
  assert.deepEqual(await Array.fromAsync(store.keys(`runs/${id}`)), [])
  assert.deepEqual(await Array.fromAsync(store.keys("status/")), [])
  assert.deepEqual(paid, [])
})

test("a request whose run was aborted is resolved with a reason, because nobody answered it", async () => {
  const { agent } = payingAgent()
  const run = agent.run("Pay", { approver: "events" })
  const resolved: AgentEvent[] = []
  for await (const event of run) {
    if (event.type === "approval-requested") run.abort()
    if (event.type === "approval-resolved") resolved.push(event)
  }
  assert.equal(resolved.length, 1)
  assert.partialDeepStrictEqual(resolved[0], { decision: "deny", reason: "The call ended before an answer came." })
})

test("when the hold expires, observers get no denial that nobody gave, and no number twice", async () => {
  const { agent, paid, seen } = payingAgent()
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), holdMs: 0 })
  const { id } = await engine.submit("agent", "Pay")
  const call = await pendingId(engine, id)
  while ((await engine.get(id))?.status !== "waiting" || seen.at(-1)?.type !== "approval-requested") {
    await new Promise((resolve) => setImmediate(resolve))
  }
  await engine.approve(id, call, "allow")
  const watched = await Array.fromAsync(engine.watch(id))
  assert.deepEqual(paid, [500])
  assert.ok(!seen.some((event) => event.type === "approval-resolved" && event.decision === "deny"))
  assert.ok(!seen.some((event) => event.type === "code-end" && event.error))
  const numbers = seen.map(({ seq }) => seq)
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].toSorted((one, other) => one - other),
  )
  // What is stored under a number that observers got is what they got.
  for (const event of watched) {
    const same = seen.find(({ seq }) => seq === event.seq)
    if (same) assert.deepEqual(same, event)
  }
  assert.deepEqual(approvalIds(watched), [call])
  assert.equal(watched.filter(({ type }) => type === "cycle-start").length, 2)
})

test("observers of a sub-agent get no denial either when the hold of its call expires", async () => {
  const paid: number[] = []
  const seen: AgentEvent[] = []
  const clerk = createAgent({
    name: "clerk",
    description: "pays",
    model: scriptedModel([payCell, "Paid."]),
    runtime: () => jsRuntime({ pay: fn(async (euros: number) => paid.push(euros), { approve: true }) }),
    onEvent: (event) => void seen.push(event),
  })
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait clerk.run('Pay')\n```", "Done."]),
    runtime: () => jsRuntime({ clerk }),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), holdMs: 0 })
  const { id } = await engine.submit("agent", "Go")
  await engine.approve(id, await pendingId(engine, id), "allow")
  assert.equal((await engine.result(id)).output, "Done.")
  assert.deepEqual(paid, [500])
  assert.ok(!seen.some((event) => event.type === "approval-resolved" && event.decision === "deny"))
  assert.ok(!seen.some((event) => event.type === "run-end" && event.status !== "done"))
})

test("an answer to a question has a number that observers have not seen", async () => {
  const seen: AgentEvent[] = []
  const ask = { type: "tool-call", id: "c1", name: "ask", input: { question: "Which colour?" } } as const
  const agent = createAgent({
    model: scriptedModel([[ask], "Blue it is."]),
    noTool: "answer",
    tools: [tool({ name: "greet", description: "Greets.", run: () => "Hello." })],
    onEvent: (event) => void seen.push(event),
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  await engine.result(id)
  await engine.answer(id, "Blue")
  const stored = await Array.fromAsync(engine.watch(id))
  const answer = stored.find(({ type }) => type === "prompt-steered")
  assert.ok(answer)
  assert.ok(!seen.some(({ seq }) => seq === answer.seq))
  const numbers = seen.map(({ seq }) => seq)
  assert.deepEqual(numbers, [...new Set(numbers)])
})

test("a worker that is killed while a call is held: the request keeps its id, and an answer to it reaches the call", async () => {
  const store = memoryStore()
  const { agent, paid, seen, model } = payingAgent()
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Pay")
  const shown = await pendingId(first, id)
  await killWorker(store, id)
  assert.equal(await pendingId(first, id), shown)
  const before = seen.length
  await using second = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  await second.recover()
  assert.equal(await pendingId(second, id), shown)
  while (!seen.slice(before).some(({ type }) => type === "approval-requested")) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  await second.approve(id, shown, "allow")
  const { output, trajectory } = await second.result(id)
  assert.equal(output, "Paid.")
  assert.deepEqual(paid, [500])
  assert.equal(model.requests.length, 2)
  assert.deepEqual(approvalIds(trajectory.events), [shown])
  const numbers = seen.map(({ seq }) => seq)
  assert.deepEqual(numbers, [...new Set(numbers)])
  await first.close()
})

test("an answer given after the worker was killed, before another has the run, counts for the call", async () => {
  const store = memoryStore()
  const { agent, paid } = payingAgent()
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Pay")
  const shown = await pendingId(first, id)
  await killWorker(store, id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  await second.approve(id, shown, "allow")
  await second.recover()
  assert.equal((await second.result(id)).output, "Paid.")
  assert.deepEqual(paid, [500])
})

test("an answer to an old request never allows a call with other arguments", async () => {
  const store = memoryStore()
  const paid: number[] = []
  let amount = 500
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait pay(amount())\n```", "Paid."]),
    runtime: () =>
      jsRuntime({
        amount: fn(() => amount, { journal: false }),
        pay: fn(async (euros: number) => paid.push(euros), { approve: true }),
      }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Pay")
  const old = await pendingId(first, id)
  await killWorker(store, id)
  await first.close()
  amount = 90_000
  await using second = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  await second.approve(id, old, "allow")
  await second.recover()
  const now = await pendingId(second, id)
  assert.notEqual(now, old)
  assert.deepEqual(paid, [])
  await assert.rejects(second.approve(id, old, "allow"), { code: "unknown-approval" })
  await second.approve(id, now, "deny")
  assert.equal((await second.result(id)).output, "Paid.")
  assert.deepEqual(paid, [])
})

test("a call that was approved and begun before its worker was killed is asked about again where its policy is to ask", async () => {
  const store = memoryStore()
  const calls: number[] = []
  const begun = Promise.withResolvers<void>()
  const pay = async (euros: number) => {
    calls.push(euros)
    begun.resolve()
    if (calls.length === 1) await new Promise(() => {})
  }
  const agent = createAgent({
    model: scriptedModel([payCell, "Paid."]),
    runtime: () => jsRuntime({ pay: fn(pay, { approve: true, unknown: "ask" }) }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Pay")
  const approved = await pendingId(first, id)
  await first.approve(id, approved, "allow")
  await begun.promise
  await killWorker(store, id)
  await using second = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  await second.recover()
  const again = await pendingId(second, id)
  assert.notEqual(again, approved)
  await second.approve(id, again, "allow")
  const { output, trajectory } = await second.result(id)
  assert.equal(output, "Paid.")
  assert.deepEqual(calls, [500, 500])
  const asked = trajectory.events.filter((event) => event.type === "approval-requested")
  assert.match(asked.find((event) => event.id === again)?.reason ?? "", /not known whether it took effect/)
})

test("an answer that the worker reads just after the hold has ended is neither lost nor asked for again", async () => {
  const { agent, paid } = payingAgent()
  const store = lateInboxStore()
  await using engine = createEngine({ agents: { agent }, store, holdMs: 200 })
  const { id } = await engine.submit("agent", "Pay")
  await engine.approve(id, await pendingId(engine, id), "allow")
  assert.equal((await engine.result(id)).output, "Paid.")
  assert.deepEqual(paid, [500])
})

/** A store whose inboxes deliver a message when the run has no worker any more. */
function lateInboxStore(): Store {
  const inner = memoryStore()
  return {
    ...inner,
    async *watch(log, from, signal) {
      for await (const item of inner.watch?.(log, from, signal) ?? []) {
        const head = log.replace(/\/inbox$/, "")
        while (head !== log && JSON.stringify(await inner.get(head)).includes('"lease"')) {
          await new Promise((resolve) => setImmediate(resolve))
        }
        yield item
      }
    },
  }
}
