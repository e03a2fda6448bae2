import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { checkRecovered, checkUndisturbed } from "./check.ts"
import { readLedger } from "./ledger.ts"
import type { Order, Point, Told } from "./program.ts"

/** Where the process of a run is killed; a second point is for the process that continues the run. */
export type Plan = readonly Point[]

/** Executes a kind of run once without a kill, then once for each plan. Fresh processes continue the runs, and each
 *  result is checked call by call. Every plan's first point is reached, or this throws. Returns the number of kills. */
export async function killAt(
  kind: string,
  place: Order["place"],
  choose: (all: readonly Point[]) => readonly Plan[],
): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), "karst-crash-"))
  let folders = 0
  const newRun = (plan: Plan): PlannedRun => {
    const folder = join(root, `run-${basename(root)}-${++folders}`)
    mkdirSync(folder)
    return { kind, place, folder, plan, killed: 0 }
  }
  try {
    const undisturbed = newRun([])
    const { told } = await runProgram([undisturbed])
    assert.ok(told[0])
    const baseline = { told: told[0], ledger: readLedger(undisturbed.folder) }
    checkUndisturbed(baseline)
    const runs = choose(allPoints(baseline.told.writes)).map(newRun)
    return await chain(runs, ({ plan, killed, folder }, told) => {
      const where = `${kind} on ${place}, ${plan.slice(0, killed).map(textOf).join(" and then ")}`
      checkRecovered(where, baseline, { told, ledger: readLedger(folder) })
      rmSync(folder, { recursive: true })
    })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

interface PlannedRun extends Pick<Order, "kind" | "place" | "folder"> {
  plan: Plan
  /** How often it was. */
  killed: number
}

// Each process first continues the run of the process killed before it, and is then killed in a new run.
async function chain(runs: PlannedRun[], check: (run: PlannedRun, told: Told) => void): Promise<number> {
  let kills = 0
  let left: PlannedRun | undefined
  while (left || runs.length > 0) {
    const diesAgain = left && left.killed < left.plan.length
    const both = [left, diesAgain ? undefined : runs.shift()].filter((run) => run !== undefined)
    const { told, signal } = await runProgram(both)
    for (const [index, run] of both.entries()) if (told[index] && run.killed > 0) check(run, told[index])
    for (const [index, run] of both.entries()) {
      const isMissed = told[index] && run.plan.length > 0 && run.killed === 0
      assert.ok(!isMissed, `${run.kind} on ${run.place} ended without ${run.plan.slice(0, 1).map(textOf)}`)
    }
    // The process that continues a run may end before it has made as many writes as its point says.
    left = signal === "SIGKILL" ? both[told.length] : undefined
    if (!left) continue
    left.killed++
    kills++
  }
  return kills
}

/** The points before and after each write, named by the first fact that it stores. A write without one renews a lease
 *  or notes in which order calls ended; on a busy machine there are more of them. */
function allPoints(writes: readonly string[][]): Point[] {
  return writes.flatMap(([fact]): Point[] => {
    if (fact === undefined) return []
    return [
      { at: fact, before: true },
      { at: fact, before: false },
    ]
  })
}

function textOf({ at, before }: Point): string {
  return `${before ? "before" : "after"} ${typeof at === "number" ? `write ${at}` : `"${at}" was stored`}`
}

interface Ended {
  told: Told[]
  signal: NodeJS.Signals | null
}

function runProgram(runs: readonly PlannedRun[]): Promise<Ended> {
  const program = join(import.meta.dirname, "program.ts")
  const orders = runs.map(({ kind, place, folder, plan, killed }): Order => {
    return { kind, place, folder, recovers: killed > 0, kill: plan[killed] }
  })
  const child = spawn(process.execPath, ["--conditions=karst-source", program, JSON.stringify(orders)], {
    env: { ...process.env, NODE_COMPILE_CACHE: compiled(), NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const late = setTimeout(() => child.kill("SIGTERM"), 100_000)
  return new Promise((resolve, reject) =>
    child.on("close", (code, signal) => {
      clearTimeout(late)
      const lines = stdout.split("\n").filter(Boolean)
      if (code === 0 || signal === "SIGKILL") resolve({ told: lines.map((line): Told => JSON.parse(line)), signal })
      else reject(new Error(`${JSON.stringify(orders)} ended with ${signal ?? code}, ${lines.length} told: ${stderr}`))
    }),
  )
}

let cache: string | undefined

/** What Node has made of our source, so that each process begins with that. */
function compiled(): string {
  if (cache !== undefined) return cache
  const folder = mkdtempSync(join(tmpdir(), "karst-compiled-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  cache = folder
  return folder
}
