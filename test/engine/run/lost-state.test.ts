// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AgentEvent, createAgent, fn, jsRuntime, messageText, type Runtime, variable } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { memoryStore } from "karst/stores"
import { requires } from "../../system.ts"

class Charts {
  #made: string[] = []
  add(name: string): number {
    return this.#made.push(name)
  }
  get all(): number {
    return this.#made.length
  }
}

class Store {
  rows: number[] = []
}

class Client {
  queries = 0
  query(): number {
    return ++this.queries
  }
}

const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length

interface Kind {
  tag: string
  make(bindings: Record<string, unknown>): Runtime
  use: string
  wait: string
  look: string
}

const typescript = {
  tag: "ts",
  use: "await charts.add('a'); store.rows = [1]; await db.query(); plain.n = 2; const alias = charts",
  wait: "await pause()",
  look: "[await charts.all, plain.n]",
}

const kinds: Record<string, Kind> = {
  jsRuntime: { ...typescript, make: (bindings) => jsRuntime(bindings) },
  processRuntime: { ...typescript, make: (bindings) => processRuntime(bindings) },
  pythonRuntime: {
    tag: "python",
    make: (bindings) => pythonRuntime(bindings),
    use: "charts.add('a')\nstore.rows = [1]\ndb.query()\nplain['n'] = 2",
    wait: "pause()",
    look: "[charts.all, plain['n']]",
  },
}

/** Executes a run that waits twice for an approval and continues each time in a fresh runtime, as after a restart. */
async function waitedTwice(kind: Kind) {
  const store = memoryStore()
  const steps = [kind.use, kind.wait, kind.look, kind.wait, kind.look]
  const model = scriptedModel((request) => {
    const code = steps[turn(request)]
    return code === undefined ? "Done." : `\`\`\`${kind.tag}\n${code}\n\`\`\``
  })
  const agent = createAgent({
    model,
    runtime: () =>
      kind.make({
        charts: new Charts(),
        store: new Store(),
        unused: new Store(),
        db: variable(new Client(), { external: true }),
        plain: { n: 1 },
        pause: fn(async () => 1, { approve: true }),
      }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  let result = await first.result(id)
  await first.close()
  const events: AgentEvent[] = []
  for (; result.pending; ) {
    await using engine = createEngine({ agents: { agent }, store, holdMs: 0 })
    await engine.approve(id, result.pending.id, "allow")
    result = await engine.result(id)
    if (result.status !== "waiting") for await (const event of engine.watch(id)) events.push(event)
  }
  const said = result.messages.filter(({ role }) => role === "user").map(messageText)
  const results = result.messages.filter(({ role }) => role === "result").map((message) => JSON.stringify(message))
  return { result, events, said: said.filter((text) => text.includes("created anew")), results }
}

const warningsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "warning-raised" && event.code === "state-lost" ? [event] : []))

describe("objects whose state is lost when a run goes on elsewhere", () => {
  for (const [name, kind] of Object.entries(kinds)) {
    const skip = name === "pythonRuntime" && requires("python")
    test(`${name}: are named to the model and the host, if cells used them, once`, { skip }, async () => {
      const { result, events, said, results } = await waitedTwice(kind)
      assert.equal(result.status, "done", JSON.stringify(result.error))
      assert.match(results[2] ?? "", /0, 2/, "charts is new, and plain data was kept")
      const [first = "", second = "", ...more] = said
      assert.equal(more.length, 0)
      assert.match(first, /The objects charts, store were created anew/)
      // After that only `charts` was used again: it was looked at.
      assert.match(second, /The object charts was created anew/)
      const [warning, later, ...others] = warningsIn(events)
      assert.equal(others.length, 0)
      assert.deepEqual(warning?.names, ["charts", "store"])
      assert.match(warning?.message ?? "", /charts, store/)
      assert.deepEqual(later?.names, ["charts"])
    })
  }

  test("are not named where the factory gives the same object again in the same process", async () => {
    const store = memoryStore()
    const charts = new Charts()
    const steps = ["charts.add('a')", "await pause()", "charts.all"]
    const agent = createAgent({
      model: scriptedModel((request) => (steps[turn(request)] ? `\`\`\`ts\n${steps[turn(request)]}\n\`\`\`` : "Done.")),
      runtime: () => jsRuntime({ charts, pause: fn(async () => 1, { approve: true }) }),
    })
    await using engine = createEngine({ agents: { agent }, store, holdMs: 0 })
    const { id } = await engine.submit("agent", "Go")
    const { pending } = await engine.result(id)
    await engine.approve(id, pending?.id ?? "", "allow")
    const { status, messages } = await engine.result(id)
    assert.equal(status, "done")
    assert.ok(!JSON.stringify(messages).includes("created anew"))
    assert.equal(charts.all, 1)
  })
})
