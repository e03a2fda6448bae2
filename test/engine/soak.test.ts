// test lane: durable, long
import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { bullmqBackend, createEngine, type Engine } from "karst/engine"
import { redisStore } from "karst/stores"
import { startKarst } from "../cli/karst.ts"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"
import { stepsOf } from "./races/stepping-agent.ts"

const runs = 1_000
const workers = 4
const maxParallel = runs / workers
const mostMegabytes = 400
// The process that submits holds the results of all runs at once.
const mostOfSubmitter = 600
const timeout = 240_000

describe("a thousand runs at the same time over four worker processes", () => {
  test("of a pool all end, none does anything twice, and memory is bounded", { timeout }, async (context) => {
    const folder = place(context)
    const { engine }: { engine: Engine } = await import("./soak/engine.ts")
    try {
      await engine.work({ maxParallel })
      await soak(engine, folder, context)
    } finally {
      await engine.close()
    }
  })

  test("of a queue in Redis all end, none does anything twice, and memory is bounded", {
    skip: requires("redis"),
    timeout,
  }, async (context) => {
    const folder = place(context)
    await using server = await startRedis()
    const module = fileURLToPath(new URL("soak/agents.ts", import.meta.url))
    const options = [
      "--agents",
      module,
      "--store",
      server.url,
      "--backend",
      "bullmq",
      "--max-parallel",
      `${maxParallel}`,
    ]
    const { agents } = await import("./soak/agents.ts")
    await using store = redisStore(server.url)
    await using engine = createEngine({ agents, store, backend: bullmqBackend({ url: server.url }) })
    const started = Array.from({ length: workers }, () =>
      startKarst(["worker", ...options], { KARST_TEST_FOLDER: folder }, folder),
    )
    try {
      await soak(engine, folder, context)
      for (const { child } of started) child.kill("SIGTERM")
      for (const { ended } of started) assert.equal((await ended).code, 0)
    } finally {
      for (const { child } of started) child.kill("SIGKILL")
    }
  })
})

function place(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "karst-soak-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  process.env.KARST_TEST_FOLDER = folder
  return folder
}

async function soak(engine: Engine, folder: string, context: TestContext): Promise<void> {
  const begun = performance.now()
  const names = Array.from({ length: runs }, (_, index) => `run${index}`)
  const ids = await Promise.all(names.map(async (name) => (await engine.submit("stepping", name)).id))
  while (effectsIn(folder).length < runs) await setTimeout(200)
  const underWay = performance.now()
  writeFileSync(join(folder, "go"), "")
  const results = await Promise.all(ids.map((id) => engine.result(id)))
  const over = performance.now()
  for (const [index, { status, output }] of results.entries()) {
    assert.equal(`${status} ${output}`, `done Ended ${names[index]}.`)
  }
  const effects = effectsIn(folder)
  assert.deepEqual(effects.map(({ step }) => step).toSorted(), names.flatMap(stepsOf).toSorted())
  const most = new Map([[process.pid, process.memoryUsage.rss()]])
  for (const { pid, rss } of effects) most.set(pid, Math.max(rss, most.get(pid) ?? 0))
  const megabytes = [...most.values()].map((bytes) => Math.round(bytes / 2 ** 20))
  const [submitter = 0, ...rest] = megabytes
  const seconds = [underWay - begun, over - underWay].map((ms) => (ms / 1000).toFixed(1))
  context.diagnostic(`under way after ${seconds[0]} s, over ${seconds[1]} s later; MB: ${megabytes.join(", ")}`)
  assert.equal(megabytes.length, 1 + workers)
  for (const size of rest) assert.ok(size <= mostMegabytes, `a worker had ${size} MB`)
  assert.ok(submitter <= mostOfSubmitter, `the process that submits had ${submitter} MB`)
}

interface Effect {
  pid: number
  step: string
  rss: number
}

function effectsIn(folder: string): Effect[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith("effects-"))
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), "utf8").trim().split("\n")
      return lines.map((line): Effect => {
        const [run, step, rss] = line.split(" ")
        return { pid: Number(file.split("-")[1]), step: `${run} ${step}`, rss: Number(rss) }
      })
    })
}
