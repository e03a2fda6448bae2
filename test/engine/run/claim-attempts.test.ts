// test lane: durable
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"
import { type RunHead, readHead, updateHead } from "../../../src/engine/checkpoint.ts"
import { claimedHead } from "../../../src/engine/run/claim-run.ts"
import { createOwner, type Owner } from "../../../src/engine/run/run-owner.ts"
import { createRunSlots } from "../../../src/engine/run/run-slots.ts"

const deadPid = spawnSync(process.execPath, ["-e", ""]).pid
const deadOwner = (name: string): Owner => ({ ...createOwner(), id: name, pid: deadPid })
const liveOwner = (name: string): Owner => ({ ...createOwner(), id: name, pid: process.ppid })

async function take(store: Store, id: string, owner: Owner, leaseMs = 30_000): Promise<void> {
  await updateHead(store, id, (head) => ({ head: claimedHead(head, { owner, leaseMs }) }))
}

const giveBack = (store: Store, id: string) =>
  updateHead(store, id, ({ lease: _, ...head }) => ({ head: { ...head, status: "queued" } }))

async function headOf(store: Store, id: string): Promise<RunHead> {
  const found = await readHead(store, id)
  assert.ok(found)
  return found.head
}

function setUp(answers = ["Done."], bindings: Record<string, unknown> = {}) {
  const store = memoryStore()
  const agent = createAgent({ model: scriptedModel(answers), runtime: () => jsRuntime(bindings) })
  return { store, agents: { agent } }
}

describe("a run whose workers die", () => {
  test("is set aside after two deaths beside others and five alone, with its log, and can be retried", async () => {
    const { store, agents } = setUp()
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    for (let worker = 1; worker <= 7; worker++) await take(store, id, deadOwner(`w${worker}`))
    await engine.work()
    await engine.recover()
    const { status, error } = await engine.result(id)
    assert.equal(status, "failed")
    assert.equal(error?.code, "poison")
    assert.match(error?.message ?? "", /7 workers ended.*the last 5 while/)
    assert.ok((await Array.fromAsync(engine.watch(id))).some(({ type }) => type === "run-end"))
    await engine.retry(id)
    assert.equal((await engine.result(id)).output, "Done.")
  })

  test("goes on with one death fewer, and a saved cycle resets the count", async () => {
    const { store, agents } = setUp()
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    for (let worker = 1; worker <= 6; worker++) await take(store, id, deadOwner(`w${worker}`))
    await engine.work()
    await engine.recover()
    assert.equal((await engine.result(id)).output, "Done.")
    assert.equal((await headOf(store, id)).attempts, undefined)
  })

  test("is not blamed for drains", async () => {
    const { store, agents } = setUp()
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    for (let worker = 1; worker <= 20; worker++) {
      await take(store, id, deadOwner(`w${worker}`))
      await giveBack(store, id)
    }
    const { attempts } = await headOf(store, id)
    assert.deepEqual(attempts, { claims: 20, deaths: 0, aloneDeaths: 0, alone: false })
  })

  test("works alone after two deaths: it begins when the others have left, and others wait for it", async () => {
    const order: string[] = []
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const code = (name: string) => `\`\`\`ts\nawait work(${JSON.stringify(name)})\n\`\`\``
    const agentOf = (name: string) =>
      createAgent({
        model: scriptedModel([code(name), "Done."]),
        runtime: () =>
          jsRuntime({
            async work(who: string) {
              order.push(`${who} begins`)
              if (who === "healthy") begin()
              if (who === "healthy") await gate
              order.push(`${who} ends`)
            },
          }),
      })
    const store = memoryStore()
    const agents = { healthy: agentOf("healthy"), suspect: agentOf("suspect") }
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const suspect = await engine.submit("suspect", "Go")
    for (const worker of ["w1", "w2"]) await take(store, suspect.id, deadOwner(worker))
    await take(store, suspect.id, liveOwner("w3"))
    await engine.work()
    const healthy = await engine.submit("healthy", "Go")
    await begun
    await giveBack(store, suspect.id)
    await engine.recover()
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve))
    open()
    await engine.result(healthy.id)
    await engine.result(suspect.id)
    assert.deepEqual(order, ["healthy begins", "healthy ends", "suspect begins", "suspect ends"])
  })
})

describe("slots", () => {
  test("let a run that works alone begin when the others have left, and the others when it has", async () => {
    const slots = createRunSlots()
    const order: string[] = []
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const step = (name: string, wait?: Promise<void>) => async () => {
      order.push(`${name} begins`)
      await wait
      order.push(`${name} ends`)
    }
    const first = slots.enter(false, step("first", gate))
    const alone = slots.enter(true, step("alone"))
    const last = slots.enter(false, step("last"))
    assert.equal(slots.isAloneWanted, true)
    open()
    await Promise.all([first, alone, last])
    assert.deepEqual(order, ["first begins", "first ends", "alone begins", "alone ends", "last begins", "last ends"])
    assert.equal(slots.isAloneWanted, false)
  })
})

describe("a run that is taken from a worker that is alive", () => {
  test("has its lease doubled with each steal, up to ten minutes, and warns", async () => {
    const { store, agents } = setUp()
    const engine = createEngine({ agents, store, backend: inlineBackend() })
    const { id } = await engine.submit("agent", "Go")
    const leases: (number | undefined)[] = []
    for (let worker = 1; worker <= 7; worker++) {
      await take(store, id, liveOwner(`w${worker}`))
      leases.push((await headOf(store, id)).lease?.forMs)
    }
    assert.deepEqual(leases, [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000])
    assert.deepEqual((await headOf(store, id)).attempts, { claims: 7, deaths: 0, aloneDeaths: 0, alone: false })
    await engine.close()
  })

  test("finishes with the longer lease, says so in its log, and has the normal lease again afterwards", async () => {
    const leases: (number | undefined)[] = []
    const store = memoryStore()
    const look = async () => {
      const [run] = await Array.fromAsync(engine.list())
      leases.push((await headOf(store, run?.id ?? "")).lease?.forMs)
    }
    const agent = createAgent({
      model: scriptedModel(["```ts\nawait look()\n```", "```ts\nawait look()\n```", "Done."]),
      runtime: () => jsRuntime({ look }),
    })
    await using engine = createEngine({ agents: { agent }, store, backend: inlineBackend(), leaseMs: 100 })
    const { id } = await engine.submit("agent", "Go")
    await take(store, id, liveOwner("blocked"), 100)
    await engine.work()
    const { output, trajectory } = await engine.result(id)
    assert.equal(output, "Done.")
    assert.deepEqual(leases, [200, 100])
    const warnings = trajectory.events.filter((event) => event.type === "warning-raised")
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ["cell-blocks-worker"],
    )
  })
})

describe("a worker that lost its run, and has not noticed", () => {
  for (const [kind, options] of [
    ["an idempotent call", { idempotent: true }],
    ["a recorded call", {}],
  ] as const) {
    test(`does not make ${kind}`, async () => {
      const made: string[] = []
      const lost = Promise.withResolvers<void>()
      const store = memoryStore()
      const agent = createAgent({
        model: scriptedModel(["```ts\nawait lose()\nawait look()\n```", "Done."]),
        runtime: () =>
          jsRuntime({
            lose: fn(
              async () => {
                const [run] = await Array.fromAsync(engine.list())
                await take(store, run?.id ?? "", liveOwner("other"))
                lost.resolve()
              },
              { journal: false },
            ),
            look: fn(async () => made.push("looked"), options),
          }),
      })
      const engine = createEngine({ agents: { agent }, store })
      await engine.submit("agent", "Go")
      await lost.promise
      await engine.close()
      assert.deepEqual(made, [])
    })
  }
})
