// The first program of docs/stores.md, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region intro
import { memoryStore, redisStore, sqliteStore } from "karst/stores"
// #endregion

import { workIn } from "./surroundings.ts"

test("a store changes values and logs together if its guard holds, lists keys, and yields what is appended", async (t) => {
  await workIn(t)
  // #region intro
  const store = sqliteStore("karst.db") // one machine, any number of processes
  const shared = redisStore("redis://localhost:6379") // many machines; npm install ioredis
  const scratch = memoryStore() // lost with the process
  // #endregion
  for (const unused of [shared, scratch]) await unused.close()
  await store.commit([
    { type: "put", key: "runs/6/head", value: { cycle: 9 } },
    { type: "append", log: "runs/7/events", items: Array.from({ length: 101 }, (_, index) => index) },
  ])
  const event = { type: "cycle-end" }
  for (const expected of [0, 1]) {
    const before = await store.get("runs/7/head")
    assert.equal(before === undefined, expected === 0)
    // #region intro
    const head = await store.get("runs/7/head") // { value, revision }, or undefined
    await store.commit(
      [
        { type: "put", key: "runs/7/head", value: { cycle: 3 } }, // JSON, or bytes as a Uint8Array
        { type: "append", log: "runs/7/events", items: [event] },
        { type: "delete", key: "runs/6/head" }, // removes the value and the log of that name
      ],
      // if this does not hold: a ConflictError and no change. 0: the key must not exist
      { key: "runs/7/head", ifRevision: head?.revision ?? 0 },
    )
    // #endregion
  }
  assert.deepEqual((await store.get("runs/7/head"))?.value, { cycle: 3 })
  const late = { key: "runs/7/head", ifRevision: 0 }
  await assert.rejects(store.commit([{ type: "delete", key: "runs/7/head" }], late), { name: "ConflictError" })

  const shown: unknown[] = []
  const stop = new AbortController()
  const { signal } = stop
  const other = sqliteStore("karst.db")
  const show = (value: unknown) => {
    shown.push(value)
    // The program has shown what is stored, and watches.
    if (shown.length === 7) other.commit([{ type: "append", log: "runs/7/events", items: ["new"] }])
    if (value === "new") stop.abort()
  }
  // #region intro
  for await (const key of store.keys("runs/")) show(key) // keys of values, in the order of code points
  for await (const item of store.read("runs/7/events", 100)) show(item) // from position 100 to the current end

  // and then new items, from any process, until the signal fires
  for await (const item of store.watch?.("runs/7/events", 100, signal) ?? []) show(item)
  await store.close()
  // #endregion
  await other.close()
  assert.deepEqual(shown, ["runs/7/head", 100, event, event, 100, event, event, "new"])
  await assert.rejects(store.get("runs/7/head"), { code: "closed" })
})
