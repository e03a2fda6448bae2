// Benchmark: the costs of each runtime. The parts are in runtime/.
import { builtKarst } from "./built.ts"
import { budget, type Report, type Row } from "./report.ts"
import { cells } from "./runtime/cells.ts"
import { data } from "./runtime/data.ts"
import { gate } from "./runtime/gate.ts"
import { memory } from "./runtime/memory.ts"
import { rollback } from "./runtime/rollback.ts"
import { availableSubjects } from "./runtime/subjects.ts"

// Absolute figures: a start, a round trip and a call are what a user waits for.
const limits: Record<string, number> = {
  "process: start to first result": 120,
  "process: round trip of a cell": 0.3,
  "python: round trip of a cell": 10,
  "python: host call": 0.3,
  "process: retrieve 100,000 rows": 60,
  "js: undo image of 100,000 rows": 60,
  "type gate, warm": 5,
}

/** What each runtime costs: to start, for a cell, for a call, data in and out, memory; and what undo images, snapshots
 *  and the type gate add to that. */
export async function runtime(): Promise<Report> {
  const karst = await builtKarst()
  const { subjects, absent } = availableSubjects(karst)
  const rows: Row[] = []
  for (const subject of subjects) {
    process.stderr.write(`  ${subject.name} …\n`)
    rows.push(...(await cells(subject)), ...(await data(subject)), ...(await memory(subject)))
  }
  const parts = [await rollback(karst), await gate(karst)]
  rows.push(...parts.flatMap((part) => part.rows))
  const known = new Map(rows.map((row) => [row.what, row]))
  const absolute = Object.entries(limits).flatMap(([what, limit]) => {
    const row = known.get(what)
    return row ? [budget(what, limit, row.median, row.unit)] : []
  })
  return {
    rows,
    budgets: [...absolute, ...parts.flatMap((part) => part.budgets)],
    absent: [...absent, ...parts.flatMap((part) => part.absent ?? [])],
  }
}
