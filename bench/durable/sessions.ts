// Benchmark: the time of a run in a session with few or many earlier runs.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createEngine, type Engine } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { interleave, perUnit, ratio, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { chattingAgent } from "./agents.ts"

const early = 10
const late = 800
// As many runs as one figure is the mean of: some of them fold the conversation, and some make it shorter.
const together = 8

/** What a run costs in a session that has had few or many before it. */
export async function sessions(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const store = sqliteStore(join(folder, "karst.db"))
  // The model of the first is sent as much at run 800 as at run 10; that of the second is sent everything.
  const agents = { short: chattingAgent(2_000), long: chattingAgent(Infinity) }
  const engine = createEngine({ agents, store })
  try {
    for (const agent of ["short", "long"] as const) await runs(engine, agent, "late", late)
    let sessions = 0
    const first = async (agent: "short" | "long") => {
      const session = `early ${++sessions}`
      await runs(engine, agent, session, early - together / 2)
      return await perUnit(together, () => runs(engine, agent, session, together))
    }
    const further = (agent: "short" | "long") => perUnit(together, () => runs(engine, agent, "late", together))
    const samples = await interleave(
      {
        early: () => first("short"),
        late: () => further("short"),
        "early, long": () => first("long"),
        "late, long": () => further("long"),
      },
      { rounds: 9, warmups: 1 },
    )
    const grown = ratio(samples.late, samples.early)
    const row = (what: string, figures: number[], others?: number[]) => ({
      what: `a run of a session, ${what}`,
      unit: "ms" as const,
      ...stats(figures),
      ...(others && { ratios: { "run 10": ratio(figures, others) } }),
    })
    return {
      rows: [
        row("run 10", samples.early),
        row("run 800", samples.late, samples.early),
        row("run 10, nothing compacted", samples["early, long"]),
        row("run 800, nothing compacted", samples["late, long"], samples["early, long"]),
      ],
      budgets: [budget("run 800 of a session against run 10, when the model is sent as much", 1.5, grown, "×")],
    }
  } finally {
    await engine.close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

async function runs(engine: Engine<"short" | "long">, agent: "short" | "long", session: string, count: number) {
  for (let run = 0; run < count; run++) {
    const { id } = await engine.submit(agent, "What is there to say about the next of all these questions?", {
      session,
    })
    const { status } = await engine.result(id)
    if (status !== "done") throw new Error(`A run of the bench ended as ${status}.`)
  }
}
