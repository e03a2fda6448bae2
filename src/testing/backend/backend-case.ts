// What the cases of the backend suite are made of: checks, and the trial they run in.
import assert from "node:assert/strict"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { fork } from "../../core/child/child-process.ts"
import type { Backend, StopWorking } from "../../engine/backends/backend.ts"
import type { BackendSuite } from "../backend.ts"
import { backendJobHandler, type JobLogLine, readJobLog } from "./backend-handle.ts"

/** One promise of a backend, and its check. */
export interface BackendCheck {
  promise: string
  /** The suite option that the check requires. */
  needs?: "outage"
  /** The number of worker processes, for a backend that runs its own. */
  workers?: number
  check(trial: BackendTrial): Promise<void>
}

export function backendCase(promise: string, workers: number, check: BackendCheck["check"]): BackendCheck {
  return { promise, workers, check }
}

/** One queue and everything started for it. Disposing of it ends all of it. */
export interface BackendTrial extends AsyncDisposable {
  backend: Backend
  /** Starts workers in this process. */
  start(maxParallel: number): Promise<StopWorking>
  /** Starts workers in this number of processes, run by the backend or by the suite. */
  startProcesses(count: number, maxParallel: number): Promise<void>
  push(...runs: string[]): Promise<void>
  /** Lets held jobs continue. */
  release(): void
  lines(): JobLogLine[]
  begun(run?: string): JobLogLine[]
  done(): string[]
  /** Waits until a condition holds; fails when no job has begun or ended for a time limit. */
  until(holds: () => boolean | Promise<boolean>, what: string): Promise<void>
  /** Kills a worker process, like a crash. */
  kill(pid: number | undefined): void
  outage(): Promise<() => Promise<void>>
}

export async function createBackendTrial(suite: BackendSuite, workers: number): Promise<BackendTrial> {
  const folder = mkdtempSync(join(tmpdir(), "karst-backend-"))
  const backend = await suite.open(folder, workers)
  const stops: StopWorking[] = []
  const children: ChildProcess[] = []
  const release = () => writeFileSync(join(folder, "go"), "")
  const lines = () => readJobLog(folder)

  async function start(maxParallel: number): Promise<StopWorking> {
    const stop = await backend.start(backendJobHandler(backend, folder), { maxParallel })
    stops.push(stop)
    return stop
  }

  return {
    backend,
    start,
    async startProcesses(count, maxParallel) {
      const { module } = suite
      if (!module) return void (await start(maxParallel))
      const started = Array.from({ length: count }, () => fork(entry, [String(module), folder, String(maxParallel)]))
      children.push(...started)
      await Promise.all(started.map((child) => once(child, "message")))
    },
    async push(...runs) {
      for (const [revision, run] of runs.entries()) await backend.push({ run, revision })
    },
    release,
    lines,
    begun: (run) => lines().filter((line) => line.what === "begun" && (run ?? line.run) === line.run),
    done: () => lines().flatMap((line) => (line.what === "done" ? [line.run] : [])),
    async until(holds, what) {
      let [end, count] = [0, -1]
      while (!(await holds())) {
        if (lines().length !== count) [end, count] = [Date.now() + maxWaitMs, lines().length]
        if (Date.now() > end) assert.fail(`It did not come to this: ${what}. There is: ${JSON.stringify(lines())}`)
        await setTimeout(10)
      }
    },
    kill(pid) {
      assert.ok(pid !== undefined && pid !== process.pid, "The job is with this process, not with a worker of its own.")
      process.kill(pid, "SIGKILL")
    },
    async outage() {
      assert.ok(suite.outage)
      return suite.outage()
    },
    async [Symbol.asyncDispose]() {
      release()
      await Promise.all(children.map(ended))
      await Promise.all(stops.map((stop) => stop()))
      await backend.close?.()
      rmSync(folder, { recursive: true })
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

const maxWaitMs = 30_000

const entry = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "backend-child.ts" : "backend-child.js", import.meta.url),
)
