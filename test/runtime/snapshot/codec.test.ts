// test lane: unit, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Codecs, codec, createAgent, fn, jsRuntime, messageText, type Runtime, variable } from "karst"
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
  get all(): string[] {
    return [...this.#made]
  }
  fill(names: string[]): this {
    this.#made = [...names]
    return this
  }
}

const inPlace = {
  charts: codec(Charts, {
    encode: (charts) => charts.all,
    decode: (names, current = new Charts()) => current.fill(names),
  }),
}
const anew = { charts: codec(Charts, { encode: ({ all }) => ({ all }), decode: ({ all }) => new Charts().fill(all) }) }

interface Kind {
  make(bindings: Record<string, unknown>, options: { codecs?: Codecs }): Runtime
  add(name: string): string
  count: string
}

const typescript = { add: (name: string) => `await charts.add("${name}")`, count: "(await charts.all).length" }
const kinds: Record<string, Kind> = {
  jsRuntime: { ...typescript, make: (bindings, options) => jsRuntime(bindings, options) },
  processRuntime: { ...typescript, make: (bindings, options) => processRuntime(bindings, options) },
  pythonRuntime: {
    add: (name) => `charts.add("${name}")`,
    count: "len(charts.all)",
    make: (bindings, options) => pythonRuntime(bindings, options),
  },
}

async function ran(runtime: Runtime, code: string): Promise<unknown> {
  const execution = await runtime.execute(code)
  assert.ok(execution.ok, JSON.stringify(execution))
  return execution.value
}

for (const [name, { make, add, count }] of Object.entries(kinds)) {
  describe(`a codec in ${name}`, { skip: name === "pythonRuntime" ? requires("python") : undefined }, () => {
    test("keeps the state of an injected instance and gives it to the new one, which is not reported", async () => {
      await using first = make({ charts: new Charts() }, { codecs: inPlace })
      await ran(first, add("a"))
      const snapshot = (await first.snapshot?.()) ?? assert.fail()
      assert.deepEqual(snapshot.lost, [])
      const charts = new Charts()
      await using second = make({ charts }, { codecs: inPlace })
      assert.deepEqual(await second.restore?.(snapshot), [])
      assert.deepEqual(charts.all, ["a"], "the host's own object has the state")
      await ran(second, add("b"))
      assert.deepEqual(charts.all, ["a", "b"])
    })

    test("may make a new instance, which then has the name", async () => {
      await using first = make({ charts: new Charts() }, { codecs: anew })
      await ran(first, add("a"))
      const snapshot = (await first.snapshot?.()) ?? assert.fail()
      const charts = new Charts()
      await using second = make({ charts }, { codecs: anew })
      assert.deepEqual(await second.restore?.(snapshot), [])
      assert.equal(await ran(second, count), 1)
      assert.deepEqual(charts.all, [])
    })

    test("gives a fork an instance of its own", async () => {
      const charts = new Charts()
      await using runtime = make({ charts }, { codecs: inPlace })
      await ran(runtime, add("a"))
      await using fork = (await runtime.fork?.()) ?? assert.fail()
      await ran(fork, add("b"))
      assert.equal(await ran(fork, count), 2)
      assert.deepEqual(charts.all, ["a"])
    })

    test("keeps the state of a guarded instance, and the guard", async () => {
      const guard = { add: { maxCalls: 9 } }
      await using first = make({ charts: variable(new Charts(), { guard }) }, { codecs: anew })
      await ran(first, add("a"))
      const snapshot = (await first.snapshot?.()) ?? assert.fail()
      await using second = make({ charts: variable(new Charts(), { guard }) }, { codecs: anew })
      assert.deepEqual(await second.restore?.(snapshot), [])
      const calls: string[] = []
      const execution = await second.execute(add("b"), {
        callGate: async (call, next) => {
          calls.push(`${call.binding}.${call.method}`)
          return next()
        },
      })
      assert.ok(execution.ok, JSON.stringify(execution))
      assert.deepEqual(calls, ["charts.add"])
      assert.equal(await ran(second, count), 2)
    })

    test("that is missing when the snapshot is restored, or fails, is named", async () => {
      await using first = make({ charts: new Charts() }, { codecs: inPlace })
      await ran(first, add("a"))
      const snapshot = (await first.snapshot?.()) ?? assert.fail()
      await using second = make({ charts: new Charts() }, {})
      const lost = (await second.restore?.(snapshot)) ?? []
      assert.deepEqual(
        lost.map(({ name, reason }) => `${name}: ${reason}`),
        ['charts: there is no codec "charts" in this runtime'],
      )
      const failing = {
        charts: codec(Charts, {
          encode: (): string[] => {
            throw new Error("no")
          },
          decode: (names) => new Charts().fill(names),
        }),
      }
      await using third = make({ charts: new Charts() }, { codecs: failing })
      await ran(third, add("a"))
      const { lost: notKept = [] } = (await third.snapshot?.()) ?? {}
      assert.deepEqual(
        notKept.map(({ name, reason }) => `${name}: ${reason}`),
        ["charts: the codec charts failed: no"],
      )
    })
  })
}

test("an option that is no codec is refused with the cure", () => {
  const wrong = { charts: Charts } as unknown as Codecs
  assert.throws(() => processRuntime({}, { codecs: wrong }), /"charts", which is not a codec: use codec\(Class/)
})

test("the host state of a snapshot may not hold code", async () => {
  await using source = jsRuntime()
  await ran(source, "function attack() { return 1 }")
  const { data } = await source.snapshot()
  const { prependHostState: withHostState } = await import("../../../src/runtime/host-object-state.ts")
  await using runtime = processRuntime({ charts: new Charts() }, { codecs: inPlace })
  const forged = withHostState(await runtime.snapshot(), data)
  await assert.rejects(runtime.restore(forged), /the state of its host objects holds code/)
})

test("with a codec a durable run goes on with the state of an instance, and the model is told nothing", async () => {
  const store = memoryStore()
  const steps = ['charts.add("a")', "await pause()", 'charts.add("b")', "charts.all.length"]
  const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length
  const agent = createAgent({
    model: scriptedModel((request) => (steps[turn(request)] ? `\`\`\`ts\n${steps[turn(request)]}\n\`\`\`` : "Done.")),
    runtime: () =>
      jsRuntime({ charts: new Charts(), pause: fn(async () => 1, { approve: true }) }, { codecs: inPlace }),
  })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Go")
  const { pending } = await first.result(id)
  await first.close()
  await using second = createEngine({ agents: { agent }, store })
  await second.approve(id, pending?.id ?? "", "allow")
  const { messages } = await second.result(id)
  assert.match(JSON.stringify(messages.at(-2)), /<output>\\n2\\n/)
  assert.ok(!messages.some((message) => messageText(message).includes("created anew")))
})
