// test lane: unit, long
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { bullmqBackend } from "../../../src/engine/backends/bullmq.ts"
import { createEngine, type Engine } from "../../../src/engine/engine.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { redisStore } from "../../../src/stores/redis-store.ts"
import { sqliteStore } from "../../../src/stores/sqlite-store.ts"
import type { Store } from "../../../src/stores/store.ts"
import { askTool } from "../../../src/tools/finish-and-ask.ts"
import { startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { karst } from "../karst.ts"

const pay = fn((amount: number) => `paid ${amount}`, { description: "Pays.", approve: true })
const payModel = () =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "assistant") ? "All paid." : "```ts\nawait pay(250)\n```",
  )
const usage = { input: 1000, output: 100, complete: true }
const agents = {
  counter: createAgent({
    model: scriptedModel(["```ts\nincrement(1)\n```", "Counted."], { price: { input: 1, output: 10 }, usage }),
    runtime: () => jsRuntime({ increment: (n: number) => n + 1 }),
  }),
  payer: createAgent({ model: payModel(), runtime: () => jsRuntime({ pay }) }),
  asker: createAgent({
    tools: [askTool()],
    model: scriptedModel(({ messages }) => {
      const isAsked = messages.some(({ role }) => role === "assistant")
      return isAsked
        ? "Blue it is."
        : [{ type: "tool-call", id: "c1", name: "ask", input: { question: "Which colour?" } }]
    }),
  }),
}

describe("karst runs", () => {
  let folder: string
  let place: string
  let store: Store
  let engine: Engine

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-runs-"))
    place = `sqlite:${join(folder, "karst.db")}`
    store = sqliteStore(join(folder, "karst.db"))
    engine = createEngine({ agents, store, holdMs: 10 })
  })
  after(async () => {
    await engine.close()
    await store.close()
    await rm(folder, { recursive: true })
  })

  const runs = (...args: string[]) => karst(["runs", ...args, "--store", place])

  test("a run that waits for approval is listed, shown with its call, and approved", async () => {
    const { id } = await engine.submit("payer", "Pay it.")
    assert.equal((await engine.result(id)).status, "waiting")
    const { stdout } = await runs("list", "--status", "waiting")
    assert.match(stdout, new RegExp(`^run +status .*\n${id} +waiting .* payer +approval: pay\\(250\\)\n$`))
    const shown = await runs("show", id)
    assert.match(
      shown.stdout,
      /status +waiting[\s\S]*pay\(250\)[\s\S]*Allow: karst runs approve run_\w+ --store sqlite:/,
    )
    const watched = await runs("watch", id)
    assert.equal(watched.code, 4, watched.stderr)
    assert.match(watched.stdout, /❯ Pay it\./)
    assert.match(watched.stderr, /^Waits for approval: pay\(250\)\nAllow: karst runs approve run_/)
    const approved = await runs("approve", id)
    assert.equal(approved.code, 0, approved.stderr)
    const result = await until(id)
    assert.equal(result.output, "All paid.")
    assert.match((await runs("show", id)).stdout, /status +done[\s\S]*\nAll paid\.\n$/)
    const again = await runs("watch", id)
    assert.equal(again.code, 0)
    assert.match(again.stdout, /await pay\(250\)[\s\S]*● All paid\.[\s\S]*✓ done/)
  })

  test("list and show say what a run has used: tokens, cost and calls", async () => {
    const { id } = await engine.submit("counter", "Count.")
    assert.equal((await engine.result(id)).output, "Counted.")
    const { stdout } = await runs("list", "--agent", "counter")
    assert.match(stdout, /^run .* used .*\nrun_\w+ +done .* 2,200 tokens, \$0\.0040 +counter/)
    const shown = await runs("show", id)
    assert.match(shown.stdout, /^calls +1\ntokens +2,000 in, 200 out\ncost +\$0\.0040$/m)
    const { usage, calls } = JSON.parse((await runs("show", id, "--json")).stdout)
    assert.deepEqual([usage.input, usage.costUsd, calls], [2000, 0.004, 1])
    const unpriced = await engine.submit("payer", "Pay it.")
    await engine.result(unpriced.id)
    assert.match((await runs("show", unpriced.id)).stdout, /^tokens +unknown\ncost +unknown$/m)
  })

  test("the trajectory of a run is shown step by step", async () => {
    const { id } = await engine.submit("payer", "Pay it.")
    const { pending } = await engine.result(id)
    await engine.approve(id, pending?.id ?? "", "allow")
    assert.equal((await until(id)).output, "All paid.")
    const { code, stdout, stderr } = await karst(["trajectory", "show", id, "--tools", "--store", place])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^runs +1, the last one done$/m)
    assert.match(stdout, /^\[1\] +user +Pay it\..*\n\[2\] +agent +await pay\(250\) · 1 cell.*\n +✓ await pay/m)
    assert.match(stdout, /^\[3\] +agent +All paid\.$/m)
    const wrong = await karst(["trajectory", "show", "run_nothing", "--store", place])
    assert.match(wrong.stderr, /no session or run "run_nothing" in the store/)
  })

  test("a question is answered, and --json prints runs as data", async () => {
    const { id } = await engine.submit("asker", "Paint it.")
    assert.equal((await engine.result(id)).status, "waiting")
    const [info] = JSON.parse((await runs("list", "--agent", "asker", "--json")).stdout)
    assert.deepEqual([info.id, info.pending.question], [id, "Which colour?"])
    assert.equal((await runs("answer", id, "blue")).code, 0)
    assert.equal((await until(id)).output, "Blue it is.")
  })

  test("a run is denied, steered, aborted and pruned", async () => {
    const { id } = await engine.submit("payer", "Pay it.")
    await engine.result(id)
    assert.equal((await runs("steer", id, "Pay", "less")).code, 0)
    const aborted = await runs("abort", id, "Not", "needed")
    assert.equal(aborted.stdout, `${id}: aborted\n`, aborted.stderr)
    assert.equal((await runs("watch", id)).code, 130)
    const pruned = await runs("prune", "--older-than", "0s")
    assert.match(pruned.stdout, new RegExp(`Deleted ${id}\n`))
    assert.equal(await engine.get(id), undefined)
  })

  test("a run that no process works on says what continues it", async () => {
    const alone = `sqlite:${join(folder, "alone.db")}`
    const aloneStore = sqliteStore(join(folder, "alone.db"))
    const program = createEngine({ agents, store: aloneStore, holdMs: 10 })
    const { id } = await program.submit("payer", "Pay it.")
    assert.equal((await program.result(id)).status, "waiting")
    await program.close()
    await aloneStore.close()
    const { stdout, stderr } = await karst(["runs", "approve", id, "--store", alone])
    assert.equal(stdout, `${id}: queued\n`)
    assert.match(stderr, /A process that has the agent payer continues it: your program, or karst worker\./)
  })

  test("a failed run is retried by a worker elsewhere", { skip: requires("redis") }, async () => {
    await using server = await startRedis()
    await using shared = redisStore(server.url)
    let isBroken = true
    const model = scriptedModel(() => {
      if (isBroken) throw new Error("no model")
      return "Fine."
    })
    const worker = { flaky: createAgent({ model }) }
    const backend = bullmqBackend({ url: server.url })
    await using other = createEngine({ agents: worker, store: shared, backend, retry: { maxRetries: 0 } })
    await other.work()
    const { id } = await other.submit("flaky", "Go.")
    assert.equal((await other.result(id)).status, "failed")
    isBroken = false
    const { code, stdout, stderr } = await karst(["runs", "retry", id, "--store", server.url])
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`^${id}: `))
    assert.equal((await other.result(id)).output, "Fine.")
  })

  for (const [what, args, says] of [
    ["no store", ["list"], /--store is missing\. .*sqlite:karst\.db/],
    ["no such run", ["show", "run_x", "--store", "existing"], /There is no run "run_x"/],
    ["no run to approve", ["approve", "run_x", "--store", "existing"], /There is no run/],
    ["two decisions", ["approve", "run_x", "--deny", "--always"], /exclude each other/],
    ["no age", ["prune", "--store", "existing"], /--older-than 30d/],
    ["an age that is none", ["prune", "--older-than", "old"], /"old" is not a duration.*7d/],
  ] as const) {
    test(`${what} is reported in one sentence, with exit code 2`, async () => {
      const { code, stderr } = await karst(["runs", ...args.map((word) => (word === "existing" ? place : word))])
      assert.equal(code, 2)
      assert.match(stderr, says)
    })
  }

  /** Waits until a run that waited has ended. */
  async function until(id: string) {
    for (;;) {
      const result = await engine.result(id)
      if (result.status !== "waiting") return result
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
})
