// Benchmark: the time of a cycle that changes one of few or many variables.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createEngine } from "karst/engine"
import { type Store, sqliteStore } from "karst/stores"
import { interleave, median, ratio, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { codingAgent } from "./agents.ts"

const cycles = 50

const values = {
  values: (id: number) => (id % 2 === 0 ? `const v${id} = ${id}` : `const v${id} = "value ${id}"`),
  objects: (id: number) => `const v${id} = { id: ${id}, name: "value ${id}", list: [1, 2, ${id}] }`,
}

/** What a cycle costs that changes one variable, beside few or many others. */
export async function variables(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const store = sqliteStore(join(folder, "karst.db"))
  try {
    const samples = await interleave(
      {
        few: () => cycleOf(store, 10, values.values),
        many: () => cycleOf(store, 1_000, values.values),
        "few objects": () => cycleOf(store, 10, values.objects),
        "many objects": () => cycleOf(store, 1_000, values.objects),
      },
      { rounds: 9, warmups: 2 },
    )
    const grown = ratio(samples.many, samples.few)
    const row = (what: string, figures: number[], others?: number[]) => ({
      what: `a durable cycle that changes one variable of ${what}`,
      unit: "ms" as const,
      ...stats(figures),
      ...(others && { ratios: { few: ratio(figures, others) } }),
    })
    return {
      rows: [
        row("10 numbers and texts", samples.few),
        row("1,000 numbers and texts", samples.many, samples.few),
        row("10 objects", samples["few objects"]),
        row("1,000 objects", samples["many objects"], samples["few objects"]),
      ],
      budgets: [budget("a durable cycle with 1,000 unchanged variables against 10", 1.5, grown, "×")],
    }
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

/** The median of the cycles after those that make the variables. */
async function cycleOf(store: Store, count: number, value: (id: number) => string): Promise<number> {
  const first = ["let value = 0", ...Array.from({ length: count }, (_, id) => value(id))].join("\n")
  const starts: number[] = []
  const agent = codingAgent(cycles, first, (event) => {
    if (event.type === "cycle-start") starts.push(performance.now())
  })
  await using engine = createEngine({ agents: { agent }, store })
  await engine.result((await engine.submit("agent", "Go.")).id)
  // A single cycle is at the mercy of the garbage collector and of other programs.
  return median(starts.slice(3).map((time, index) => time - (starts[index + 2] ?? NaN)))
}
