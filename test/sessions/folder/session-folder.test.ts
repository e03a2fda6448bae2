// test lane: durable
import assert from "node:assert/strict"
import { appendFile, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConflictError } from "../../../src/core/errors.ts"
import type { Json } from "../../../src/core/json.ts"
import { openSessionFolder, type SessionStore } from "../../../src/sessions/folder/session-folder.ts"
import type { StoreChange } from "../../../src/stores/store.ts"
import { freshFolder } from "../session-fixtures.ts"

const record = (value: Json): StoreChange => ({ type: "put", key: "sessions/s/session", value })
const events = (...items: Json[]): StoreChange => ({ type: "append", log: "sessions/s/events", items })
const guard = (ifRevision: number) => ({ key: "sessions/s/session", ifRevision })
const read = (store: SessionStore, log = "sessions/s/events", from?: number) => Array.fromAsync(store.read(log, from))

describe("a session folder", () => {
  test("stores a commit whole: what a stopped one wrote behind its logs does not count and is written over", async () => {
    await using folder = await freshFolder()
    const store = openSessionFolder(folder.path)
    assert.equal(await store.commit([events(1, 2), record("a")], guard(0)), 1)
    const log = join(folder.path, "sessions/s/events.jsonl")
    for (const left of ["3\n4\n", '{"half":']) {
      await appendFile(log, left)
      assert.deepEqual(await read(store), [1, 2])
      assert.deepEqual(await read(openSessionFolder(folder.path)), [1, 2])
    }
    await store.commit([events(5)])
    assert.equal(await readFile(log, "utf8"), "1\n2\n5\n")
    assert.deepEqual(await read(store, undefined, 2), [5])
    await store.close()
  })

  test("gives the snapshot of the last commit, also when that was stopped before the file had its name", async () => {
    await using folder = await freshFolder()
    const store = openSessionFolder(folder.path)
    const snapshot = (byte: number): StoreChange => ({
      type: "put",
      key: "sessions/s/snapshot",
      value: Uint8Array.of(byte),
    })
    await store.commit([record("a"), snapshot(1)])
    await store.commit([record("b"), snapshot(2)])
    const directory = join(folder.path, "sessions/s")
    await rename(join(directory, "snapshot.bin"), join(directory, "snapshot.2.draft"))
    await writeFile(join(directory, "snapshot.bin"), Uint8Array.of(1))
    assert.deepEqual((await store.get("sessions/s/snapshot"))?.value, Uint8Array.of(2))
    // A draft whose commit never came does not count.
    await writeFile(join(directory, "snapshot.3.draft"), Uint8Array.of(3))
    await store.commit([record("c")])
    assert.deepEqual((await store.get("sessions/s/snapshot"))?.value, Uint8Array.of(2))
    assert.deepEqual([...(await readFile(join(directory, "snapshot.bin")))], [2])
    await store.close()
  })

  test("lets one of many win that commit at the same revision, and loses no line of those without a guard", async () => {
    await using folder = await freshFolder()
    const stores = Array.from({ length: 4 }, () => openSessionFolder(folder.path))
    await stores[0]?.commit([record(0)])
    const tried = await Promise.allSettled(stores.map((store, index) => store.commit([record(index)], guard(1))))
    assert.equal(tried.filter(({ status }) => status === "fulfilled").length, 1)
    for (const result of tried) if (result.status === "rejected") assert.ok(result.reason instanceof ConflictError)
    await Promise.all(stores.flatMap((store, index) => [1, 2, 3].map((n) => store.commit([events(index * 10 + n)]))))
    assert.equal((await read(stores[0] ?? assert.fail())).length, 12)
    for (const store of stores) await store.close()
  })

  test("keeps any name of a session or an artifact apart, and lists what it holds", async () => {
    await using folder = await freshFolder()
    const store = openSessionFolder(folder.path)
    const ids = ["s", "S", "ä.b", "x".repeat(300)]
    for (const id of ids) {
      const names = ["t1/out 1", "t1/Out 1", `t1/${"y".repeat(250)}`]
      const artifacts = names.map(
        (name): StoreChange => ({ type: "put", key: `sessions/${id}/artifacts/${name}`, value: `${id} ${name}` }),
      )
      await store.commit([{ type: "put", key: `sessions/${id}/session`, value: id }, ...artifacts])
      const keys = await Array.fromAsync(store.keys(`sessions/${id}/artifacts/`))
      assert.deepEqual(keys.toSorted(), artifacts.map((change) => ("key" in change ? change.key : "")).toSorted())
      for (const name of names)
        assert.equal((await store.get(`sessions/${id}/artifacts/${name}`))?.value, `${id} ${name}`)
    }
    const keys = await Array.fromAsync(store.keys("sessions/"))
    assert.deepEqual(keys.toSorted(), ids.map((id) => `sessions/${id}/session`).toSorted())
    await store.commit([{ type: "delete", key: "sessions/s/session" }], guard(1))
    assert.equal(await store.get("sessions/s/session"), undefined)
    assert.equal((await readdir(join(folder.path, "sessions"))).length, 3)
    await store.close()
  })

  test("says which file is damaged, and refuses an empty path and use after its end", async () => {
    await using folder = await freshFolder()
    const store = openSessionFolder(folder.path)
    await store.commit([record("a"), events("one", "two")])
    const log = join(folder.path, "sessions/s/events.jsonl")
    await writeFile(log, '"one"\n{two}\n')
    await assert.rejects(read(store), { code: "corrupt", message: /events\.jsonl", line 2,/ })
    await truncate(log, 3)
    await assert.rejects(read(store), { code: "corrupt", message: /has 3 bytes, and 12 were written/ })
    await assert.rejects(store.commit([events(1)]), { code: "corrupt" })
    await rm(log)
    await assert.rejects(read(store), { code: "corrupt" })
    await writeFile(join(folder.path, "sessions/s/session.json"), '{"key":"sessions/s/session"}')
    await assert.rejects(store.get("sessions/s/session"), { code: "corrupt" })
    await store.close()
    await assert.rejects(store.get("sessions/s/session"), { code: "closed" })
    assert.throws(() => openSessionFolder(""), { code: "config" })
  })
})
