// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { type AgentEvent, createAgent, fn, jsRuntime, tool } from "karst"
import { type Backend, createEngine, type EngineOptions } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"

type Handle = Parameters<Backend["start"]>[0]

test("between two jobs a run stays as it is, with its runtime, and is closed when the worker is drained", async () => {
  const { agent, opened, closed } = counting(4)
  const { engine, job } = await worker({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  for (let cycle = 0; cycle < 3; cycle++) await job(id)
  assert.equal((await engine.get(id))?.cycles, 3)
  assert.equal((await engine.get(id))?.status, "queued")
  assert.deepEqual([opened(), closed()], [1, 0])
  await engine.close()
  assert.deepEqual([opened(), closed()], [1, 1])
})

test("a run that another worker went on with is read anew, and nothing of it is done twice", async () => {
  const store = memoryStore()
  const { agent, opened, made } = counting(5)
  const one = await worker({ agents: { agent }, store })
  const two = await worker({ agents: { agent }, store })
  const { id } = await one.engine.submit("agent", "Go")
  await one.job(id)
  await two.job(id)
  await one.job(id)
  assert.equal(opened(), 3)
  await one.job(id)
  assert.equal(opened(), 3)
  await two.job(id)
  const { output } = await one.engine.result(id)
  assert.equal(output, "Done.")
  assert.deepEqual(made(), [0, 1, 2, 3])
  await one.engine.close()
  await two.engine.close()
})

test("of more runs than a worker keeps, the one that waited longest is closed", async () => {
  const { agent, closed } = counting(5)
  const { engine, job } = await worker({ agents: { agent }, store: memoryStore(), maxWarmRuns: 1 })
  const ids = await Promise.all([1, 2].map(() => engine.submit("agent", "Go")))
  for (const { id } of ids) await job(id)
  await engine.close()
  assert.equal(closed(), 2)
})

test("what was said to a run while it waits for its next job is heard in its next cycle", async () => {
  const { agent } = counting(4)
  const { engine, job } = await worker({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  await job(id)
  await engine.steer(id, "Faster!")
  await new Promise((resolve) => setImmediate(resolve))
  await job(id)
  await job(id)
  await job(id)
  const events = await Array.fromAsync(engine.watch(id))
  assert.equal(events.filter(({ type }) => type === "prompt-steered").length, 1)
  await engine.close()
})

test("a run that is aborted while it waits for its next job stays so, and is closed", async () => {
  const { agent, made, closed } = counting(4)
  const { engine, job } = await worker({ agents: { agent }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  await job(id)
  await engine.abort(id)
  while (closed() === 0) await new Promise((resolve) => setImmediate(resolve))
  await job(id)
  assert.equal((await engine.get(id))?.status, "aborted")
  assert.deepEqual(made(), [0])
  await engine.close()
})

test("a job whose run another worker holds is handed back, to come again", async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const store = memoryStore()
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait work()\n```", "Done."]),
    runtime: () =>
      jsRuntime({
        work: fn(async () => {
          begun.resolve()
          await gate.promise
        }),
      }),
  })
  const one = await worker({ agents: { agent }, store, sliceMs: undefined })
  const two = await worker({ agents: { agent }, store })
  const { id } = await one.engine.submit("agent", "Go")
  const working = one.job(id)
  await begun.promise
  await assert.rejects(two.job(id), { code: "held" })
  gate.resolve()
  await working
  assert.equal((await two.engine.result(id)).status, "done")
  await one.engine.close()
  await two.engine.close()
})

test("a cycle that calls nothing needs one commit, and one that does a second, before the call", async () => {
  const inner = memoryStore()
  const commits: string[][] = []
  const store: Store = {
    ...inner,
    commit(changes, guard) {
      commits.push(changes.flatMap(logsOf))
      return inner.commit(changes, guard)
    },
  }
  const { agent } = counting(3, (turn) => (turn === 1 ? "await mark(1)" : "1 + 1"))
  await using engine = createEngine({ agents: { agent }, store })
  const { id } = await engine.submit("agent", "Go")
  await engine.result(id)
  assert.deepEqual(
    commits.filter((logs) => logs.length > 0),
    [["events"], ["events"], ["journal"], ["events"], ["events"], ["events", "rests"]],
  )
})

test("a cycle whose tool has no side effect needs one commit, and reads nothing while the lease is fresh", async () => {
  const inner = memoryStore()
  const requests: string[] = []
  const store: Store = {
    ...inner,
    get(key) {
      requests.push("get")
      return inner.get(key)
    },
    commit(changes, guard) {
      if (changes.flatMap(logsOf).includes("events")) requests.push("commit")
      return inner.commit(changes, guard)
    },
  }
  const agent = createAgent({
    model: scriptedModel(({ messages }) =>
      messages.length < 6 ? [{ type: "tool-call", id: "1", name: "look", input: {} }] : "Done.",
    ),
    noTool: "answer",
    tools: [
      tool({
        name: "look",
        description: "Looks.",
        sideEffect: false,
        run() {
          requests.push("look")
          return "ok"
        },
      }),
    ],
  })
  await using engine = createEngine({ agents: { agent }, store, leaseMs: 3_600_000 })
  const { id } = await engine.submit("agent", "Go")
  await engine.result(id)
  const looks = requests.slice(requests.indexOf("look"), requests.lastIndexOf("look") + 1)
  assert.deepEqual(looks, ["look", "commit", "look", "commit", "look"])
})

test("who watches the agent is told of each checkpoint; the store does not keep that", async () => {
  const seen: AgentEvent[] = []
  const { agent } = counting(3)
  const watched = agent.with({ onEvent: (event) => void seen.push(event) })
  await using engine = createEngine({ agents: { agent: watched }, store: memoryStore() })
  const { id } = await engine.submit("agent", "Go")
  await engine.result(id)
  const revisions = seen.flatMap((event) => (event.type === "checkpoint-saved" ? [event.revision] : []))
  assert.equal(revisions.length, 4)
  assert.deepEqual(
    revisions,
    revisions.toSorted((a, b) => a - b),
  )
  const stored = await Array.fromAsync(engine.watch(id))
  assert.equal(
    stored.some(({ type }) => type === "checkpoint-saved"),
    false,
  )
})

// On a slow machine an answer is noted by itself before its cycle is over.
function logsOf(change: Parameters<Store["commit"]>[0][number]): string[] {
  if (change.type !== "append") return []
  const log = change.log.split("/").at(-1) ?? ""
  return log !== "journal" || JSON.stringify(change.items).includes('"started"') ? [log] : []
}

/** An agent that makes one call a cycle, whose runtimes are counted. */
function counting(cycles: number, code = (turn: number) => `await mark(${turn})`) {
  const made: number[] = []
  let opened = 0
  let closed = 0
  const model = scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length
    return turn + 1 < cycles ? `\`\`\`ts\n${code(turn)}\n\`\`\`` : "Done."
  })
  const agent = createAgent({
    model,
    runtime: () => {
      opened++
      const runtime = jsRuntime({ mark: fn(async (turn: number) => void made.push(turn)) })
      const close = async () => {
        closed++
        await runtime.close()
      }
      return { ...runtime, close }
    },
  })
  return { agent, opened: () => opened, closed: () => closed, made: () => made }
}

/** An engine whose jobs are handed over by the test, each good for one cycle. */
async function worker(options: EngineOptions) {
  let handle: Handle | undefined
  const backend: Backend = {
    async push() {},
    async start(given) {
      handle = given
      return async () => {}
    },
    countQueued: async () => 0,
  }
  const engine = createEngine({ sliceMs: 0, ...options, backend })
  await engine.work()
  return { engine, job: async (run: string) => await handle?.({ run, revision: 0 }) }
}
