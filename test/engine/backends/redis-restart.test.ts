// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { Redis } from "ioredis"
import { bullmqBackend, createEngine, type Engine } from "karst/engine"
import { redisStore } from "karst/stores"
import { startRedis } from "../../redis.ts"
import { requires } from "../../system.ts"
import { steppingAgent, stepsOf } from "../races/stepping-agent.ts"

describe("an engine whose Redis dies and comes back", { skip: requires("redis") }, () => {
  test("finishes its runs as if nothing had been, when the server is back soon", async () => {
    await using server = await startRedis()
    await using store = redisStore(server.url)
    const { effects, unknown } = await runThrough(server, (agent) =>
      createEngine({ agents: { agent }, store, backend: queueAt(server.url) }),
    )
    assert.deepEqual(unknown, [])
    assert.deepEqual(effects.toSorted(), names.flatMap(stepsOf).toSorted())
  })

  test("loses no call and makes none twice, when writes fail in the meantime", async () => {
    await using server = await startRedis()
    // A client that fails after few attempts.
    const client = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: () => 50 })
    client.on("error", () => {})
    try {
      await using store = redisStore(client)
      const { effects, unknown } = await runThrough(server, (agent) =>
        createEngine({ agents: { agent }, store, backend: queueAt(server.url), leaseMs: 1_000 }),
      )
      assert.deepEqual([...new Set([...effects, ...unknown])].toSorted(), names.flatMap(stepsOf).toSorted())
      assert.equal(new Set(effects).size, effects.length)
    } finally {
      client.disconnect()
    }
  })
})

const names = Array.from({ length: 8 }, (_, index) => `run${index}`)

/** Kills the server during some runs and starts it again. Returns the steps that took effect, and those that were
 *  reported to the model as unknown. */
async function runThrough(
  server: Awaited<ReturnType<typeof startRedis>>,
  open: (agent: ReturnType<typeof steppingAgent>) => Engine,
): Promise<{ effects: string[]; unknown: string[] }> {
  const effects: string[] = []
  let restarting: Promise<void> | undefined
  const agent = steppingAgent(async (run, step) => {
    effects.push(`${run} ${step}`)
    if (effects.length === 10) restarting = server.kill().then(() => server.start())
  })
  const unknown: string[] = []
  await using engine = open(agent)
  await engine.work({ maxParallel: 4 })
  const runs = await Promise.all(names.map((name) => engine.submit("agent", name)))
  for (const [index, { id }] of runs.entries()) {
    await ended(engine, id)
    const { messages } = await engine.result(id)
    const results = messages.filter(({ role }) => role === "result")
    assert.equal(results.length, 3)
    for (const [step, result] of results.entries()) {
      if (JSON.stringify(result).includes("UnknownOutcome")) unknown.push(`${names[index]} ${step}`)
    }
  }
  await restarting
  return { effects, unknown }
}

// Repeated, because `result` fails while the server is unreachable.
async function ended(engine: Engine, id: string): Promise<void> {
  for (;;) {
    const result = await engine.result(id).catch(() => undefined)
    if (result) return assert.equal(result.status, "done")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function queueAt(url: string) {
  return bullmqBackend({ url, lockDurationMs: 1_000, stalledIntervalMs: 250, onError() {} })
}
