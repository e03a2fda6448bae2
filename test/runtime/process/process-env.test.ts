// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createCellClock } from "../../../src/engine/journal/cell-clock.ts"
import type { CellEnv } from "../../../src/runtime/js/ambient/cell-env.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { createRecordedClock, createSeededRandom } from "../../../src/runtime/recorded-clock.ts"

const looks = `[Date.now(), new Date().getTime(), performance.now(), Math.random(), crypto.randomUUID(),
  ...crypto.getRandomValues(new Uint8Array(4))]`

/** Returns an environment like that of a durable run, and what it recorded. */
function recording(recorded: readonly number[], seed = "seed") {
  const { now, note, takeReads } = createRecordedClock(recorded)
  const effects: string[] = []
  const env: Partial<CellEnv> = {
    now,
    clock: { recorded, note },
    random: createSeededRandom(seed),
    onEffect: (what) => effects.push(what),
  }
  return { env, takeReads, effects }
}

async function look(recorded: readonly number[], seed?: string) {
  await using runtime = processRuntime()
  const { env, takeReads } = recording(recorded, seed)
  const execution = await runtime.execute(looks, { env })
  assert.ok(execution.ok)
  return { value: execution.value, reads: takeReads() }
}

describe("the environment of a cell in a processRuntime", () => {
  test("shows a cell that is run again the time, the chance and the ids it has seen", async () => {
    const first = await look([])
    assert.equal(first.reads.length, 3)
    const again = await look(first.reads)
    assert.deepEqual(again.value, first.value)
    assert.deepEqual(again.reads, [], "nothing new was read")
    assert.notDeepEqual((await look(first.reads, "another")).value, first.value)
  })

  test("goes on with the real time where the recording ends, and never back", async () => {
    const { value, reads } = await look([Date.now() + 60_000])
    assert.ok(Array.isArray(value))
    assert.ok(value[1] >= value[0] && value[2] >= value[1])
    assert.equal(reads.length, 2)
  })

  test("tells what was read before the call that may come of it", async () => {
    const { env, takeReads } = recording([])
    const known: number[][] = []
    await using runtime = processRuntime({ act: () => void known.push(takeReads()) })
    const execution = await runtime.execute("const t = Date.now()\nawait act()\nDate.now()\nt", { env })
    assert.ok(execution.ok)
    assert.deepEqual(known, [[execution.value]])
    assert.equal(takeReads().length, 1)
  })

  test("says so when the clock is looked at too often to be recorded", async () => {
    for (const make of [processRuntime, jsRuntime]) {
      await using runtime = make()
      const effects: string[] = []
      const { env, takeReads } = createCellClock([], "seed", (what) => effects.push(what))
      await runtime.execute("for (let look = 0; look < 1005; look++) Date.now()", { env })
      assert.equal(takeReads().length, 1000)
      assert.deepEqual(effects, ["the clock, once it was looked at 1,000 times"])
    }
  })

  test("is that of its own cell only", async () => {
    await using runtime = processRuntime()
    const { env } = recording([1, 2, 3])
    await runtime.execute("const one = Date.now()", { env })
    const execution = await runtime.execute("[one, Date.now()]")
    assert.ok(execution.ok && Array.isArray(execution.value))
    assert.equal(execution.value[0], 1)
    assert.ok(execution.value[1] > 1_000)
  })

  test("cannot have a clock that would have to be asked, or fetch and modules of the host", async () => {
    await using runtime = processRuntime()
    await assert.rejects(runtime.execute("1", { env: { now: () => 1 } }), /env\.now cannot be asked.*env\.clock/)
    await assert.rejects(runtime.execute("1", { env: { fetch } }), /env\.fetch cannot be given/)
    await assert.rejects(runtime.execute("1", { env: { import: async () => ({}) } }), /env\.import cannot be given/)
  })

  for (const make of [jsRuntime, processRuntime]) {
    test(`${make.name} tells by what a cell reaches outside, and nothing of modules that cannot`, async () => {
      const { env, effects } = recording([])
      await using runtime = make()
      const execution = await runtime.execute(
        `import { readFileSync } from "node:fs"
         await import("path")
         await fetch("data:,hello")`,
        { env },
      )
      assert.ok(execution.ok)
      assert.deepEqual(effects, ["node:fs", "fetch"])
    })
  }
})
