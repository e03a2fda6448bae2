// The types of the values in an agent's runtime. The compiler checks them; the tests also run.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { type CodeAgent, type CodeSession, createAgent } from "../../src/agent/create-agent.ts"
import type { Agent, Run } from "../../src/core/agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { classType, fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { type ProcessRuntimeOptions, processRuntime } from "../../src/runtime/process.ts"
import { type PythonRuntimeOptions, py, pythonRuntime } from "../../src/runtime/python.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import type { RuntimeContext, RuntimeOf } from "../../src/runtime/typed-runtime.ts"
import { cell } from "./scripted-agents.ts"

class Light {
  brightness = 1
}

interface Model {
  predict(month: number): Promise<number>
}

// True if two types are identical.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(holds: Same<A, B>): void => assert.ok(holds)

const model = scriptedModel(() => "Done.")

describe("the values of an agent's runtime", () => {
  test("are typed by the bindings of a shared runtime", async () => {
    const add = (count: number) => count + 1
    const runtime = jsRuntime({ light: variable(new Light(), "In the hall"), add: fn(add), Light: classType(Light) })
    const agent = createAgent({ model, runtime })
    same<typeof agent, CodeAgent<{ light: Light; add: typeof add; Light: typeof Light }>>(true)
    const light = await agent.runtime?.retrieve("light")
    same<typeof light, Light | undefined>(true)
    assert.equal(light?.brightness, 1)
    // @ts-expect-error: the name is mistyped.
    await assert.rejects(async () => agent.runtime?.retrieve("ligth"), /light/)
  })

  test("are typed by the runtime that a factory creates, in runs, sessions and forks", async () => {
    const agent = createAgent({ model, runtime: async () => jsRuntime({ light: new Light() }) })
    const run = agent.run("Go")
    await run
    const light = await run.runtime?.retrieve("light")
    same<typeof light, Light | undefined>(true)
    assert.equal(light?.brightness, 1)
    // @ts-expect-error: the name is mistyped.
    await assert.rejects(async () => run.runtime?.retrieve("ligth"), /light/)
    await using session = await agent.session()
    same<typeof session, CodeSession<{ light: Light }>>(true)
    assert.equal((await session.runtime.retrieve("light")).brightness, 1)
    // @ts-expect-error: the name is mistyped.
    await assert.rejects(session.runtime.retrieve("ligth"), /light/)
    await using fork = await session.fork?.()
    assert.equal((await fork?.runtime.retrieve("light"))?.brightness, 1)
    const sent = session.send("On")
    await sent
    assert.equal((await sent.runtime?.retrieve("light"))?.brightness, 1)
  })

  test("are typed in verify, together with the declared outputs", async () => {
    const scripted = scriptedModel([cell("const total = light.brightness + 1"), "Two."])
    const agent = createAgent({ model: scripted, runtime: () => jsRuntime({ light: new Light() }) })
    const run = agent.run("Add", {
      outputs: { total: z.number() },
      async verify(runtime, result) {
        const [light, total] = [await runtime.retrieve("light"), await runtime.retrieve("total")]
        same<typeof light, Light>(true)
        same<typeof total, number>(true)
        // @ts-expect-error: neither a binding nor an output has this name.
        await assert.rejects(runtime.retrieve("totl"), /total/)
        return light.brightness === 1 && total === 2 && result.objects.total === 2
      },
    })
    const { verdict } = await run
    assert.equal(verdict?.pass, true)
    const total = await run.runtime?.retrieve("total")
    same<typeof total, number | undefined>(true)
    assert.equal(total, 2)
  })

  test("include an output as cells assign it, which its schema may convert", async () => {
    const scripted = scriptedModel([cell("const day = '2026-01-02'"), "Done."])
    const run = createAgent({ model: scripted }).run("Which day?", {
      outputs: { day: { schema: z.string().transform((text) => new Date(text)) } },
    })
    const result = await run
    assert.ok(result.status === "done")
    same<typeof result.objects.day, Date>(true)
    const day = await run.runtime?.retrieve("day")
    same<typeof day, string | undefined>(true)
    assert.equal(day, "2026-01-02")
  })

  test("change with another runtime in the options of a run, of a session and of `with`", async () => {
    const agent = createAgent({ model, runtime: jsRuntime({ light: new Light() }) })
    const other = jsRuntime({ lamp: 5 })
    const run = agent.run("Go", {
      runtime: other,
      async verify(runtime) {
        // @ts-expect-error: the runtime of the run does not have this name.
        await assert.rejects(runtime.retrieve("light"), /lamp/)
        return (await runtime.retrieve("lamp")) === 5
      },
    })
    assert.equal((await run).verdict?.pass, true)
    await using session = await agent.session({ runtime: () => jsRuntime({ lamp: 5 }) })
    const changed = agent.with({ runtime: other })
    const lamps = [
      await run.runtime?.retrieve("lamp"),
      await session.runtime.retrieve("lamp"),
      await changed.runtime?.retrieve("lamp"),
    ]
    same<typeof lamps, (number | undefined)[]>(true)
    assert.deepEqual(lamps, [5, 5, 5])
    const renamed = agent.with({ name: "other" })
    same<typeof renamed, typeof agent>(true)
  })

  test("are unknown for an agent without bindings and for a runtime of unknown names", async () => {
    const plain: Runtime = jsRuntime({ light: new Light() })
    const agents = [createAgent({ model }), createAgent({ model, runtime: plain })]
    same<typeof agents, CodeAgent[]>(true)
    const light = await agents[1]?.runtime?.retrieve("light")
    same<typeof light, unknown>(true)
    assert.ok(light instanceof Light)
    const own = createAgent({ model, runtime: () => jsRuntime() })
    same<typeof own, CodeAgent>(true)
  })

  test("are typed for process and Python runtimes as far as their bindings are known", () => {
    const inProcess = (options: ProcessRuntimeOptions) =>
      createAgent({ model, runtime: () => processRuntime({ light: new Light() }, options) })
    same<ReturnType<typeof inProcess>, CodeAgent<{ light: Light }>>(true)
    const bindings = { model: py<Model>("models:trend"), months: variable([1, 2], "Months") }
    const inPython = (options: PythonRuntimeOptions) =>
      createAgent({ model, runtime: ({ session }) => pythonRuntime({ ...bindings, session }, options) })
    same<ReturnType<typeof inPython>, CodeAgent<{ model: Model; months: number[]; session: string | undefined }>>(true)
    const ofSetup = (setup: string) => createAgent({ model, runtime: () => pythonRuntime({}, { setup }) })
    same<ReturnType<typeof ofSetup>, CodeAgent>(true)
  })

  test("need not be the same in each runtime that a factory may return", async () => {
    const create = (dark: boolean) =>
      createAgent({
        model,
        runtime: () => (dark ? jsRuntime({ light: new Light() }) : jsRuntime({ light: new Light(), lamp: 5 })),
      })
    await using session = await create(true).session()
    assert.equal((await session.runtime.retrieve("light")).brightness, 1)
  })
})

test("an agent of known values is an agent of any values", () => {
  const agent = createAgent({ model, runtime: jsRuntime({ light: new Light() }) })
  const agents: Record<string, Agent> = { agent }
  const general: CodeAgent = agent
  const fewer: CodeAgent<Record<never, never>> = agent
  const start = (used: CodeAgent): Run => used.run("Go")
  const runtime: Runtime | undefined = agent.runtime
  const known: RuntimeOf<{ light: Light }> | undefined = agent.runtime
  // @ts-expect-error: it has no lamp.
  const wrong: CodeAgent<{ lamp: number }> = agent
  assert.ok(agents.agent === general && fewer === general && wrong && runtime === known && start)
})

test("a factory receives the session, the metadata and the signal, and no other names", () => {
  createAgent({
    model,
    runtime(context) {
      same<typeof context, RuntimeContext>(true)
      // @ts-expect-error: there is no such fact.
      return jsRuntime({ user: context.metadata.user, other: context.sesion })
    },
  })
})
