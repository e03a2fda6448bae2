// Benchmark: the memory and disk space of runs that wait for an answer.
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { stats } from "../measure.ts"
import type { Report } from "../report.ts"
import { askingAgent } from "./agents.ts"

const runs = 400

/** What runs that wait for somebody hold: nothing in memory, and some of the disk. */
export async function waiting(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const path = join(folder, "karst.db")
  const store = sqliteStore(path, { sync: false })
  const engine = createEngine({ agents: { agent: askingAgent() }, store })
  const wait = async (count: number) => {
    const ids = await Promise.all(Array.from({ length: count }, () => engine.submit("agent", "Go.")))
    for (const { id } of ids) await engine.result(id)
  }
  try {
    await wait(runs)
    const before = heap()
    await wait(runs)
    const each = (heap() - before) / runs
    await engine.close()
    await store.close()
    const disk = statSync(path).size / runs / 2
    return {
      rows: [
        { what: "heap that a waiting run holds in its worker", unit: "MB", ...stats([Math.max(0, each) / 2 ** 20]) },
        { what: "waiting runs in a GB of memory, at most a million", unit: "", ...stats([perGigabyte(each)]) },
        { what: "waiting runs in a GB of disk", unit: "", ...stats([perGigabyte(disk)]) },
      ],
      budgets: [],
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function perGigabyte(bytes: number): number {
  return Math.min(1_000_000, Math.floor(2 ** 30 / Math.max(1, bytes)))
}

function heap(): number {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  collect()
  return process.memoryUsage().heapUsed
}
