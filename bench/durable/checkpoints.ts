// Benchmark: bytes that an early and a late step of one run write.
import { createEngine } from "karst/engine"
import { memoryStore, type Store } from "karst/stores"
import { median, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { codingAgent } from "./agents.ts"

const window = 11

/** How much a late step of one run writes beside an early one. */
export async function checkpoints(): Promise<Report> {
  const written: number[] = []
  const inner = memoryStore()
  const store: Store = {
    ...inner,
    commit(changes, guard) {
      written.push(changes.reduce((sum, change) => sum + bytesOf(change), 0))
      return inner.commit(changes, guard)
    },
  }
  await using engine = createEngine({ agents: { agent: codingAgent(520) }, store })
  const { id } = await engine.submit("agent", "Go.")
  await engine.result(id)
  const around = (cycle: number) => median(written.slice(cycle - 5, cycle - 5 + window)) / 2 ** 20
  const early = around(10)
  const late = around(500)
  return {
    rows: [
      { what: "written by a commit at cycle 10", unit: "MB", ...stats([early]) },
      { what: "written by a commit at cycle 500", unit: "MB", ...stats([late]) },
      { what: "commits a cycle", unit: "", ...stats([written.length / 520]) },
    ],
    budgets: [budget("what a commit writes at cycle 500, against cycle 10", 1.5, late / early, "×")],
  }
}

function bytesOf(change: Parameters<Store["commit"]>[0][number]): number {
  if (change.type === "put" && change.value instanceof Uint8Array) return change.value.byteLength
  return Buffer.byteLength(JSON.stringify(change))
}
