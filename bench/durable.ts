import { Queue, Worker } from "bullmq"
import { Redis } from "ioredis"
import { bullmqBackend, createAgent, createEngine, jsRuntime, redisStore, scripted } from "karst"
import { type RedisServer, startRedis } from "../test/redis.ts"
import { requires } from "../test/system.ts"
import { interleave, perUnit, ratio, stats } from "./measure.ts"
import { budget, type Report } from "./report.ts"

/** Cycles of durable runs through BullMQ, beside jobs that do nothing but push the next one. */
export async function durable(): Promise<Report> {
  const missing = requires("redis")
  if (missing !== undefined) return { rows: [], budgets: [], absent: [{ what: "cycles through BullMQ", why: missing }] }
  // What the disk does is the same for all, and not what is compared.
  await using server = await startRedis("--appendonly", "no")
  const samples = await interleave(
    {
      chained: () => chainedJobs(server),
      single: () => cycles(server, 0),
      sliced: () => cycles(server, undefined),
    },
    { rounds: 5, warmups: 1 },
  )
  const single = ratio(samples.single, samples.chained)
  const sliced = ratio(samples.sliced, samples.chained)
  return {
    rows: [
      { what: "a chained job of BullMQ that does nothing", unit: "ms", ...stats(samples.chained) },
      { what: "a durable cycle, one a job", unit: "ms", ...stats(samples.single), ratios: { chained: single } },
      { what: "a durable cycle, default slices", unit: "ms", ...stats(samples.sliced), ratios: { chained: sliced } },
    ],
    budgets: [
      budget("durable cycle, one a job, against chained jobs of BullMQ", 1 / 0.4, single, "×"),
      budget("durable cycle, default slices, against chained jobs of BullMQ", 1, sliced, "×"),
    ],
  }
}

const chains = 4
const links = 50
let places = 0

async function chainedJobs({ url }: RedisServer): Promise<number> {
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

async function cycles({ url }: RedisServer, sliceMs: number | undefined): Promise<number> {
  const prefix = `durable-${++places}`
  const model = scripted(({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length
    return turn + 1 < links ? `\`\`\`ts\nconst value${turn} = ${turn}\n\`\`\`` : "Done."
  })
  const agent = createAgent({ model, runtime: () => jsRuntime({}), limits: { cycles: links } })
  await using store = redisStore(url, { prefix })
  await using engine = createEngine({ agents: { agent }, store, backend: bullmqBackend({ url, prefix }), sliceMs })
  await engine.work({ concurrency: chains })
  return await perUnit(chains * links, async () => {
    const runs = await Promise.all(Array.from({ length: chains }, () => engine.submit("agent", "Go.")))
    for (const { id } of runs) {
      const { status } = await engine.result(id)
      if (status !== "done") throw new Error(`A run of the bench ended as ${status}.`)
    }
  })
}
