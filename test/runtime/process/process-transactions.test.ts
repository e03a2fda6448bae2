// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import { cellValue, errorOf } from "../cell-results.ts"

class Light {
  brightness = 1
  dim(to: number) {
    this.brightness = to
  }
}

test("a cell that throws in a transaction leaves the namespace as it was", async () => {
  await using runtime = processRuntime({ rows: [1] })
  await cellValue(runtime, "const kept = { a: 1 }; const same = kept")
  const execution = await runtime.execute("rows.push(2); kept.a = 2; const fresh = 1; throw new Error('no')", {
    transaction: true,
  })
  assert.equal(errorOf(execution).kind, "throw")
  assert.deepEqual(await cellValue(runtime, "[rows, kept, typeof fresh, same === kept]"), [
    [1],
    { a: 1 },
    "undefined",
    true,
  ])
})

test("a check on the host decides whether a cell stands", async () => {
  await using runtime = processRuntime({ total: 1 })
  const transaction = { check: async () => Number(await runtime.retrieve("total")) < 10 }
  assert.equal(await cellValue(runtime, "total += 1", { transaction }), 2)
  const refused = await runtime.execute("total += 100", { transaction })
  assert.equal(errorOf(refused).kind, "refused")
  assert.equal(await runtime.retrieve("total"), 2)
  const failing = { check: () => assert.fail("not like this") }
  assert.match(errorOf(await runtime.execute("total = 5", { transaction: failing })).message, /not like this/)
  assert.equal(await runtime.retrieve("total"), 2)
})

test("what a transaction did outside is named, calls of handles too", async () => {
  await using runtime = processRuntime({ light: new Light(), add: (a: number, b: number) => a + b })
  const execution = await runtime.execute("await light.dim(3); await add(1, 2); throw new Error('no')", {
    transaction: true,
  })
  assert.ok(!execution.ok)
  const names = execution.notRolledBack?.map(({ name }) => name) ?? []
  assert.ok(names.includes("light.dim") && names.includes("add"), names.join())
})

test("a transaction that stood can be undone until the next cell begins", async () => {
  await using runtime = processRuntime({ rows: [1] })
  const execution = await runtime.execute("rows.push(2)", { transaction: true })
  assert.ok(execution.ok && execution.undo)
  await execution.undo()
  assert.deepEqual(await runtime.retrieve("rows"), [1])
  const later = await runtime.execute("rows.push(3)", { transaction: true })
  await cellValue(runtime, "1")
  assert.ok(later.ok && later.undo)
  await assert.rejects(later.undo(), /too late/)
})

test("a crash in a transaction is a crash", async () => {
  await using runtime = processRuntime({ rows: [1] })
  const exit = "(await import('node:module')).createRequire('/')('process').exit(3)"
  const execution = await runtime.execute(`rows.push(2); ${exit}`, { transaction: true })
  assert.equal(errorOf(execution).kind, "crash")
  assert.deepEqual(await runtime.retrieve("rows"), [1])
})
