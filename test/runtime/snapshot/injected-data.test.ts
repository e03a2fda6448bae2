import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { Runtime, RuntimeSnapshot } from "../../../src/runtime/runtime.ts"
import { cellValue } from "../cell-results.ts"

type Rows = { n: number }[]

/** Runs cells over these rows and returns a snapshot. */
async function snapshotAfter(rows: Rows, ...cells: string[]): Promise<RuntimeSnapshot> {
  await using runtime = jsRuntime({ rows })
  await runtime.trackInjected?.()
  for (const code of cells) await cellValue(runtime, code)
  return await runtime.snapshot()
}

const numbers = (runtime: Runtime) => cellValue(runtime, "rows.map(({ n }) => n).join()")

describe("restoring injected data", () => {
  test("keeps the program's own objects, and variables of cells refer to them", async () => {
    const taken = await snapshotAfter(
      [{ n: 1 }, { n: 2 }],
      "const last = rows[1], byNumber = new Map(rows.map((row) => [row.n, row])), seen = new Set([rows[0]])",
      "const whole = rows",
    )
    const rows = [{ n: 1 }, { n: 2 }]
    const [first, second] = rows
    await using runtime = jsRuntime({ rows })
    assert.deepEqual(await runtime.restore(taken), [])
    assert.ok(rows[0] === first && rows[1] === second)
    assert.equal(await cellValue(runtime, "last === rows[1] && byNumber.get(2) === last && seen.has(rows[0])"), true)
    assert.equal(await cellValue(runtime, "whole === rows"), true)
    await cellValue(runtime, "last.n = 7")
    assert.equal(second?.n, 7)
  })

  test("without trackInjected restores the stored data", async () => {
    await using before = jsRuntime({ rows: [{ n: 1 }] })
    await cellValue(before, "rows.length")
    await using runtime = jsRuntime({ rows: [{ n: 5 }] })
    await runtime.restore(await before.snapshot())
    assert.equal(await numbers(runtime), "1")
  })

  test("exactly restores all of it as copies, and leaves the program's objects as they are", async () => {
    const taken = await snapshotAfter([{ n: 1 }], "rows.length")
    const rows = [{ n: 5 }]
    await using runtime = jsRuntime({ rows })
    assert.deepEqual(await runtime.restore({ ...taken, exact: true }), [])
    assert.equal(await numbers(runtime), "1")
    assert.deepEqual(rows, [{ n: 5 }])
  })

  test("reports data that cells had changed and data that they had not, from snapshots of changes too", async () => {
    await using before = jsRuntime({ rows: [{ n: 1 }], other: ["a"], limit: 3 })
    await before.trackInjected?.()
    await cellValue(before, "rows.length + other.length")
    const whole = await before.snapshot({ since: "" })
    await cellValue(before, "rows.push({ n: 2 }); limit = 4")
    const changes = await before.snapshot({ since: whole.hash })
    assert.equal(changes.since, whole.hash)
    const rows = [{ n: 5 }]
    await using runtime = jsRuntime({ rows, other: ["b"], limit: 5 })
    const lost = await runtime.restore({ ...whole, changes })
    assert.deepEqual(Object.fromEntries(lost.map(({ name, otherData }) => [name, otherData])), {
      other: "new",
      rows: "kept",
      limit: "kept",
    })
    assert.equal(await numbers(runtime), "1,2")
    assert.deepEqual(await cellValue(runtime, "[other, limit]"), [["b"], 4])
    assert.deepEqual(rows, [{ n: 5 }])
  })

  test("says nothing if the program's object already has the changes of the cells", async () => {
    const rows = [{ n: 1 }]
    const taken = await snapshotAfter(rows, "rows.push({ n: 2 })")
    await using runtime = jsRuntime({ rows })
    assert.deepEqual(await runtime.restore(taken), [])
    assert.equal(await numbers(runtime), "1,2")
  })

  test("a fork is an exact copy, whatever the program did to its data since", async () => {
    const rows = [{ n: 1 }]
    await using runtime = jsRuntime({ rows })
    await runtime.trackInjected?.()
    assert.equal(await numbers(runtime), "1")
    await using fork = await runtime.fork()
    await cellValue(fork, "rows.push({ n: 2 })")
    assert.equal(await numbers(fork), "1,2")
    assert.deepEqual(rows, [{ n: 1 }])
  })
})
