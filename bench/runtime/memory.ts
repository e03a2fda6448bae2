// Benchmark: the memory of an idle runtime, and its growth over 1,000 cells.
import type { Runtime } from "karst"
import { stats } from "../measure.ts"
import { childrenMegabytes, heldMegabytes } from "../memory.ts"
import type { Row } from "../report.ts"
import { execute, type Subject } from "./subjects.ts"

/** What an idle runtime occupies, and how much more after 1,000 cells, once 1,000 have warmed it up. */
export async function memory(subject: Subject): Promise<Row[]> {
  const idle = await idleMegabytes(subject)
  await using runtime = subject.open()
  await run(runtime, subject, 1000)
  const before = await occupied()
  await run(runtime, subject, 1000)
  const after = await occupied()
  const row = (what: string, figure: number): Row => ({
    what: `${subject.name}: ${what}`,
    unit: "MB",
    ...stats([figure]),
  })
  const rows = [
    row("an idle runtime, in the host", idle.host),
    row("1,000 cells more, in the host", after.host - before.host),
  ]
  if (subject.name === "js") return rows
  return [
    ...rows,
    row("an idle runtime, its own processes", idle.children),
    row("1,000 cells more, its own processes", after.children - before.children),
  ]
}

async function idleMegabytes(subject: Subject): Promise<{ host: number; children: number }> {
  const count = subject.name === "js" ? 100 : 3
  const before = await occupied()
  const runtimes: Runtime[] = []
  for (let each = 0; each < count; each++) {
    const runtime = subject.open()
    runtimes.push(runtime)
    await execute(runtime, "1 + 1")
  }
  const after = await occupied()
  for (const runtime of runtimes) await runtime.close()
  return { host: (after.host - before.host) / count, children: (after.children - before.children) / count }
}

async function occupied(): Promise<{ host: number; children: number }> {
  return { host: await heldMegabytes(), children: childrenMegabytes() }
}

async function run(runtime: Runtime, { code }: Subject, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await execute(runtime, code.small(number))
}
