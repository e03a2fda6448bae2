// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { AgentError, type AgentEvent, createAgent, fn, jsRuntime } from "karst"
import { createEngine, type Engine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"

const twoWipes = "```ts\n(await Promise.allSettled([wipe('a'), wipe('b')])).map(({ status }) => status).join()\n```"

function twoApprovals() {
  const wiped: string[] = []
  const model = scriptedModel([twoWipes, "Done."])
  const agent = createAgent({
    model,
    runtime: () => jsRuntime({ wipe: fn(async (name: string) => wiped.push(name), { approve: true }) }),
  })
  return { wiped, model, agent }
}

async function pendingIds(store: Store, id: string, count: number): Promise<string[]> {
  for (;;) {
    const entry = await store.get(`runs/${id}`)
    assert.ok(entry)
    const { asked } = entry.value as unknown as { asked: { id: string; call: { args: string } }[] }
    const sorted = asked.toSorted((one, other) => one.call.args.localeCompare(other.call.args))
    if (asked.length >= count) return sorted.map((each) => each.id)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const approvalEvents = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => {
    if (event.type === "approval-requested") return [`requested ${event.call.args}`]
    return event.type === "approval-resolved" ? [`resolved ${event.decision}`] : []
  })

async function untilWaiting(engine: Engine, id: string): Promise<string> {
  const { status, pending } = await engine.result(id)
  assert.equal(status, "waiting")
  assert.equal(pending?.kind, "approval")
  return pending?.id ?? ""
}

for (const [title, holdMs] of [
  ["a drain", Number.POSITIVE_INFINITY],
  ["the end of the hold", 1_000],
] as const) {
  test(`a deny given while the cell is held is kept after ${title}, is not asked again and is in the log`, async () => {
    const store = memoryStore()
    const { agent, wiped, model } = twoApprovals()
    const first = createEngine({ agents: { agent }, store, holdMs })
    const { id } = await first.submit("agent", "Go")
    const [one = ""] = await pendingIds(store, id, 2)
    await first.approve(id, one, "deny")
    if (holdMs > 1_000) await first.close()
    const other = await untilWaiting(first, id)
    assert.notEqual(other, one)
    await first.close()
    await assert.rejects(first.approve(id, one, "allow"), { code: "unknown-approval" })
    await using second = createEngine({ agents: { agent }, store })
    await second.approve(id, other, "allow")
    const { output, trajectory } = await second.result(id)
    assert.equal(output, "Done.")
    assert.deepEqual(wiped, ["b"])
    assert.match(JSON.stringify(model.requests[1]?.messages), /rejected,fulfilled/)
    const about = approvalEvents(trajectory.events)
    assert.deepEqual(about.toSorted(), ['requested "a"', 'requested "b"', "resolved allow", "resolved deny"])
    const numbers = trajectory.events.map(({ seq }) => seq)
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((one, other) => one - other),
    )
  })
}

test("an `always` given while the cell is held counts for later calls after a drain", async () => {
  const store = memoryStore()
  const wiped: string[] = []
  const agent = createAgent({
    model: scriptedModel([
      "```ts\nawait Promise.allSettled([wipe('a'), drop('b')])\n```",
      "```ts\nawait wipe('c')\n```",
      "Done.",
    ]),
    runtime: () =>
      jsRuntime({
        wipe: fn(async (name: string) => wiped.push(name), { approve: true }),
        drop: fn(async (name: string) => wiped.push(name), { approve: true }),
      }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Go")
  const [one = ""] = await pendingIds(store, id, 2)
  await first.approve(id, one, "always")
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
  await second.approve(id, await untilWaiting(second, id), "deny")
  assert.equal((await second.result(id)).output, "Done.")
  assert.deepEqual(wiped, ["a", "c"])
})

test("a steer given while the cell is held is heard after the cell was given up", async () => {
  const store = memoryStore()
  const { agent, model } = twoApprovals()
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Go")
  const [one = "", other = ""] = await pendingIds(store, id, 2)
  await first.steer(id, "Hurry up.")
  await first.approve(id, one, "deny")
  await first.close()
  await using second = createEngine({ agents: { agent }, store })
  await second.approve(id, other, "deny")
  const { messages } = await second.result(id)
  assert.equal(JSON.stringify(messages).split("Hurry up.").length, 2)
  assert.match(JSON.stringify(model.requests[1]?.messages), /Hurry up\./)
})

test("a steer given to a run that is queued is heard in its first cycle", async () => {
  const store = memoryStore()
  const model = scriptedModel(["Done."])
  const agent = createAgent({ model, runtime: () => jsRuntime() })
  await using engine = createEngine({ agents: { agent }, store, backend: inlineBackend() })
  const { id } = await engine.submit("agent", "Go")
  await engine.steer(id, "In French.")
  await engine.work()
  await engine.result(id)
  assert.match(JSON.stringify(model.requests[0]?.messages), /In French\./)
})

test("a decision that a worker read before it died is in the log and is not asked for again", async () => {
  const store = memoryStore()
  const { agent, wiped } = twoApprovals()
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Go")
  const [one = ""] = await pendingIds(store, id, 2)
  await first.approve(id, one, "deny")
  // Another worker takes the run: the first one can write nothing more.
  const taken = await takenOver(store, id, one)
  await using second = createEngine({ agents: { agent }, store: taken, holdMs: 0 })
  await second.recover()
  const other = await untilWaiting(second, id)
  await second.approve(id, other, "allow")
  const { trajectory } = await second.result(id)
  assert.deepEqual(wiped, ["b"])
  assert.deepEqual(approvalEvents(trajectory.events).slice(0, 2), ['requested "a"', "resolved deny"])
  await first.close()
})

/** Waits until the decision is stored, then returns the run to the queue as a recovering worker would. */
async function takenOver(store: Store, id: string, call: string): Promise<Store> {
  for (;;) {
    const entry = await store.get(`runs/${id}`)
    const head = entry?.value as unknown as { asked: { id: string; decision?: string }[]; fence: number }
    if (entry && head.asked.some((each) => each.id === call && each.decision !== undefined)) {
      const { lease: _, ...rest } = head as typeof head & { lease?: unknown }
      const value = JSON.parse(JSON.stringify({ ...rest, status: "queued" }))
      await store.commit([{ type: "put", key: `runs/${id}`, value }], { key: `runs/${id}`, ifRevision: entry.revision })
      return store
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test("an abort that comes while the cell is being given up ends the run", async () => {
  const store = memoryStore()
  const { agent } = twoApprovals()
  const first = createEngine({ agents: { agent }, store, holdMs: Number.POSITIVE_INFINITY })
  const { id } = await first.submit("agent", "Go")
  await pendingIds(store, id, 2)
  await Promise.all([first.drain(), first.abort(id, "Enough.")])
  const { status, detail } = await first.result(id)
  assert.deepEqual({ status, detail }, { status: "aborted", detail: "Enough." })
  await first.close()
})

test("with an approvalTimeoutMs of Infinity a run waits until it is answered", async () => {
  const { agent, wiped } = twoApprovals()
  const endless = agent.with({ approvalTimeoutMs: Infinity })
  const store = memoryStore()
  await using engine = createEngine({ agents: { agent: endless }, store, holdMs: 0 })
  const { id } = await engine.submit("agent", "Go")
  await untilWaiting(engine, id)
  for (const call of await pendingIds(store, id, 2)) await engine.approve(id, call, "allow")
  assert.equal((await Array.fromAsync(engine.watch(id))).at(-1)?.type, "run-end")
  assert.deepEqual(wiped.toSorted(), ["a", "b"])
})

test("engine.approve refuses what is no decision, and the approval still waits", async () => {
  const { agent } = twoApprovals()
  const store = memoryStore()
  await using engine = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await engine.submit("agent", "Go")
  const call = await untilWaiting(engine, id)
  await assert.rejects(engine.approve(id, call, "approve" as "allow"), /engine\.approve: "approve" is no decision/)
  assert.equal(await untilWaiting(engine, id), call)
})

for (const [title, holdMs] of [
  ["while the cell is held", 60_000],
  ["while the run waits", 0],
  ["after the process that asked has ended", 0],
] as const) {
  test(`an approval that stays unanswered for approvalTimeoutMs is refused ${title}, and is not asked again`, async () => {
    const store = memoryStore()
    const { agent, wiped, model } = twoApprovals()
    const ends = title.startsWith("after")
    const limited = agent.with({ approvalTimeoutMs: ends ? 1_000 : 200 })
    const first = createEngine({ agents: { agent: limited }, store, holdMs })
    const { id } = await first.submit("agent", "Go")
    const ids = await pendingIds(store, id, 2)
    await first.approve(id, ids[0] ?? "", "allow")
    if (ends) {
      await untilWaiting(first, id)
      await first.close()
    }
    const last = ends ? createEngine({ agents: { agent: limited }, store, holdMs }) : first
    await last.recover()
    const events = await Array.fromAsync(last.watch(id))
    assert.deepEqual(wiped, ["a"])
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /fulfilled,rejected/)
    const refused = events.filter((event) => event.type === "approval-resolved" && event.decision === "deny")
    assert.equal(refused.length, 1)
    assert.match(refused[0]?.type === "approval-resolved" ? (refused[0].reason ?? "") : "", /No answer came/)
    assert.equal(approvalEvents(events).filter((text) => text.startsWith("requested")).length, 2)
    await assert.rejects(last.approve(id, ids[1] ?? "", "allow"), /No approval/)
    await last.close()
  })
}

test("a decision that could not be applied when the run began to wait is applied by the next attempt of its job", async () => {
  const inner = memoryStore()
  const wiped: string[] = []
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait wipe('a')\n```", "Done."]),
    runtime: () => jsRuntime({ wipe: fn(async (name: string) => wiped.push(name), { approve: true }) }),
  })
  let failures = 0
  const store: Store = {
    ...inner,
    async commit(changes, ...rest) {
      const head = changes.find((change) => change.type === "put" && change.key === `runs/${id}`) as
        | { value: { status: string; asked: { id: string }[] } }
        | undefined
      if (head?.value.status === "waiting") await engine.approve(id, head.value.asked[0]?.id ?? "", "allow")
      if (head?.value.status === "queued" && head.value.asked.length > 0 && ++failures === 1)
        throw new AgentError("The disk is full.", { code: "no-space", retryable: true })
      return await inner.commit(changes, ...rest)
    },
  }
  let id = ""
  const backend = inlineBackend({ onError: () => undefined })
  await using engine = createEngine({ agents: { agent }, store, backend, holdMs: 0 })
  id = (await engine.submit("agent", "Go")).id
  await engine.work()
  assert.equal((await Array.fromAsync(engine.watch(id))).at(-1)?.type, "run-end")
  assert.deepEqual({ wiped, failures }, { wiped: ["a"], failures: 2 })
})
