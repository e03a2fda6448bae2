// test lane: unit, long
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { bullmqBackend } from "../../../src/engine/backends/bullmq.ts"
import { inlineBackend } from "../../../src/engine/backends/inline.ts"
import { createEngine } from "../../../src/engine/engine.ts"
import { redisStore } from "../../../src/stores/redis-store.ts"
import { sqliteStore } from "../../../src/stores/sqlite-store.ts"
import { agents } from "../../fixtures/backends/agents.ts"
import { startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { karst, startKarst } from "../karst.ts"

const noAgents = fileURLToPath(new URL("../../property.ts", import.meta.url))
const module = fileURLToPath(new URL("../../fixtures/backends/agents.ts", import.meta.url))

describe("karst worker", () => {
  test("works on the runs of a SQLite file that other processes submit, and ends well on SIGTERM", async (context) => {
    const { store, steps, start } = sqlite(context)
    // The backend is never started: this process only submits.
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const before = await engine.submit("quick", "Go.")
    const worker = await start()
    const { id } = await engine.submit("quick", "Go.")
    for (const run of [before.id, id]) assert.equal((await engine.result(run)).output, "All done.")
    worker.child.kill("SIGTERM")
    const { code, stderr } = await worker.ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /working for quick, held[\s\S]*ending/)
    assert.equal(steps().length, 4)
  })

  test("works for the agents of the configuration if no module is named", async (context) => {
    const { folder } = place(context)
    const definition = { agents: { echo: { model: "ollama/none", instructions: "Repeat." } } }
    writeFileSync(join(folder, "karst.config.json"), JSON.stringify(definition))
    const args = ["worker", "--store", `sqlite:${join(folder, "karst.db")}`]
    const worker = await started(context, startKarst(args, { KARST_TRUST_CONFIG: "1" }, folder))
    worker.child.kill("SIGTERM")
    const { code, stderr } = await worker.ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /working for echo\./)
  })

  test("reports agents of the configuration that cannot be made with file and line", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "karst-worker-"))
    context.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, "karst.config.json")
    writeFileSync(file, '{\n  "agents": {\n    "ada": { "model": "nonsense" }\n  }\n}')
    const env = { KARST_TRUST_CONFIG: "1", KARST_HOME: join(folder, "home") }
    const { code, stderr } = await karst(["worker", "--store", "sqlite:runs.db"], env, folder)
    assert.equal(code, 2)
    assert.ok(stderr.startsWith(`karst: ${file}:3: The agent "ada" names the model "nonsense"`), stderr)
  })

  test("leaves a run at the end of its cycle on SIGTERM, and another goes on with it", async (context) => {
    const { store, steps, start, release } = sqlite(context)
    await using engine = createEngine({ agents, store, backend: inlineBackend() })
    const { id } = await engine.submit("held", "Go.")
    const first = await start()
    while (steps().length === 0) await setTimeout(10)
    first.child.kill("SIGTERM")
    await hears(first, /ending/)
    release()
    assert.equal((await first.ended).code, 0)
    assert.equal((await engine.get(id))?.status, "queued")
    const second = await start()
    assert.equal((await engine.result(id)).status, "done")
    second.child.kill("SIGINT")
    assert.equal((await second.ended).code, 0)
    assert.deepEqual(
      steps().map((line) => line.split(" ").slice(0, 2).join(" ")),
      ["step 0", "step 1"],
    )
  })

  test("takes jobs from Redis beside others, and takes over from one that is killed", {
    skip: requires("redis"),
  }, async (context) => {
    const { folder, steps, release, env } = place(context)
    await using server = await startRedis()
    await using store = redisStore(server.url)
    await using engine = createEngine({ agents, store, backend: bullmqBackend({ url: server.url }) })
    const options = ["--agents", module, "--store", server.url, "--backend", "bullmq", "--max-parallel", "2"]
    const start = () => started(context, startKarst(["worker", ...options], env, folder))
    const workers = [await start(), await start()]
    const held = await engine.submit("held", "Go.")
    while (steps().length === 0) await setTimeout(10)
    const others = await Promise.all(Array.from({ length: 10 }, () => engine.submit("quick", "Go.")))
    while (steps().length < 21) await setTimeout(10)
    const holder = Number(steps()[0]?.split(" ").at(-1))
    const killed = workers.find(({ child }) => child.pid === holder)
    for (const { id } of others) assert.equal((await engine.result(id)).status, "done")
    assert.ok(killed?.child.kill("SIGKILL"))
    release()
    assert.equal((await engine.result(held.id)).status, "done")
    for (const worker of workers) worker.child.kill("SIGTERM")
    for (const worker of workers) if (worker !== killed) assert.equal((await worker.ended).code, 0)
  })

  test("says when Redis is out of reach, with exit code 1", { skip: requires("redis") }, async () => {
    const { code, stderr } = await karst(["worker", "--agents", module, "--store", "redis://127.0.0.1:1"])
    assert.equal(code, 1)
    assert.match(stderr, /^karst: .*out of reach/m)
  })

  test("says what is wrong with a store, with exit code 1", async () => {
    const { code, stderr } = await karst(["worker", "--agents", module, "--store", `sqlite:${module}`])
    assert.equal(code, 1)
    assert.match(stderr, /^karst: The store .* is damaged/m)
    assert.doesNotMatch(stderr, /\n {4}at /)
  })

  for (const [what, args, says] of [
    ["no agents", [], /--agents/],
    ["no store", ["--agents", module], /--store is missing\. .*sqlite:karst\.db/],
    ["a store of no kind", ["--agents", module, "--store", "runs.db"], /"runs\.db" is not a store.*sqlite:runs\.db/],
    ["no such module", ["--agents", "nowhere.ts", "--store", "sqlite::memory:"], /no file nowhere\.ts/],
    ["a file that is no module", ["--agents", "package.json", "--store", "sqlite:x"], /package\.json is no module/],
    ["a module without agents", ["--agents", noAgents, "--store", "sqlite:x"], /exports no agent/],
    ["no such backend", ["--agents", module, "--store", "sqlite:x", "--backend", "celery"], /"celery" is not one of/],
    ["no Redis", ["--agents", module, "--store", "sqlite:x", "--backend", "bullmq"], /--redis redis:/],
    ["a prompt", ["--agents", module, "do it"], /takes no arguments/],
    ["a parallelism of none", ["--agents", module, "--store", "sqlite:x", "--max-parallel", "0"], /--max-parallel/],
  ] as const) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr } = await karst(["worker", ...args])
      assert.equal(code, 2)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /\n {4}at /)
    })
  }
})

function sqlite(context: TestContext) {
  const { folder, env, ...rest } = place(context)
  const path = join(folder, "karst.db")
  const store = sqliteStore(path)
  context.after(() => store.close())
  const args = ["worker", "--agents", module, "--store", `sqlite:${path}`]
  return { ...rest, store, start: () => started(context, startKarst(args, env, folder)) }
}

function place(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "karst-worker-"))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "steps")
  const steps = () => (existsSync(file) ? (readFileSync(file, "utf8").match(/^.+(?=\n)/gm) ?? []) : [])
  return { folder, steps, env: { KARST_TEST_STEPS: file }, release: () => writeFileSync(`${file}.go`, "") }
}

type Started = ReturnType<typeof startKarst>

async function started(context: TestContext, worker: Started): Promise<Started> {
  context.after(async () => {
    worker.child.kill("SIGKILL")
    await worker.ended
  })
  await hears(worker, /working for/)
  return worker
}

async function hears({ child, ended }: Started, text: RegExp): Promise<void> {
  const heard = Promise.withResolvers<void>()
  let said = ""
  child.stderr.on("data", (piece) => {
    said += piece
    if (text.test(said)) heard.resolve()
  })
  const early = ended.then(({ stderr }) => assert.match(stderr, text))
  await Promise.race([heard.promise, early])
}
