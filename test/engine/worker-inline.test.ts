// test lane: durable, long
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { createEngine, inlineBackend } from "karst/engine"
import { redisStore, type Store, sqliteStore } from "karst/stores"
import { startKarst } from "../cli/karst.ts"
import { agents } from "../fixtures/backends/agents.ts"
import { startRedis } from "../redis.ts"
import { requires } from "../system.ts"

describe("karst worker --backend inline", () => {
  test("shares a file with others, and takes over from one that is killed", async (context) => {
    const { folder, steps, release, start } = place(context)
    const path = join(folder, "karst.db")
    await using store = sqliteStore(path)
    await takesOver(store, { steps, release, start: () => start(`sqlite:${path}`) })
  })

  test("needs no queue where the store is in Redis", { skip: requires("redis") }, async (context) => {
    const { steps, release, start } = place(context)
    await using server = await startRedis()
    await using store = redisStore(server.url)
    await takesOver(store, { steps, release, start: () => start(server.url) })
    assert.deepEqual(
      (await Array.fromAsync(store.keys(""))).filter((key) => key.includes("bull")),
      [],
    )
  })
})

interface Place {
  steps(): string[]
  release(): void
  start(): ReturnType<typeof startKarst>
}

async function takesOver(store: Store, { steps, release, start }: Place): Promise<void> {
  // This backend is never started: this process only submits.
  await using engine = createEngine({ agents, store, backend: inlineBackend() })
  const { id } = await engine.submit("held", "Go.")
  const workers = [start(), start()]
  while (steps().length === 0) await setTimeout(10)
  const holder = Number(steps()[0]?.split(" ").at(-1))
  const quick = await Promise.all(Array.from({ length: 6 }, () => engine.submit("quick", "Go.")))
  for (const run of quick) assert.equal((await engine.result(run.id)).output, "All done.")
  assert.equal(workers.filter(({ child }) => child.pid === holder && child.kill("SIGKILL")).length, 1)
  release()
  const result = await engine.result(id)
  assert.equal(result.output, "All done.")
  // The step that was under way is unknown and not taken again; the other one is taken by the one that is left.
  assert.match(JSON.stringify(result.messages), /step was begun before an interruption/)
  assert.equal(steps().length, 1 + 12 + 1)
  for (const { child } of workers) child.kill("SIGTERM")
  const codes = await Promise.all(workers.map(async ({ ended }) => (await ended).code))
  assert.deepEqual(codes.toSorted(), [0, null])
}

function place(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "karst-inline-"))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "steps")
  const module = fileURLToPath(new URL("../fixtures/backends/agents.ts", import.meta.url))
  return {
    folder,
    // The file is created before its first line is written.
    steps: () => (existsSync(file) ? (readFileSync(file, "utf8").match(/^.+(?=\n)/gm) ?? []) : []),
    release: () => writeFileSync(`${file}.go`, ""),
    start(store: string) {
      const options = ["--agents", module, "--store", store, "--backend", "inline"]
      const worker = startKarst(["worker", ...options], { KARST_TEST_STEPS: file }, folder)
      context.after(async () => {
        worker.child.kill("SIGKILL")
        await worker.ended
      })
      return worker
    },
  }
}
