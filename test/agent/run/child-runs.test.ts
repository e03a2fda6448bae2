import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import type { Agent, RunResult } from "../../../src/core/agent.ts"
import { ModelError } from "../../../src/core/errors.ts"
import { outsideRuns } from "../../../src/core/run-context.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import {
  cell,
  collectRun,
  endlessStep,
  onlyEvent,
  resultShownToModel,
  runIdsOf,
  scriptedAgent,
  usage,
} from "../scripted-agents.ts"

describe("an agent in another's runtime", () => {
  test("is set, run and read by the cells of the other", async () => {
    const rows = [{ n: 1 }, { n: null }]
    const runtime = jsRuntime({ data: variable<typeof rows>([]), cleaned: variable<typeof rows>([]) })
    const cleaner = scriptedAgent("cleaner", [cell("cleaned = data.filter((row) => row.n !== null)"), "Cleaned."], {
      runtime,
    })
    const code = `
      await cleaner.runtime.update({ data: rows })
      const { status, output } = await cleaner.run("clean it")
      const cleaned = await cleaner.runtime.retrieve("cleaned")
      console.log(status, output, cleaned.length, cleaned[0] === rows[0])`
    const model = scriptedModel([cell(code), "Done."])
    await createAgent({ model, runtime: jsRuntime({ rows, cleaner }) }).run("go")
    assert.match(resultShownToModel(model), /done Cleaned\. 1 true/)
    assert.equal((await runtime.retrieve("cleaned"))[0], rows[0])
  })

  test("shows cells no more than they need, and is still itself for its owner", async () => {
    const cleaner = scriptedAgent("cleaner", [], { description: "Cleans rows", runtime: jsRuntime() })
    const runtime = jsRuntime({ cleaner, own: variable<unknown>(undefined), same: (it: unknown) => it === cleaner })
    const execution = await runtime.execute(`own = cleaner
      ;[Object.keys(cleaner), Object.keys(cleaner.runtime), await same(cleaner)]`)
    assert.ok(execution.ok)
    assert.deepEqual(execution.value, [
      ["name", "description", "run", "runAll", "runtime"],
      ["update", "retrieve", "describe"],
      true,
    ])
    assert.equal(await runtime.retrieve("cleaner"), cleaner)
    assert.equal(await runtime.retrieve("own"), cleaner)
  })

  test("takes from a cell what its owner can trust it with, and says what that is", async () => {
    const cleaner = scriptedAgent("cleaner", ["Never said."])
    const model = scriptedModel([cell('await cleaner.run("go", { approve: () => true })'), "Done."])
    await createAgent({ model, runtime: jsRuntime({ cleaner }) }).run("go")
    assert.match(resultShownToModel(model), /run: unknown option approve\. There is values, outputs\./)
  })

  test("is given values before it begins, and gives back the outputs it was asked for", async () => {
    const adder = scriptedAgent("adder", [cell("total = rows[0] + rows[1]"), "Added."], {
      runtime: () => jsRuntime({ rows: variable<number[]>([]) }),
    })
    const code = `const { objects } = await adder.run("add", {
        values: { rows: [2, 3] }, outputs: { total: { type: "number" } } })
      objects`
    const model = scriptedModel([cell(code), "Done."])
    await createAgent({ model, runtime: jsRuntime({ adder }) }).run("go")
    assert.match(resultShownToModel(model), /total: 5/)
  })

  test("leaves no runtime open that was made for its run", async () => {
    const made = jsRuntime()
    const helper = scriptedAgent("helper", ["Done."], { runtime: () => made })
    await scriptedAgent("boss", [cell('await helper.run("go")'), "Done."], { runtime: jsRuntime({ helper }) }).run("go")
    await assert.rejects(made.names(), /is closed/)
  })
})

test("a cell that is rolled back says that an agent was run, and the agent is still there", async () => {
  const child = scriptedAgent("child", ["One.", "Two."])
  const cells = ['const reply = await child.run("go")\nthrow new Error("no")', '(await child.run("go")).output']
  const model = scriptedModel([...cells.map((code) => cell(code)), "Done."])
  await createAgent({ model, runtime: jsRuntime({ child }), transaction: true }).run("go")
  assert.match(
    resultShownToModel(model, 1),
    /except: child\.run \(was called once: its effects outside the namespace are not undone; check them before you call it again\)/,
  )
  assert.match(resultShownToModel(model, 2), /Two\./)
})

test("an agent is bound again in a fork, and a name that a cell gave it is too", async () => {
  const child = scriptedAgent("child", ["One.", "Two.", "Three."])
  const runtime = jsRuntime({ child })
  await runtime.execute("const other = child")
  await using fork = (await runtime.fork?.()) ?? assert.fail()
  for (const name of ["child", "other"]) {
    const execution = await fork.execute(`(await ${name}.run("go")).status`)
    assert.ok(execution.ok && execution.value === "done", name)
  }
  assert.equal(await retrieveAny(fork, "other"), child)
})

describe("the failure of a child", () => {
  const failing = () => new ModelError("no such model", { code: "not-found" })
  const replies: [string, Agent, RegExp][] = [
    ["a model that fails", scriptedAgent("child", [failing()]), /'failed'.*error: 'ModelError: no such model'/s],
    ["a limit", scriptedAgent("child", [cell("1")], { limits: { cycles: 1 } }), /'stopped'.*reason: 'cycles'/s],
    [
      "a runtime that cannot be made",
      scriptedAgent("child", [], { runtime: () => Promise.reject(new Error("no memory")) }),
      /'failed'.*error: 'Error: no memory'/s,
    ],
    [
      "values for names that are not there",
      scriptedAgent("child", [], { runtime: jsRuntime({ data: 1 }) }),
      /'failed'.*ConfigError.*there is no "rows"; there is "data"/s,
    ],
  ]
  for (const [what, child, expected] of replies) {
    test(`is data to the parent: ${what}`, async () => {
      const options = what.startsWith("values") ? ", { values: { rows: [] } }" : ""
      const model = scriptedModel([cell(`await child.run("go"${options})`), "I see."])
      const result = await createAgent({ model, runtime: jsRuntime({ child }) }).run("go")
      assert.match(resultShownToModel(model), expected)
      assert.equal(result.output, "I see.")
    })
  }

  test("that is no run at all is an error in the cell", async () => {
    const child = scriptedAgent("child", [])
    const model = scriptedModel([cell('await child.run("go", { outputs: { "no name": {} } })'), "I see."])
    await createAgent({ model, runtime: jsRuntime({ child }) }).run("go")
    assert.match(resultShownToModel(model), /ConfigError: outputs: "no name" cannot be the name of a variable/)
  })
})

describe("events of a child", () => {
  test("are told in its parent's stream as they are, each once, within the call that started it", async () => {
    const child = scriptedAgent("child", [cell("1"), "Done."])
    const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
    const { events } = await collectRun(boss.run("go"))
    const [bossRun] = runIdsOf(events, "boss")
    const [childRun] = runIdsOf(events, "child")
    const ofChild = events.filter((event) => event.run === childRun)
    assert.deepEqual(new Set(ofChild.map((event) => event.parent)), new Set([bossRun]))
    for (const run of [bossRun, childRun]) {
      const counted = events.filter((event) => event.run === run).map((event) => event.seq)
      assert.deepEqual(
        counted,
        counted.map((_, index) => index),
      )
    }
    const order = events.map((event) => `${event.run === bossRun ? "boss" : "child"} ${event.type}`)
    assert.ok(order.indexOf("boss call-start") < order.indexOf("child run-start"))
    assert.ok(order.indexOf("child run-end") < order.indexOf("boss call-end"))
    assert.equal(events.at(-1)?.run, bossRun)
  })

  test("go up to the first run through every run between, with their direct parent", async () => {
    const low = scriptedAgent("low", ["Low."])
    const middle = scriptedAgent("middle", [cell('await low.run("go")'), "Middle."], { runtime: jsRuntime({ low }) })
    const top = scriptedAgent("top", [cell('await middle.run("go")'), "Top."], { runtime: jsRuntime({ middle }) })
    const { events, result } = await collectRun(top.run("go"))
    const [topRun] = runIdsOf(events, "top")
    const [middleRun] = runIdsOf(events, "middle")
    assert.equal(onlyEvent(events, "run-start", "top").parent, undefined)
    assert.equal(onlyEvent(events, "run-start", "middle").parent, topRun)
    assert.equal(onlyEvent(events, "run-start", "low").parent, middleRun)
    assert.deepEqual(
      events.filter((event) => event.type === "run-end").map((event) => event.output),
      ["Low.", "Middle.", "Top."],
    )
    assert.deepEqual(result.usage, { input: 50, output: 25, complete: true })
    assert.equal(onlyEvent(events, "run-end", "middle").usage.input, 30)
  })

  test("are in the record of the parent, which is folded from its own", async () => {
    const child = scriptedAgent("child", ["From the child."])
    const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
    const { trajectory, messages } = await boss.run("go")
    assert.equal(trajectory.runs.length, 1)
    assert.equal(trajectory.messages.length, 4)
    assert.equal(messages.length, 4)
    assert.equal(runIdsOf(trajectory.events).size, 2)
    assert.deepEqual(trajectory.usage, { input: 30, output: 15, complete: true })
  })

  test("make up the child's own record, as if nobody had started it", async () => {
    const child = scriptedAgent("child", [cell("1"), "Done."])
    const results: RunResult[] = []
    const ask = async () => void results.push(await child.run("go"))
    await scriptedAgent("boss", [cell("await ask()"), "Done."], { runtime: jsRuntime({ ask }) }).run("go")
    const [result] = results
    assert.equal(result?.messages.length, 4)
    assert.equal(result?.trajectory.runs.length, 1)
    assert.deepEqual(result?.trajectory.usage, { input: 20, output: 10, complete: true })
  })
})

describe("what a child uses", () => {
  test("is counted once: by its own run, and by the cycle of the parent that it ran in", async () => {
    const child = scriptedAgent("child", [cell("1"), "Done."])
    const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
    const { events, result } = await collectRun(boss.run("go"))
    const [bossRun] = runIdsOf(events, "boss")
    const cycles = events.filter((event) => event.type === "cycle-end" && event.run === bossRun)
    assert.deepEqual(
      cycles.map((event) => event.type === "cycle-end" && event.usage.input),
      [30, 10],
    )
    assert.deepEqual(result.usage, { input: 40, output: 20, complete: true })
  })

  test("makes the parent's usage incomplete where it is not known", async () => {
    const child = createAgent({ model: scriptedModel(["Done."]) })
    const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
    assert.equal((await boss.run("go")).usage.complete, false)
  })

  test("counts against the tokens of every run above while it works, and stops it", async () => {
    const low = scriptedAgent("low", [cell("1"), cell("2"), cell("3"), cell("4"), cell("5")])
    const middle = scriptedAgent("middle", [cell('await low.run("go")'), "Done."], { runtime: jsRuntime({ low }) })
    const top = scriptedAgent("top", [cell('await middle.run("go")'), "Done."], {
      runtime: jsRuntime({ middle }),
      limits: { tokens: 60 },
    })
    const { events, result } = await collectRun(top.run("go"))
    for (const agent of ["low", "middle", "top"]) {
      const { status, reason } = onlyEvent(events, "run-end", agent)
      assert.deepEqual([status, reason], ["stopped", "tokens"], agent)
    }
    assert.equal(onlyEvent(events, "run-end", "low").cycles, 2)
    assert.equal(result.usage.input, 40)
  })

  test("is time of the run above: a child is stopped with it, and not aborted", async () => {
    const { step } = endlessStep()
    const child = scriptedAgent("child", [step])
    const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
      runtime: jsRuntime({ child }),
      limits: { timeMs: 50 },
    })
    const { events, result } = await collectRun(boss.run("go"))
    assert.deepEqual([result.status, result.reason], ["stopped", "time"])
    assert.deepEqual(
      [onlyEvent(events, "run-end", "child").status, onlyEvent(events, "run-end", "child").reason],
      ["stopped", "time"],
    )
  })

  test("must be known in money where a run above may cost only so much", async () => {
    const child = scriptedAgent("child", ["Never said."])
    const price = { input: 1, output: 1 }
    const model = scriptedModel([cell('await child.run("go")'), "Done."], { usage, price })
    const boss = createAgent({ name: "boss", model, runtime: jsRuntime({ child }), limits: { costUsd: 1 } })
    await boss.run("go")
    assert.match(
      resultShownToModel(model),
      /"child" was not run: the price of "scripted\/model" is not known, and "boss"/,
    )
  })

  test("costs the run above until that may cost no more", async () => {
    const price = { input: 1e5, output: 0 }
    const priced = (steps: string[]) => scriptedModel(steps, { usage, price })
    const child = createAgent({ name: "child", model: priced([cell("1"), cell("2"), cell("3")]) })
    const model = priced([cell('await child.run("go")'), "Done."])
    const boss = createAgent({ name: "boss", model, runtime: jsRuntime({ child }), limits: { costUsd: 3 } })
    const { events, result } = await collectRun(boss.run("go"))
    assert.deepEqual(
      [onlyEvent(events, "run-end", "child").status, onlyEvent(events, "run-end", "child").reason],
      ["stopped", "cost"],
    )
    assert.deepEqual([result.status, result.reason, result.usage.costUsd], ["stopped", "cost", 3])
  })
})

describe("the end of a run", () => {
  test("by abort is that of all below it, before it tells its own", async () => {
    const { step, begun } = endlessStep()
    const low = scriptedAgent("low", [step])
    const middle = scriptedAgent("middle", [cell('await low.run("go")'), "Done."], { runtime: jsRuntime({ low }) })
    const top = scriptedAgent("top", [cell('await middle.run("go")'), "Done."], { runtime: jsRuntime({ middle }) })
    const run = top.run("go")
    void begun.then(() => run.abort("enough"))
    const { events } = await collectRun(run)
    assert.deepEqual(
      events.filter((event) => event.type === "run-end").map((event) => event.status),
      ["aborted", "aborted", "aborted"],
    )
    assert.equal(events.at(-1)?.run, run.id)
  })

  test("comes to a child when the cell that waits for it is out of time, and the parent goes on", async () => {
    const { step } = endlessStep()
    const child = scriptedAgent("child", [step])
    const model = scriptedModel([cell('await child.run("go")'), "It took too long."], { usage })
    const boss = createAgent({ name: "boss", model, runtime: jsRuntime({ child }), cellTimeoutMs: 30 })
    const { events, result } = await collectRun(boss.run("go"))
    assert.equal(onlyEvent(events, "run-end", "child").status, "aborted")
    assert.match(resultShownToModel(model), /it ran longer than 30 ms/)
    assert.deepEqual([result.status, result.output], ["done", "It took too long."])
  })

  test("does not wait for a child's runtime that is never made", async () => {
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const never = () => {
      resolve()
      return new Promise<never>(() => undefined)
    }
    const child = scriptedAgent("child", [], { runtime: never })
    const run = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) }).run(
      "go",
    )
    void begun.then(() => run.abort())
    const { events } = await collectRun(run)
    assert.equal(onlyEvent(events, "run-end", "child").status, "aborted")
    assert.equal(onlyEvent(events, "run-end", "boss").status, "aborted")
  })

  test("comes to a child that nobody waited for", async () => {
    const { step } = endlessStep()
    const child = scriptedAgent("child", [step])
    const start = () => void child.run("go").catch(() => undefined)
    const boss = scriptedAgent("boss", [cell("await start()"), "Done."], { runtime: jsRuntime({ start }) })
    const { events, result } = await collectRun(boss.run("go"))
    assert.equal(onlyEvent(events, "run-end", "child").status, "aborted")
    assert.equal(events.at(-1)?.run, result.id)
    assert.equal(result.status, "done")
  })

  test("does not concern what its observers start", async () => {
    const logger = scriptedAgent("logger", ["Logged."])
    const logged: Promise<RunResult>[] = []
    const boss = scriptedAgent("boss", [cell("1"), "Done."], {
      onEvent: (event) => event.type === "code-end" && logged.push(logger.run("log it").settled),
    })
    const { events } = await collectRun(boss.run("go"))
    assert.deepEqual([...runIdsOf(events, "logger")], [])
    assert.equal((await logged[0])?.output, "Logged.")
  })

  test("leaves alone what a function started outside of runs", async () => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const job = scriptedAgent("job", [cell("await open()"), "Done."], {
      runtime: () => jsRuntime({ open: () => open }),
    })
    const started: Promise<RunResult>[] = []
    const enqueue = () => outsideRuns(() => void started.push(job.run("go").settled))
    const boss = scriptedAgent("boss", [cell("await enqueue()"), "Done."], { runtime: jsRuntime({ enqueue }) })
    const { events } = await collectRun(boss.run("go"))
    assert.deepEqual([...runIdsOf(events, "job")], [])
    go()
    const [result] = await Promise.all(started)
    assert.equal(result?.status, "done")
    assert.equal(result?.trajectory.events[0]?.parent, undefined)
  })

  test("makes it nobody's parent: what it left behind starts runs of their own", async () => {
    const child = scriptedAgent("child", ["Done."])
    const { promise, resolve } = Promise.withResolvers<RunResult>()
    const { promise: gone, resolve: go } = Promise.withResolvers<void>()
    const later = () => void gone.then(async () => resolve(await child.run("go")))
    const boss = scriptedAgent("boss", [cell("await later()"), "Done."], { runtime: jsRuntime({ later }) })
    await boss.run("go")
    go()
    const { trajectory } = await promise
    assert.equal(trajectory.events[0]?.parent, undefined)
  })
})

describe("runs inside runs", () => {
  const recursive = (options = {}) => {
    const model = scriptedModel(({ messages }) => {
      const last =
        messages
          .at(-1)
          ?.parts.map((part) => ("text" in part ? part.text : ""))
          .join("") ?? ""
      return last.includes("<") ? last : cell('const reply = await self.run("deeper")\nreply.output')
    })
    const runtime = jsRuntime()
    const agent = createAgent({ name: "self", model, runtime, ...options })
    return { agent, ready: runtime.inject({ self: agent }) }
  }

  test("end at a depth, with an error that names them all", async () => {
    const { agent, ready } = recursive()
    await ready
    const { events } = await collectRun(agent.run("go"))
    assert.equal(runIdsOf(events).size, 5)
    const failed = events.find((event) => event.type === "code-end" && !event.ok)
    assert.ok(failed?.type === "code-end")
    assert.match(
      failed.text,
      /"self" was not run: runs may be nested 5 deep, and these are already: self → self → self → self → self\./,
    )
  })

  test("end at the depth that a run above asks for", async () => {
    const { agent, ready } = recursive({ limits: { depth: 2 } })
    await ready
    assert.equal(runIdsOf((await collectRun(agent.run("go"))).events).size, 2)
  })

  test("may come back to an agent and its runtime, whose cell waits meanwhile", async () => {
    const runtime = jsRuntime({ note: variable<string[]>([]) })
    const first = createAgent({
      name: "first",
      runtime,
      model: scriptedModel([
        cell('note.push("a"); await second.run("go"); note.push("c")'),
        cell('note.push("b")'),
        "Inner.",
        "Outer.",
      ]),
    })
    const second = scriptedAgent("second", [cell('(await first.run("go")).output'), "Second."], {
      runtime: jsRuntime({ first }),
    })
    await runtime.inject({ second })
    const result = await first.run("go")
    assert.equal(result.output, "Outer.")
    assert.deepEqual(await runtime.retrieve("note"), ["a", "b", "c"])
  })
})

describe("a session", () => {
  test("does not wait for itself: a send from within its run is refused", async () => {
    const runtime = jsRuntime()
    const model = scriptedModel([cell('await again("more")'), "Done."])
    await using session = await createAgent({ model, runtime }).session()
    await runtime.inject({ again: fn((prompt: string) => session.send(prompt)) })
    await session.send("go")
    assert.match(resultShownToModel(model), /would wait for itself\. Use followUp/)
  })

  test("takes a prompt from within its run for after it, in a run of its own", async () => {
    const runtime = jsRuntime()
    await using session = await scriptedAgent("boss", [cell('await again("more")'), "First.", "Second."], {
      runtime,
    }).session()
    const { promise, resolve } = Promise.withResolvers<Promise<RunResult>>()
    await runtime.inject({ again: (prompt: string) => void resolve(session.followUp(prompt).settled) })
    assert.equal((await session.send("go")).output, "First.")
    const after = await promise
    assert.equal(after.output, "Second.")
    assert.equal(after.trajectory.events[0]?.parent, undefined)
  })
})
