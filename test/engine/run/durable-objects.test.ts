// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"
import { readHead, runKeys, updateHead } from "../../../src/engine/checkpoint.ts"
import { claimRun } from "../../../src/engine/run/claim-run.ts"
import { holdRun } from "../../../src/engine/run/held-run.ts"
import { createLeaseObserver } from "../../../src/engine/run/lease-observer.ts"
import { createOwner } from "../../../src/engine/run/run-owner.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length

test("objects are back in a fresh runtime, and what could not be kept is told to the model by name", async () => {
  const store = memoryStore()
  const model = scriptedModel((request) => {
    const steps = [
      cell("let rows = [1, 2, 3]; let open = new WeakMap()"),
      cell("await pause()"),
      cell("rows.length"),
      "Three.",
    ]
    return steps[turn(request)] ?? "?"
  })
  const agent = createAgent({ model, runtime: () => jsRuntime({ pause: fn(async () => 1, { approve: true }) }) })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store })
  await second.approve(id, pending?.id ?? "", "allow")
  assert.equal((await second.result(id)).output, "Three.")
  const said = JSON.stringify(model.requests.at(-1)?.messages)
  assert.ok(said.includes("<output>\\n3\\n</output>"), said)
  assert.match(said, /- open: /)
})

test("a cell that is run again sees the same time and the same randomness", async () => {
  const store = memoryStore()
  const seen: unknown[] = []
  const agent = createAgent({
    model: scriptedModel((request) =>
      turn(request) === 0
        ? cell("const t = Date.now(), r = Math.random()\nawait note(t, r)\nawait pause(t, r)")
        : "Done.",
    ),
    runtime: () =>
      jsRuntime({
        note: fn(async (...args: number[]) => void seen.push(args)),
        pause: fn(async (...args: number[]) => void seen.push(args), { approve: true }),
      }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
  await second.approve(id, pending?.id ?? "", "allow")
  assert.equal((await second.result(id)).status, "done")
  assert.equal(seen.length, 2)
  assert.deepEqual(seen[0], seen[1])
})

test("objects beyond the limit are not kept, and the model is told", async () => {
  const store = memoryStore()
  const model = scriptedModel(
    (request) => [cell('let big = "x".repeat(5000)'), cell("await pause()"), "Done."][turn(request)] ?? "?",
  )
  const agent = createAgent({ model, runtime: () => jsRuntime({ pause: fn(async () => 1, { approve: true }) }) })
  const options = { agents: { agent }, store, holdMs: 0, maxSnapshotBytes: 1000 }
  const first = createEngine(options)
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine(options)
  await second.approve(id, pending?.id ?? "", "allow")
  await second.result(id)
  assert.match(JSON.stringify(model.requests.at(-1)?.messages), /- big: /)
})

test("a worker that lost its claim cannot write any more", async () => {
  const store = memoryStore()
  const id = await storedRun(store)
  const claim = () =>
    claimRun(store, id, { owner: createOwner(), leaseMs: 60_000, leaseObserver: createLeaseObserver(60_000) })
  const early = await claim()
  assert.ok(early)
  assert.equal(await claim(), undefined)
  const slow = holdRun(store, early, { leaseMs: 60_000, journalLength: 0 })
  await updateHead(store, id, (head) => ({ head: { ...head, lease: { owner: createOwner(), forMs: 0 } } }))
  const late = await claim()
  assert.equal(late?.head.fence, early.head.fence + 1)
  await assert.rejects(slow.appendNow([{ type: "started" }]), { name: "ConflictError" })
  await assert.rejects(
    slow.commit((head) => ({ ...head, status: "done" })),
    { name: "ConflictError" },
  )
  assert.ok(slow.lost.aborted)
  slow.stopRenewing()
  assert.deepEqual(await Array.fromAsync(store.read(runKeys(id).journal)), [])
  assert.equal((await readHead(store, id))?.head.status, "running")
})

test("a worker that lost its run notices it before a call that writes nothing, once half of its lease is over", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: Date.now() })
  const store = memoryStore()
  const id = await storedRun(store)
  const owner = createOwner()
  const claimed = await claimRun(store, id, { owner, leaseMs: 60_000, leaseObserver: createLeaseObserver(60_000) })
  assert.ok(claimed)
  const held = holdRun(store, claimed, { leaseMs: 60_000, journalLength: 0 })
  await held.commit((head) => head)
  context.mock.timers.tick(30_000)
  await held.checkHeld()
  await updateHead(store, id, (head) => ({ head: { ...head, fence: head.fence + 1 } }))
  await assert.rejects(held.checkHeld(), { name: "ConflictError" })
  assert.ok(held.lost.aborted)
})

test("a worker that has given its run back notices before a call that another one has claimed it", async () => {
  const store = memoryStore()
  const id = await storedRun(store)
  const claim = { owner: createOwner(), leaseMs: 60_000, leaseObserver: createLeaseObserver(60_000) }
  const claimed = await claimRun(store, id, claim)
  assert.ok(claimed)
  const held = holdRun(store, claimed, { leaseMs: 60_000, journalLength: 0 })
  await held.commit(({ lease: _, ...head }) => ({ ...head, status: "queued" }))
  assert.ok(await claimRun(store, id, { ...claim, owner: createOwner() }))
  await assert.rejects(held.checkHeld(), { name: "ConflictError" })
})

test("of engines that race for the same runs, exactly one works on each", async () => {
  const store = memoryStore()
  const made = new Map<string, number>()
  const agent = createAgent({
    model: scriptedModel((request) => (turn(request) === 0 ? cell("await once()") : "Done.")),
    runtime: () => {
      const mark = { run: "" }
      return jsRuntime({ once: fn(async () => void made.set(mark.run, (made.get(mark.run) ?? 0) + 1)) })
    },
  })
  const engines = [1, 2, 3].map(() => createEngine({ agents: { agent }, store }))
  const [first] = engines
  assert.ok(first)
  const ids = await Promise.all(Array.from({ length: 20 }, () => first.submit("agent", "Go")))
  await Promise.all(engines.map((engine) => engine.recover()))
  for (const { id } of ids) assert.equal((await first.result(id)).status, "done")
  await Promise.all(engines.map((engine) => engine.close()))
  assert.equal(
    [...made.values()].reduce((sum, times) => sum + times, 0),
    20,
  )
})

test("what a step writes does not grow with the history", async () => {
  const sizes: number[] = []
  const inner = memoryStore()
  const store: Store = {
    ...inner,
    commit(changes, guard) {
      const value = changes.map((change) =>
        change.type === "put" && change.value instanceof Uint8Array ? 0 : JSON.stringify(change).length,
      )
      sizes.push(value.reduce((sum, size) => sum + size, 0))
      return inner.commit(changes, guard)
    },
  }
  const agent = createAgent({
    model: scriptedModel((request) => (turn(request) < 120 ? cell("let x = 1") : "Done.")),
    limits: { cycles: 200 },
    runtime: () => jsRuntime(),
  })
  await using engine = createEngine({ agents: { agent }, store })
  const { id } = await engine.submit("agent", "Go")
  assert.equal((await engine.result(id)).status, "done")
  const mean = (from: number) => sizes.slice(from, from + 20).reduce((sum, size) => sum + size, 0) / 20
  assert.ok(mean(100) < mean(20) * 1.5, `${mean(20)} → ${mean(100)}`)
})

async function storedRun(store: Store): Promise<string> {
  const agent = createAgent({ model: scriptedModel(() => "Hi."), runtime: () => jsRuntime() })
  const backend = { push: async () => undefined, start: async () => async () => undefined, countQueued: async () => 0 }
  await using engine = createEngine({ agents: { agent }, store, backend })
  return (await engine.submit("agent", "Go")).id
}
