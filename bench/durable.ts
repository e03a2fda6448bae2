// Benchmark: the cost of durable runs. The parts are in durable/.
import { startRedis } from "../test/redis.ts"
import { requires } from "../test/system.ts"
import { checkpoints } from "./durable/checkpoints.ts"
import { longRuns } from "./durable/long-runs.ts"
import { queued } from "./durable/queued.ts"
import { resume } from "./durable/resume.ts"
import { sessions } from "./durable/sessions.ts"
import { stored } from "./durable/stored.ts"
import { variables } from "./durable/variables.ts"
import { waiting } from "./durable/waiting.ts"
import type { Report } from "./report.ts"

/** The cost of durable runs: a step with each store, cycles through BullMQ, resuming, bytes written, variables,
 *  sessions, waiting runs. */
export async function durable(): Promise<Report> {
  const missing = requires("redis")
  // What the disk does is the same for all, and not what is compared.
  await using server = missing === undefined ? await startRedis("--appendonly", "no") : undefined
  const reports = [
    await stored(server),
    await longRuns(),
    ...(server ? [await queued(server)] : []),
    await resume(),
    await checkpoints(),
    await variables(),
    await sessions(),
    await waiting(),
  ]
  return {
    rows: reports.flatMap(({ rows }) => rows),
    budgets: reports.flatMap(({ budgets }) => budgets),
    ...(missing !== undefined && { absent: [{ what: "cycles with Redis and BullMQ", why: missing }] }),
  }
}
