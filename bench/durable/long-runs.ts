// A step of durable runs of different lengths with the SQLite store: what it costs beside LangGraph, and whether it
// grows.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { langGraph } from "../anchors.ts"
import { interleave, perUnit, ratio, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { codingAgent } from "./agents.ts"

export async function longRuns(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const store = sqliteStore(join(folder, "karst.db"))
  const runOf = (steps: number) => async () => {
    await using engine = createEngine({ agents: { agent: codingAgent(steps, "let value = 0") }, store })
    return await perUnit(steps, async () => {
      const { id } = await engine.submit("agent", "Go.")
      await engine.result(id)
    })
  }
  try {
    const samples = await interleave(
      { of50: runOf(50), of300: runOf(300), of1000: runOf(1000) },
      { rounds: 5, warmups: 1 },
    )
    const [at50, at300] = [stats(samples.of50), stats(samples.of300)]
    const toLangGraph = at50.median / langGraph.stepMs.at50
    const growth = ratio(samples.of1000, samples.of50)
    return {
      rows: [
        {
          what: "a durable step of a run of 50, SQLite",
          unit: "ms",
          ...at50,
          ratios: { "LangGraph's 2.9 ms": toLangGraph },
        },
        {
          what: "a durable step of a run of 300, SQLite",
          unit: "ms",
          ...at300,
          ratios: { "LangGraph's 7.8 ms": at300.median / langGraph.stepMs.at300 },
        },
        { what: "a durable step of a run of 1,000, SQLite", unit: "ms", ...stats(samples.of1000) },
      ],
      budgets: [
        budget("a durable step of a run of 50 against LangGraph's SqliteSaver", 1 / 4, toLangGraph, "×"),
        budget("a durable step of a run of 1,000 against one of 50", 1.2, growth, "×"),
      ],
    }
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}
