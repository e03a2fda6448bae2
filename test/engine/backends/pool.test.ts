// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import type { Engine } from "../../../src/engine/engine.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-pool-"))
const file = join(folder, "steps")
process.env.KARST_TEST_STEPS = file
process.env.KARST_TEST_STORE = join(folder, "karst.db")
const { engine }: { engine: Engine } = await import("../../fixtures/backends/engine.ts")
const pids = () =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ").at(-1)))

describe("an engine with a pool of workers", () => {
  after(async () => {
    await engine.close()
    rmSync(folder, { recursive: true })
  })

  test("has runs worked on in other processes, at the same time", async () => {
    await engine.work({ maxParallel: 2 })
    const runs = await Promise.all(Array.from({ length: 20 }, () => engine.submit("quick", "Go.")))
    for (const { id } of runs) assert.equal((await engine.result(id)).output, "All done.")
    assert.equal(pids().length, 40)
    const workers = new Set(pids())
    assert.equal(workers.has(process.pid), false)
    assert.equal(workers.size, 2)
  })

  test("goes on with the runs of a worker that is killed", async () => {
    const { id } = await engine.submit("held", "Go.")
    while (pids().length < 41) await setTimeout(10)
    process.kill(pids()[40] ?? 0, "SIGKILL")
    writeFileSync(`${file}.go`, "")
    assert.equal((await engine.result(id)).status, "done")
  })

  test("lets workers leave their runs at the end of a cycle when it is drained", async () => {
    rmSync(`${file}.go`)
    const begun = pids().length
    const { id } = await engine.submit("held", "Go.")
    while (pids().length === begun) await setTimeout(10)
    const draining = engine.drain()
    writeFileSync(`${file}.go`, "")
    await draining
    assert.equal((await engine.get(id))?.status, "queued")
  })
})
