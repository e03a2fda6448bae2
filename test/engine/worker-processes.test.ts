// test lane: durable, long
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { createAgent, jsRuntime } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"
import { until } from "../waiting.ts"

const program = fileURLToPath(new URL("./workers-program.ts", import.meta.url))

describe("worker processes", () => {
  test("finish a cell that computes for longer than the lease, and warn", async (context) => {
    const { engine, start, notes } = setUp(context, 400)
    await Promise.all([start(), start()])
    const { id } = await engine.submit("agent", "await compute(4500); 1")
    const { status, output, trajectory } = await engine.result(id)
    assert.deepEqual({ status, output }, { status: "done", output: "Ended await compute(4500); 1." })
    const warnings = trajectory.events.filter((event) => event.type === "warning-raised").map(({ code }) => code)
    assert.ok(warnings.includes("cell-blocks-worker"), warnings.join())
    // The lease doubles with each claim: 0.4, 0.8, 1.6, 3.2, 6.4 seconds.
    assert.ok(notes("computes").length <= 7, `${notes("computes").length} claims`)
    assert.ok(new Set(notes("computes")).size > 1)
  })

  test("set a run aside that kills each of them, and finish the runs beside it", async (context) => {
    const { engine, start, notes } = setUp(context, 400)
    const isOver = new AbortController()
    const deadly = await engine.submit("agent", "await die()")
    const healthy = await Promise.all(
      Array.from({ length: 6 }, (_, run) => engine.submit("agent", `await rest(50); ${run}`)),
    )
    // A supervisor starts a new worker for each that ended.
    const supervised = supervise(start, isOver.signal)
    const result = await engine.result(deadly.id)
    assert.deepEqual([result.status, result.error?.code], ["failed", "poison"])
    const others = await Promise.all(healthy.map(({ id }) => engine.result(id)))
    assert.deepEqual(
      others.map(({ status }) => status),
      others.map(() => "done"),
    )
    // Two workers died while others worked beside it, five while it worked alone.
    assert.equal(notes("dies").length, 7)
    // Its log is still stored, and the run can be retried.
    assert.ok(result.trajectory.events.some(({ type }) => type === "run-end"))
    isOver.abort()
    await supervised
  })
})

test("abort ends a run whose worker process stands still, after its lease; when the worker goes on, it writes nothing", async (context) => {
  const { engine, start, notes, release } = setUp(context, 400)
  const worker = await start()
  const { id } = await engine.submit("agent", "await compute(1); await standStill(); await hold(); await compute(2)")
  await until(() => isStopped(worker))
  await engine.abort(id, "Enough.")
  assert.deepEqual((await engine.get(id))?.status, "aborted")
  release()
  worker.kill("SIGCONT")
  // The worker begins and ends another run, so that it had time to go on with this one.
  const other = await engine.submit("agent", "await rest(100); await compute(3)")
  assert.equal((await engine.result(other.id)).status, "done")
  const { status, trajectory } = await engine.result(id)
  assert.equal(status, "aborted")
  assert.equal(trajectory.runs[0]?.detail, "Enough.")
  assert.deepEqual(notes("computes"), [`computes ${worker.pid} 1`, `computes ${worker.pid} 3`])
  assert.equal(worker.exitCode, null)
})

/** Reads from the system whether a signal stopped the process. */
function isStopped({ pid }: ChildProcess): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
}

async function supervise(start: () => Promise<ChildProcess>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const worker = await start()
    await until(() => worker.exitCode !== null || worker.signalCode !== null || over.aborted)
  }
}

function setUp(context: TestContext, leaseMs: number) {
  const folder = mkdtempSync(join(tmpdir(), "karst-workers-"))
  const store = sqliteStore(join(folder, "karst.db"), { sync: false })
  const workers: ChildProcess[] = []
  // This process submits and reads; it does not work.
  const agents = { agent: createAgent({ model: scriptedModel([]), runtime: () => jsRuntime({}) }) }
  const engine = createEngine({ agents, store, backend: inlineBackend(), leaseMs })
  context.after(async () => {
    for (const worker of workers) {
      if (worker.exitCode !== null || worker.signalCode !== null) continue
      worker.kill("SIGKILL")
      await once(worker, "exit")
    }
    await engine.close()
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return {
    engine,
    async start(): Promise<ChildProcess> {
      const worker = spawn(process.execPath, [...process.execArgv, program, folder, String(leaseMs)], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      workers.push(worker)
      await Promise.race([once(worker.stdout, "data"), once(worker, "exit")])
      return worker
    },
    /** Lets `hold` end. */
    release: () => writeFileSync(join(folder, "go"), ""),
    notes: (what: string) =>
      readFileSync(join(folder, "notes"), { encoding: "utf8", flag: "a+" })
        .split("\n")
        .filter((line) => line.startsWith(what)),
  }
}
