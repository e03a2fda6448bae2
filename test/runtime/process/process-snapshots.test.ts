// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { RuntimeSnapshot } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { cellValue } from "../cell-results.ts"

class Light {
  brightness = 1
  dim(to: number) {
    this.brightness = to
  }
}

const bindings = () => ({ rows: [1], light: new Light(), add: (a: number, b: number) => a + b })

test("a snapshot of one process is restored in another", async () => {
  await using one = processRuntime(bindings())
  await cellValue(
    one,
    "const made = new Map([['k', { deep: [1n] }]]); const twice = (n: number) => n * 2; rows.push(2)",
  )
  const snapshot = await one.snapshot()
  await using other = processRuntime(bindings())
  const lost = await other.restore(snapshot)
  assert.deepEqual(lost, [])
  assert.deepEqual(await cellValue(other, "[made.get('k'), twice(4), rows, await add(1, 2)]"), [
    { deep: [1n] },
    8,
    [1, 2],
    3,
  ])
  await cellValue(other, "await light.dim(5)")
})

test("what was restored is named when it is lost again", async () => {
  await using one = processRuntime()
  await cellValue(one, "const made = 1")
  const snapshot = await one.snapshot()
  await using other = processRuntime()
  await other.restore(snapshot)
  const execution = await other.execute("(await import('node:module')).createRequire('/')('process').exit(1)")
  assert.deepEqual(
    execution.lost?.map(({ name }) => name),
    ["made"],
  )
})

test("a fork has a copy of the namespace and the same host objects", async () => {
  const light = new Light()
  await using one = processRuntime({ light })
  await cellValue(one, "const list = [1]")
  await using other = await one.fork()
  await cellValue(other, "list.push(2); await light.dim(9)")
  assert.deepEqual(await retrieveAny(one, "list"), [1])
  assert.deepEqual(await retrieveAny(other, "list"), [1, 2])
  assert.equal(light.brightness, 9)
})

test("bytes that are no snapshot are refused, and the namespace stays", async () => {
  await using runtime = processRuntime()
  await cellValue(runtime, "const kept = 1")
  const data = new Uint8Array([1, 2, 3])
  const snapshot: RuntimeSnapshot = { version: 1, language: "typescript", data, hash: "x", lost: [] }
  await assert.rejects(runtime.restore(snapshot), { name: "AgentError", code: "invalid-snapshot" })
  const whole = await runtime.snapshot()
  const damaged = { ...whole, data: whole.data.with(-1, 0xff ^ (whole.data.at(-1) ?? 0)) }
  await assert.rejects(runtime.restore(damaged), { code: "invalid-snapshot" })
  assert.equal(await cellValue(runtime, "kept"), 1)
})

test("the largest names are left out of a snapshot that would be too large, and a fork has them all", async () => {
  await using runtime = processRuntime({}, { maxSnapshotBytes: 10_000 })
  await cellValue(runtime, "const small = 1; const large = 'x'.repeat(50_000)")
  const snapshot = await runtime.snapshot()
  assert.deepEqual(
    snapshot.lost.map(({ name }) => name),
    ["large"],
  )
  await using fork = await runtime.fork()
  assert.equal(await cellValue(fork, "large.length + small"), 50_001)
  assert.equal(fork.isolation, "process")
})
