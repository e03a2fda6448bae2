// Benchmark: transactions and snapshots of 100,000 rows.
import { serialize } from "node:v8"
import type { Runtime, RuntimeSnapshot } from "karst"
import type { Karst } from "../built.ts"
import { interleave, perUnit, ratio, repeat, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { execute, makeRows } from "./subjects.ts"

const count = 100_000

/** What a transaction and a snapshot add to 100,000 rows that a cell made. */
export async function rollback({ jsRuntime }: Karst): Promise<Report> {
  await using runtime = jsRuntime({ given: makeRows(count) })
  await execute(runtime, "const rows = given.map((row) => ({ ...row }))\ndelete globalThis.given")
  const rows = makeRows(count)
  const samples = await interleave(
    {
      plain: () => perUnit(1, () => execute(runtime, "rows.length")),
      transaction: () => perUnit(1, () => runtime.execute("rows.length", { transaction: true })),
      undone: () => perUnit(1, () => runtime.execute("rows.reverse()\nthrow 1", { transaction: true })),
      bare: () => perUnit(1, () => serialize(rows)),
      snapshot: () => snapshotTime(runtime),
    },
    { rounds: 10 },
  )
  await execute(runtime, "if (rows[0].id !== 0) throw new Error('The rows were not put back.')")
  const image = samples.transaction.map((figure, round) => figure - (samples.plain[round] ?? NaN))
  const toBare = ratio(samples.snapshot, samples.bare)
  return {
    rows: [
      { what: "js: undo image of 100,000 rows", unit: "ms", ...stats(image) },
      { what: "js: a cell over 100,000 rows that is rolled back", unit: "ms", ...stats(samples.undone) },
      {
        what: "js: snapshot of 100,000 rows",
        unit: "ms",
        ...stats(samples.snapshot),
        ratios: { "bare v8.serialize": toBare },
      },
      { what: "js: restore of 100,000 rows", unit: "ms", ...stats(await restoreTimes(runtime, jsRuntime())) },
      { what: "bare v8.serialize of 100,000 rows", unit: "ms", ...stats(samples.bare) },
    ],
    budgets: [budget("snapshot against bare v8.serialize", 2.5, toBare, "×")],
  }
}

// The rows are changed before: an unchanged namespace might be known by its hash.
async function snapshotTime(runtime: Runtime): Promise<number> {
  await execute(runtime, "rows[0].amount++")
  return perUnit(1, () => snapshotOf(runtime))
}

async function restoreTimes(runtime: Runtime, other: Runtime): Promise<number[]> {
  const snapshot = await snapshotOf(runtime)
  const times = await repeat(5, () => perUnit(1, () => other.restore?.(snapshot)))
  await execute(other, `if (rows.length !== ${count}) throw new Error("The rows were not brought back.")`)
  await other.close()
  return times
}

async function snapshotOf(runtime: Runtime): Promise<RuntimeSnapshot> {
  const snapshot = await runtime.snapshot?.()
  if (!snapshot) throw new Error("This runtime makes no snapshots.")
  return snapshot
}
