// Benchmark: the commit of a step and reading a value, with each store.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryStore } from "../src/stores/memory-store.ts"
import { redisStore } from "../src/stores/redis-store.ts"
import { sqliteStore } from "../src/stores/sqlite-store.ts"
import type { Store } from "../src/stores/store.ts"
import { type RedisServer, startRedis } from "../test/redis.ts"
import { requires } from "../test/system.ts"
import { type Contender, interleave, perUnit, stats } from "./measure.ts"
import { budget, type Report, type Row } from "./report.ts"

const sizes = { "1 KB": 1_000, "100 KB": 100_000, "1 MB": 1_000_000 }

/** A step's commit (a value of some size and one event, guarded) and reading the value back, with each store. */
export async function store(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "karst-bench-"))
  const noRedis = requires("redis")
  const server = noRedis === undefined ? await startRedis() : undefined
  const stores = open(folder, server)
  try {
    const samples: Record<string, number[]> = {}
    for (const [size, length] of Object.entries(sizes)) {
      const contenders: [string, Contender][] = Object.entries(stores).flatMap(([name, store]) => [
        [`${name}: commit ${size}`, committing(store, length)],
        [`${name}: get ${size}`, () => perUnit(repeats, () => times(repeats, () => store.get(`head ${length}`)))],
      ])
      Object.assign(samples, await interleave(Object.fromEntries(contenders), { rounds: 20, warmups: 2 }))
    }
    const rows = Object.entries(samples).map(([what, figures]): Row => ({ what, unit: "ms", ...stats(figures) }))
    const median = (what: string) => stats(samples[what] ?? []).median
    return {
      rows,
      budgets: [
        budget(
          "a commit of 100 KB with sqliteStore, beyond memory",
          1,
          median("sqlite: commit 100 KB") - median("memory: commit 100 KB"),
          "ms",
        ),
      ],
      ...(noRedis !== undefined && { absent: [{ what: "redis", why: noRedis }] }),
    }
  } finally {
    for (const store of Object.values(stores)) await store.close()
    await server?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  }
}

function open(folder: string, server: RedisServer | undefined): Record<string, Store> {
  return {
    memory: memoryStore(),
    sqlite: sqliteStore(join(folder, "karst.db")),
    "sqlite, sync off": sqliteStore(join(folder, "quick.db"), { sync: false }),
    ...(server && { redis: redisStore(server.url) }),
  }
}

function committing(store: Store, length: number): Contender {
  const key = `head ${length}`
  const value = { text: "x".repeat(length) }
  const event = { type: "code-end", text: "x".repeat(300) }
  let ifRevision = 0
  const once = async () => {
    const changes = [
      { type: "put", key, value },
      { type: "append", log: "events", items: [event] },
    ] as const
    ifRevision = await store.commit(changes, { key, ifRevision })
  }
  return () => perUnit(repeats, () => times(repeats, once))
}

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done++) await work()
}

const repeats = 10
