// Benchmark: cycles of durable runs per second through BullMQ.
import { Queue, Worker } from "bullmq"
import { Redis } from "ioredis"
import type { Agent } from "karst"
import { bullmqBackend, createEngine } from "karst/engine"
import { redisStore } from "karst/stores"
import type { RedisServer } from "../../test/redis.ts"
import { interleave, perUnit, ratio, stats } from "../measure.ts"
import { budget, type Report } from "../report.ts"
import { callingAgent, codingAgent } from "./agents.ts"

/** Cycles of durable runs through BullMQ, beside jobs that do nothing but push the next one: as many at a time, in one
 *  process as well. */
export async function queued({ url }: RedisServer): Promise<Report> {
  const samples = await interleave(
    {
      chained: () => chainedJobs(url),
      single: () => cycles(url, callingAgent(links), 0),
      sliced: () => cycles(url, callingAgent(links), undefined),
      "single code": () => cycles(url, codingAgent(links), 0),
      "sliced code": () => cycles(url, codingAgent(links), undefined),
    },
    { rounds: 7, warmups: 2 },
  )
  const against = (name: keyof typeof samples) => ratio(samples[name], samples.chained)
  const row = (what: string, name: keyof typeof samples) => ({
    what,
    unit: "ms" as const,
    ...stats(samples[name]),
    ratios: { chained: against(name) },
  })
  return {
    rows: [
      { what: "a chained job of BullMQ that does nothing", unit: "ms", ...stats(samples.chained) },
      row("a durable cycle, one a job", "single"),
      row("a durable cycle, default slices", "sliced"),
      row("a durable cycle with a cell, one a job", "single code"),
      row("a durable cycle with a cell, default slices", "sliced code"),
    ],
    budgets: [
      budget("durable cycle, one a job, against chained jobs of BullMQ", 1 / 0.4, against("single"), "×"),
      budget("durable cycle, default slices, against chained jobs of BullMQ", 1, against("sliced"), "×"),
    ],
  }
}

const chains = 4
const links = 100
let places = 0

async function chainedJobs(url: string): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const name = `chained-${++places}`
  const queue = new Queue(name, { connection })
  const all = Promise.withResolvers<void>()
  let left = chains * links
  const push = (link: number) => queue.add("link", { link }, { removeOnComplete: true })
  const next = async ({ data }: { data: { link: number } }) => {
    if (data.link + 1 < links) await push(data.link + 1)
    if (--left === 0) all.resolve()
  }
  const worker = new Worker(name, next, { connection, concurrency: chains })
  await worker.waitUntilReady()
  const figure = await perUnit(chains * links, async () => {
    await Promise.all(Array.from({ length: chains }, () => push(0)))
    await all.promise
  })
  await worker.close()
  await queue.close()
  await connection.quit()
  return figure
}

async function cycles(url: string, agent: Agent, sliceMs: number | undefined): Promise<number> {
  const prefix = `durable-${++places}`
  await using store = redisStore(url, { prefix })
  await using engine = createEngine({ agents: { agent }, store, backend: bullmqBackend({ url, prefix }), sliceMs })
  await engine.work({ maxParallel: chains })
  return await perUnit(chains * links, async () => {
    const runs = await Promise.all(Array.from({ length: chains }, () => engine.submit("agent", "Go.")))
    for (const { id } of runs) {
      const { status } = await engine.result(id)
      if (status !== "done") throw new Error(`A run of the bench ended as ${status}.`)
    }
  })
}
