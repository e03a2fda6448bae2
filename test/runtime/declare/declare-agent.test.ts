import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { pythonRuntime, table } from "../../../src/runtime/python.ts"
import type { Runtime } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import { errorOf } from "../cell-results.ts"

class Row {
  amount = 1
}

function agentOn(runtime: Runtime | (() => Runtime), name = "cleaner") {
  return createAgent({ name, description: "Cleans rows", model: scriptedModel([]), runtime })
}

const cleaning = () => jsRuntime({ rows: variable([new Row()], "What to clean"), drop: fn(() => 1), limit: 3 })

for (const [name, make] of [
  ["jsRuntime", jsRuntime],
  ["processRuntime", processRuntime],
] as const) {
  test(`the variables of an agent's runtime are declared, with their types and without its functions, in a ${name}`, async () => {
    await using runtime = make({ cleaner: agentOn(cleaning()) })
    const text = await runtime.describe()
    assert.match(text, /^declare const cleaner: Agent<typeof CleanerObjects>$/m)
    const [inside = ""] = /declare namespace CleanerObjects \{\n[\s\S]*?\n\}/.exec(text) ?? []
    assert.match(inside, /\/\*\* What to clean \*\/\n {2}let rows: Row\[\]/)
    assert.match(inside, /^ {2}class Row \{/m)
    assert.match(inside, /^ {2}let limit: number/m)
    assert.doesNotMatch(inside, /drop|declare (?!namespace)/)
  })
}

test("an agent whose runs have runtimes of their own is not said to have one", async () => {
  const text = await jsRuntime({ cleaner: agentOn(() => cleaning()) }).describe()
  assert.match(text, /^declare const cleaner: Omit<Agent, "runtime">$/m)
  assert.doesNotMatch(text, /namespace/)
})

test("agents that have each other are each told of one deep", async () => {
  const [one, two] = [jsRuntime({ a: 1 }), jsRuntime({ b: 2 })]
  const [first, second] = [agentOn(one, "first"), agentOn(two, "second")]
  await one.inject({ second })
  await two.inject({ first })
  const text = await one.describe()
  assert.match(text, /declare const second: Agent<typeof SecondObjects>/)
  assert.match(text, /namespace SecondObjects \{\n {2}let b: number[^\n]*\n\}/)
})

test("a runtime that cannot tell what it holds does not keep the agent from being declared", async () => {
  const closed = cleaning()
  const cleaner = agentOn(closed)
  await closed.close()
  assert.match(await jsRuntime({ cleaner }).describe(), /^declare const cleaner: Agent$/m)
})

test("a Python runtime of an agent is told in Python's words", { skip: requires("python", "pandas") }, async () => {
  await using runtime = pythonRuntime({ sales: variable(table([{ amount: 1 }]), "The sales") })
  const text = await jsRuntime({ analyst: agentOn(runtime, "analyst") }).describe()
  assert.match(text, /Its runtime is Python's, and holds:\n \*\/? ?sales: .*DataFrame/)
  assert.match(text, /^declare const analyst: Agent$/m)
})

for (const [name, make] of [
  ["jsRuntime", jsRuntime],
  ["processRuntime", processRuntime],
] as const) {
  test(`the type gate of a ${name} knows what an agent can do`, { skip: requires("typescript") }, async () => {
    await using runtime = make({ cleaner: agentOn(cleaning()) })
    const wrong = await runtime.execute('await cleaner.start("go")', { typeGate: "block" })
    assert.equal(errorOf(wrong).kind, "type")
    const right = await runtime.execute(
      'const rows = await cleaner.runtime.retrieve("rows")\nconst made = await cleaner.runtime.retrieve("limit")\n;[rows.length, made]',
      { typeGate: "block" },
    )
    assert.ok(right.ok, right.ok ? "" : right.error.message)
    assert.deepEqual(right.value, [1, 3])
  })
}
