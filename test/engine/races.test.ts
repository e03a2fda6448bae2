// test lane: durable
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type Backend, createEngine, inlineBackend, type Job } from "karst/engine"
import { memoryStore, sqliteStore } from "karst/stores"
import { steppingAgent, stepsOf } from "./races/stepping-agent.ts"

describe("runs that several want to work on", () => {
  test("are worked on by one at a time, whichever of three processes finds them first", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "karst-race-"))
    context.after(() => rmSync(folder, { recursive: true }))
    await using store = sqliteStore(join(folder, "karst.db"), { sync: false })
    // This backend is never started: this process only submits.
    const agent = steppingAgent(async () => assert.fail("worked on here"))
    await using engine = createEngine({ agents: { agent }, store, backend: inlineBackend() })
    const names = Array.from({ length: 24 }, (_, index) => `run${index}`)
    const runs = await Promise.all(names.map((name) => engine.submit("agent", name)))
    const codes = await Promise.all(Array.from({ length: 3 }, () => runProgram("scheduler.ts", folder)))
    assert.deepEqual(codes, [0, 0, 0])
    for (const [index, { id }] of runs.entries()) {
      assert.equal((await engine.result(id)).output, `Ended ${names[index]}.`)
    }
    const effects = readFileSync(join(folder, "effects"), "utf8").trim().split("\n")
    assert.deepEqual(effects.toSorted(), names.flatMap(stepsOf).toSorted())
  })

  test("are worked on once, however often a job is delivered, at the same time or late", async () => {
    const effects: string[] = []
    const agent = steppingAgent(async (run, step) => void effects.push(`${run} ${step}`))
    const store = memoryStore()
    const backend = delivering(3)
    await using engine = createEngine({ agents: { agent }, store, backend, sliceMs: 0 })
    await engine.work()
    await using second = createEngine({ agents: { agent }, store, backend, sliceMs: 0 })
    await second.work()
    const names = Array.from({ length: 10 }, (_, index) => `run${index}`)
    const runs = await Promise.all(names.map((name) => engine.submit("agent", name)))
    for (const { id } of runs) assert.equal((await engine.result(id)).status, "done")
    await backend.deliverAgain()
    assert.deepEqual(effects.toSorted(), names.flatMap(stepsOf).toSorted())
    for (const { id } of runs) {
      const ends = (await Array.fromAsync(engine.watch(id))).filter(({ type }) => type === "run-end")
      assert.equal(ends.length, 1)
    }
  })
})

/** Hands each job to everybody, so many times at once. */
function delivering(times: number): Backend & { deliverAgain(): Promise<void> } {
  const handles: ((job: Job) => Promise<void>)[] = []
  const jobs: Job[] = []
  const work = new Set<Promise<unknown>>()
  const deliver = (job: Job) =>
    handles.flatMap((handle) => Array.from({ length: times }, () => handle(job))).map((each) => each.catch(() => {}))
  return {
    async push(job) {
      jobs.push(job)
      for (const each of deliver(job)) work.add(each)
    },
    async start(handle) {
      handles.push(handle)
      return async () => void (await Promise.all(work))
    },
    countQueued: async () => 0,
    async deliverAgain() {
      await Promise.all(jobs.flatMap(deliver))
    },
  }
}

async function runProgram(name: string, ...args: string[]): Promise<number> {
  const child = spawn(
    process.execPath,
    ["--conditions=karst-source", join(import.meta.dirname, "races", name), ...args],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  )
  const [code] = await once(child, "close")
  return code
}
