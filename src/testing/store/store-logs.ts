// Cases of the store suite: logs.
import assert from "node:assert/strict"
import { itemsOf, keysOf, storeCase } from "./store-case.ts"

export const logCases = {
  log: storeCase("a log has all appended items in order and can be read from any position", async (trial) => {
    const store = await trial.open()
    assert.deepEqual(await itemsOf(store, "l"), [])
    await store.commit([{ type: "append", log: "l", items: [1, { two: "2" }] }])
    await store.commit([{ type: "append", log: "l", items: [] }])
    await store.commit([{ type: "append", log: "l", items: [null] }])
    assert.deepEqual(await itemsOf(store, "l"), [1, { two: "2" }, null])
    assert.deepEqual(await itemsOf(store, "l", 1), [{ two: "2" }, null])
    assert.deepEqual(await itemsOf(store, "l", 3), [])
    assert.deepEqual(await itemsOf(store, "l", 99), [])
    assert.deepEqual(await keysOf(store), [])
  }),

  "long-log": storeCase("a log of many items, small and large, is read whole and from anywhere", async (trial) => {
    const store = await trial.open()
    const items = Array.from({ length: 6000 }, (_, number) => ({
      number,
      text: "x".repeat(number % 500 ? 100 : 300_000),
    }))
    for (let from = 0; from < items.length; from += 2000) {
      await store.commit([{ type: "append", log: "l", items: items.slice(from, from + 2000) }])
    }
    assert.deepEqual(await itemsOf(store, "l"), items)
    for (const from of [1, 1999, 3500, 5999]) assert.deepEqual(await itemsOf(store, "l", from), items.slice(from))
  }),

  "many-logs": storeCase("many logs grow side by side and do not meet", async (trial) => {
    const store = await trial.open()
    const logs = Array.from({ length: 300 }, (_, number) => `runs/${number}/events`)
    for (const round of [1, 2]) {
      await store.commit(logs.map((log) => ({ type: "append", log, items: [log, round] })))
    }
    for (const log of logs) assert.deepEqual(await itemsOf(store, log), [log, 1, log, 2])
  }),

  "read-end": storeCase(
    "reading ends where the log ended when it began, also while more is appended",
    async (trial) => {
      const store = await trial.open()
      await store.commit([{ type: "append", log: "l", items: [1, 2, 3] }])
      const seen: unknown[] = []
      for await (const item of store.read("l")) {
        seen.push(item)
        await store.commit([{ type: "append", log: "l", items: ["more"] }])
      }
      assert.deepEqual(seen, [1, 2, 3])
      for await (const item of store.read("l")) {
        assert.equal(item, 1)
        break
      }
      assert.equal((await itemsOf(store, "l")).length, 6)
    },
  ),
}
