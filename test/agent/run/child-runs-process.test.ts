// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import {
  cell,
  collectRun,
  endlessStep,
  onlyEvent,
  resultShownToModel,
  runIdsOf,
  scriptedAgent,
} from "../scripted-agents.ts"

class Ledger {
  total = 0
  add(amount: number) {
    this.total += amount
  }
}

test("an orchestrator in another process sets, runs and reads agents of the host", async () => {
  const cleaning = jsRuntime({ data: variable<number[]>([]), cleaned: variable<number[]>([]) })
  const cleaner = scriptedAgent("cleaner", [cell("cleaned = data.filter((n) => n > 0)"), "Cleaned."], {
    runtime: cleaning,
  })
  const code = `await cleaner.runtime.update({ data: rows })
    const reply = await cleaner.run("clean it")
    const cleaned = await cleaner.runtime.retrieve("cleaned")
    console.log(reply.status, reply.output, cleaned)`
  await using runtime = processRuntime({ rows: [3, -1, 4], cleaner })
  const model = scriptedModel([cell(code), "Done."])
  const { events, result } = await collectRun(createAgent({ name: "boss", model, runtime }).run("go"))
  assert.match(resultShownToModel(model), /done Cleaned\. \[ 3, 4 \]/)
  assert.equal(onlyEvent(events, "run-start", "cleaner").parent, result.id)
  const calls = events.flatMap((event) =>
    event.type === "call-start" ? `${event.call.binding}.${event.call.method}` : [],
  )
  assert.deepEqual(calls, ["cleaner.runtime.update", "cleaner.run", "cleaner.runtime.retrieve"])
  assert.equal(await runtime.retrieve("cleaner"), cleaner)
})

test("what has behaviour goes from one process to the next and stays the host's own object", async () => {
  const ledger = new Ledger()
  await using books = processRuntime({
    ledger: variable<Ledger | undefined>(undefined, { type: "Ledger | undefined" }),
  })
  const clerk = scriptedAgent("clerk", [cell("await ledger.add(5)"), "Booked."], { runtime: books })
  const code = `await clerk.runtime.update({ ledger })
    await clerk.run("book it")
    const same = await clerk.runtime.retrieve("ledger")
    await same.add(2)`
  await using runtime = processRuntime({ ledger, clerk })
  const model = scriptedModel([cell(code), "Done."])
  await createAgent({ model, runtime }).run("go")
  assert.equal(ledger.total, 7, resultShownToModel(model))
})

test("an abort of the orchestrator ends its children and nothing is left running", async () => {
  const { step, begun } = endlessStep()
  const child = scriptedAgent("child", [step])
  await using runtime = processRuntime({ child })
  const run = scriptedAgent("boss", [cell('await child.runAll(["a", "b"])'), "Done."], { runtime }).run("go")
  void begun.then(() => run.abort())
  const { events } = await collectRun(run)
  assert.ok(events.filter((event) => event.type === "run-end").every((event) => event.status === "aborted"))
  assert.equal(events.at(-1)?.run, run.id)
})

test("calls from another process belong to the run that made them, not to the one that started the process", async () => {
  const child = scriptedAgent("child", ["One.", "Two.", "Three."])
  await using runtime = processRuntime({ child })
  for (const name of ["first", "second"]) {
    const boss = scriptedAgent(name, [cell('await child.run("go")'), "Done."], { runtime })
    const { events, result } = await collectRun(boss.run("go"))
    assert.equal(onlyEvent(events, "run-start", "child").parent, result.id)
    assert.equal(result.usage.input, 30)
  }
})

test("runs that come back to a process through another let each other in", async () => {
  await using one = processRuntime({ steps: variable<string[]>([]) })
  await using two = processRuntime()
  const model = scriptedModel([
    cell('steps.push("a"); await second.run("go"); steps.push("c")'),
    cell('steps.push("b")'),
    "Inner.",
    "Outer.",
  ])
  const first = createAgent({ name: "first", model, runtime: one })
  const second = scriptedAgent("second", [cell('(await first.run("go")).output'), "Second."], { runtime: two })
  await one.inject({ second })
  await two.inject({ first })
  const { events, result } = await collectRun(first.run("go"))
  assert.equal(result.output, "Outer.")
  assert.deepEqual(await one.retrieve("steps"), ["a", "b", "c"])
  assert.equal(runIdsOf(events).size, 3)
})

test("approvals of a child in another process reach who watches the orchestrator in another", async () => {
  let wiped = 0
  await using inner = processRuntime({ wipe: fn(() => ++wiped, { approve: true }) })
  const child = scriptedAgent("child", [cell("await wipe()"), "Wiped."], { runtime: inner })
  await using outer = processRuntime({ child })
  const run = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
    runtime: outer,
    approver: "events",
  }).run("go")
  for await (const event of run) if (event.type === "approval-requested") run.approve(event.id, "allow")
  assert.equal(wiped, 1)
})

test("a refused depth is an error that the cell of another process sees", async () => {
  const child = scriptedAgent("child", ["Never said."])
  await using runtime = processRuntime({ child })
  const model = scriptedModel([cell('await child.run("go")'), "Done."])
  await createAgent({ name: "boss", model, runtime, limits: { depth: 1 } }).run("go")
  assert.match(
    resultShownToModel(model),
    /"child" was not run: runs may be nested 1 deep, and these are already: boss\./,
  )
})
