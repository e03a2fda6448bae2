// Benchmark: records into a runtime and out again.
import { perUnit, repeat, stats } from "../measure.ts"
import type { Row } from "../report.ts"
import { execute, makeRows, type Subject } from "./subjects.ts"

const sizes = [10, 1000, 10_000, 100_000]

/** Records in and out again. */
export async function data(subject: Subject): Promise<Row[]> {
  const rows: Row[] = []
  let number = 0
  for (const size of sizes) {
    const records = subject.records(makeRows(size))
    await using runtime = subject.open()
    await execute(runtime, "1 + 1")
    const names: string[] = []
    const inject = await repeat(size > 10_000 ? 4 : 8, () => {
      const name = `rows${number++}`
      names.push(name)
      return perUnit(1, async () => {
        await runtime.inject({ [name]: records })
        await execute(runtime, subject.code.touch(name))
      })
    })
    const retrieve: number[] = []
    for (const name of names) retrieve.push(await perUnit(1, () => runtime.retrieve(name)))
    const count = size.toLocaleString("en")
    rows.push(
      { what: `${subject.name}: inject ${count} rows and see them`, unit: "ms", ...stats(inject) },
      { what: `${subject.name}: retrieve ${count} rows`, unit: "ms", ...stats(retrieve) },
    )
  }
  return [...rows, ...(await snapshots(subject))]
}

/** What is made there, kept and brought back. */
async function snapshots(subject: Subject): Promise<Row[]> {
  await using runtime = subject.open()
  await execute(runtime, subject.code.make(10_000))
  const { snapshot, restore } = runtime
  if (!snapshot || !restore) throw new Error(`${subject.name} makes no snapshots.`)
  const kept = await snapshot()
  const save = await repeat(5, () => perUnit(1, snapshot))
  const load = await repeat(5, () => perUnit(1, () => restore(kept)))
  await execute(runtime, subject.code.touch("made"))
  return [
    { what: `${subject.name}: snapshot of 10,000 rows`, unit: "ms", ...stats(save) },
    { what: `${subject.name}: restore of 10,000 rows`, unit: "ms", ...stats(load) },
  ]
}
