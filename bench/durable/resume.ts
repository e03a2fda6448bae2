// Benchmark: the time until a new process continues a stored run.
import { execFile } from "node:child_process"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Backend, createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { interleave, stats } from "../measure.ts"
import type { Report } from "../report.ts"
import { codingAgent } from "./agents.ts"

/** How long a fresh process takes to go on with a run, which was left after few or many cycles. */
export async function resume(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  try {
    for (const cycle of [10, 500]) await leaveAt(cycle, join(folder, `${cycle}.db`))
    const samples = await interleave(
      { early: () => goOn(folder, 10), late: () => goOn(folder, 500) },
      { rounds: 7, warmups: 1 },
    )
    const what = "a fresh process, from recover() to the model's next call, left after cycle"
    return {
      rows: [
        { what: `${what} 10`, unit: "ms", ...stats(samples.early) },
        { what: `${what} 500`, unit: "ms", ...stats(samples.late) },
      ],
      budgets: [],
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Works on a run, one cycle a job, and goes away after so many. */
async function leaveAt(cycle: number, path: string): Promise<void> {
  let handle: Parameters<Backend["start"]>[0] | undefined
  const backend: Backend = {
    async push() {},
    async start(given) {
      handle = given
      return async () => {}
    },
    countQueued: async () => 0,
  }
  await using store = sqliteStore(path, { sync: false })
  await using engine = createEngine({ agents: { agent: codingAgent(1_000) }, store, backend, sliceMs: 0 })
  await engine.work()
  const { id } = await engine.submit("agent", "Go.")
  for (let done = 0; done < cycle; done++) await handle?.({ run: id, revision: 0 })
  const { cycles } = (await engine.get(id)) ?? {}
  if (cycles !== cycle) throw new Error(`The run was left after ${cycles} cycles.`)
}

async function goOn(folder: string, cycle: number): Promise<number> {
  // With a name of its own: what its process leaves beside it belongs to no other.
  const copy = join(folder, `copy-${++copies}.db`)
  copyFileSync(join(folder, `${cycle}.db`), copy)
  const program = fileURLToPath(new URL("./resume-program.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=karst-source", program, copy])
  return Number(stdout)
}

let copies = 0
