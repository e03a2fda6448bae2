// Benchmark: the time of a durable step in memory and with each store.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createEngine } from "karst/engine"
import { memoryStore, redisStore, type Store, sqliteStore } from "karst/stores"
import type { RedisServer } from "../../test/redis.ts"
import { type Contender, interleave, median, perUnit, stats } from "../measure.ts"
import { budget, type Report, type Row } from "../report.ts"
import { codingAgent } from "./agents.ts"

const cycles = 50

// About 100 KB that every step has to keep.
const documents =
  'let value = 0; const documents = Array.from({ length: 200 }, (_, id) => ({ id, text: "x".repeat(480) }))'
const rows =
  "let value = 0; const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: `row ${id}`, price: id / 7 }))"

/** A step of a run of its own, in memory and with each store. */
export async function stored(server: RedisServer | undefined): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const stores: Record<string, Store> = {
    memory: memoryStore(),
    sqlite: sqliteStore(join(folder, "karst.db")),
    ...(server && { redis: redisStore(server.url, { prefix: "steps" }) }),
  }
  try {
    const contenders = Object.entries({ documents, rows }).flatMap(([what, first]): [string, Contender][] => [
      [`${what}: none`, () => perUnit(cycles, () => codingAgent(cycles, first).run("Go."))],
      ...Object.entries(stores).map(([name, store]): [string, Contender] => [
        `${what}: ${name}`,
        () => steps(store, first),
      ]),
    ])
    const samples = await interleave(Object.fromEntries(contenders), { rounds: 9, warmups: 2 })
    const beyond = (what: string) =>
      median((samples[what] ?? []).map((figure, round) => figure - (samples["documents: none"]?.[round] ?? NaN)))
    return {
      rows: Object.entries(samples).map(
        ([what, figures]): Row => ({ what: named(what), unit: "ms", ...stats(figures) }),
      ),
      budgets: [
        budget(
          "a durable step with sqliteStore and 100 KB of objects, beyond one in memory",
          1,
          beyond("documents: sqlite"),
          "ms",
        ),
      ],
    }
  } finally {
    for (const store of Object.values(stores)) await store.close()
    rmSync(folder, { recursive: true })
  }
}

async function steps(store: Store, first: string): Promise<number> {
  await using engine = createEngine({ agents: { agent: codingAgent(cycles, first) }, store })
  return await perUnit(cycles, async () => {
    const { id } = await engine.submit("agent", "Go.")
    await engine.result(id)
  })
}

function named(what: string): string {
  const [kind, store] = what.split(": ")
  const objects = kind === "documents" ? "200 documents of 480 characters" : "1,000 rows"
  return `a step with ${objects}, ${store === "none" ? "not durable" : `${store} store`}`
}
