// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { sqliteStore } from "karst/stores"
import { createCommitBatcher } from "../../src/stores/sqlite-commits.ts"
import { openDatabase } from "../../src/stores/sqlite-database.ts"

test("commits of one moment are made in their order, and one whose guard does not hold keeps no other from it", async () => {
  await using place = folder()
  await using store = sqliteStore(join(place.path, "karst.db"))
  const first = await store.commit([{ type: "put", key: "head", value: 0 }])
  const outcomes = await Promise.allSettled([
    store.commit([{ type: "append", log: "l", items: [1] }]),
    store.commit([{ type: "put", key: "head", value: 1 }], { key: "head", ifRevision: first }),
    store.commit([{ type: "append", log: "l", items: [2] }], { key: "head", ifRevision: first }),
    store.commit([{ type: "append", log: "l", items: [3] }]),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === "fulfilled" ? "made" : outcome.reason.name)),
    ["made", "made", "ConflictError", "made"],
  )
  const revisions = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
  assert.deepEqual(revisions, [...new Set(revisions)].sort())
  assert.deepEqual(await Array.fromAsync(store.read("l")), [1, 3])
  assert.equal((await store.get("head"))?.value, 1)
})

test("one that the file cannot take does not take the others with it", async () => {
  await using place = folder()
  const path = join(place.path, "karst.db")
  const database = await openDatabase(path, { name: "The store", sync: false, busyTimeoutMs: 1_000 })
  const { queries } = database
  const apply: typeof queries.apply = (change, revision) => {
    if (change.type === "put") throw new Error("It does not fit.")
    queries.apply(change, revision)
  }
  const commits = createCommitBatcher(async () => ({ ...database, queries: { ...queries, apply } }))
  const outcomes = await Promise.allSettled([
    commits.add([{ type: "append", log: "l", items: ["1"] }], undefined),
    commits.add(
      [
        { type: "append", log: "l", items: ["2"] },
        { type: "put", key: "k", value: "large" },
      ],
      undefined,
    ),
    commits.add([{ type: "append", log: "l", items: ["3"] }], undefined),
  ])
  database.close()
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  )
  await using store = sqliteStore(path)
  assert.deepEqual(await Array.fromAsync(store.read("l")), [1, 3])
})

test("closing a store waits for the commits under way", async () => {
  await using place = folder()
  const path = join(place.path, "karst.db")
  const store = sqliteStore(path)
  await store.get("k")
  const commit = store.commit([{ type: "put", key: "k", value: 1 }])
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)))
  await store.close()
  await commit
  await using again = sqliteStore(path)
  assert.equal((await again.get("k"))?.value, 1)
})

function folder(): AsyncDisposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "karst-sqlite-"))
  return { path, [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true }) }
}
