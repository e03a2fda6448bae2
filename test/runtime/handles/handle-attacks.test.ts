// test lane: runtimes, long
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import type { CellExecution } from "../../../src/runtime/runtime.ts"
import { cellValue } from "../cell-results.ts"
import { rawChannel } from "../process/raw-channel.ts"
import { operations } from "./alter-frames.ts"
import { createLab } from "./attack-lab.ts"
import { attacks } from "./handle-attacks.ts"
import { memoryRuntime } from "./memory-peer.ts"

describe("no cell gets past the handles of its host:", () => {
  const lab = createLab()
  const { runtime, call, log } = lab
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(reason)
  const wiped = lab.plain.wipe

  before(() => void process.on("unhandledRejection", onUnhandled))
  after(async () => {
    process.off("unhandledRejection", onUnhandled)
    await runtime.close()
  })

  test("the way that attacks speak to the host is the one it understands", async () => {
    await cellValue(runtime, rawChannel)
    const code =
      "[await ask({ op: 'call', t: await idOf(light), p: ['dim'], v: [[50], {}] }), typeof x(), asking() > 0]"
    assert.deepEqual(await cellValue(runtime, code), [50, "string", true])
  })

  test("without a gate, the guarded functions do what they are guarded for", async () => {
    await cellValue(runtime, "await wipe(); await light.wipe(); await callNow(wipe); await aliased.erase(); 1")
    assert.deepEqual(log.splice(0), ["wipe", "light.wipe", "wipe", "aliased.wipe"])
  })

  for (const { number, kind, title, code, fatal, afterwards } of attacks) {
    test(`${number} ${kind}: ${title}`, async () => {
      lab.restore()
      await cellValue(runtime, rawChannel)
      const execution = await runtime.execute(code, { callGate: call, timeoutMs: 15_000 })
      const told = JSON.stringify(
        execution.ok ? [execution.value, execution.output, execution.hints] : tellError(execution),
      )
      assert.doesNotMatch(told ?? "", /escaped/, told)
      if (!fatal && !execution.ok) assert.equal(execution.error.kind, "throw", told)
      assert.ok((execution.hints ?? []).length <= 50, "few hints")
      await afterwards?.(lab)
      // Let callbacks that the cell left behind run.
      await new Promise((resolve) => setTimeout(resolve, 5))
      assert.deepEqual(log.splice(0), [], "nothing was called without approval")
      assert.deepEqual(unhandled.splice(0), [], "no rejection is left to the host")
      assertUnchanged()
      // The violation may be detected only after the cell was answered.
      if (fatal) await runtime.execute("await new Promise((go) => setTimeout(go, 100))")
      // The host still works, with this child or a new one.
      assert.equal(await cellValue(runtime, "await echo(1) + 1"), 2)
    })
  }

  function assertUnchanged() {
    const { light, plain, bag, aliased } = lab
    for (const each of [{}, [], light, "", () => 0]) assert.equal(Reflect.get(Object(each), "intruder"), undefined)
    assert.equal(Object.hasOwn(light, "wipe"), false)
    assert.equal(Object.hasOwn(aliased, "wipe"), false)
    assert.equal(plain.wipe, wiped)
    assert.equal(plain.name, "plain")
    assert.equal(Object.hasOwn(light, "dim"), false)
    assert.ok(light.items.length <= 4)
    assert.equal(Object.getPrototypeOf(light.config), Object.prototype)
    assert.ok(Object.values(light.config).every((value) => typeof value !== "function"))
    for (const key of ["then", "toJSON", "toString", "valueOf", "__proto__"]) {
      assert.equal(Object.hasOwn(bag, key) && typeof Reflect.get(bag, key) === "function", false, key)
    }
  }
})

function tellError(execution: Extract<CellExecution, { ok: false }>): unknown[] {
  return [execution.error, execution.output, execution.hints]
}

test("functions that a cell left with the host lead nowhere after a reset, an update and the end of the runtime", async () => {
  const lab = createLab()
  const { runtime, call, log, saved } = lab
  const callAll = async () => {
    const outcomes = await Promise.allSettled(saved.map(async (each) => await each()))
    return outcomes.map(({ status }) => status)
  }
  const leave = () =>
    runtime.execute("await save(wipe); await save(light.wipe); await save(() => wipe()); 1", { callGate: call })
  await leave()
  await runtime.update({ wipe: () => void log.push("the new wipe") })
  assert.deepEqual(await callAll(), ["rejected", "rejected", "rejected"])
  await runtime.reset()
  assert.deepEqual(await callAll(), ["rejected", "rejected", "rejected"])
  saved.length = 0
  await leave()
  assert.equal(saved.length, 3)
  await runtime.close()
  assert.deepEqual(await callAll(), ["rejected", "rejected", "rejected"])
  assert.deepEqual(log, [])
})

test("the number of an object of another runtime does not reach that object", async () => {
  const log: string[] = []
  const objects = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`secret${n}`, { leak: () => log.push(`${n}`) }]),
  )
  await using other = memoryRuntime(objects)
  await cellValue(other, "typeof secret0")
  for (let id = 1; id <= 20; id++) {
    const alter = operations((message) => ({ ...message, t: id, p: ["leak"] }))
    await using runtime = memoryRuntime({ light: { dim: () => "dimmed" } }, alter())
    const execution = await runtime.execute("await light.dim()")
    assert.ok(!execution.ok, String(id))
    assert.equal(execution.error.kind, id === 1 ? "throw" : "crash")
  }
  assert.deepEqual(log, [])
  assert.equal(await cellValue(other, "await secret3.leak()"), 1)
})
