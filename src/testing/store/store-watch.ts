// Cases of the store suite: watching logs.
import assert from "node:assert/strict"
import type { Json } from "../../core/json.ts"
import type { Store } from "../../stores/store.ts"
import { type StoreTrial, storeCase } from "./store-case.ts"

export const watchCases = {
  watch: storeCase(
    "a watcher yields the items from its position on, then new items, each once and in order",
    async (trial) => {
      const store = await trial.open()
      const add = (...items: Json[]) => store.commit([{ type: "append", log: "l", items }])
      await add(0, 1, 2)
      const watcher = watch(store, "l", 1)
      assert.deepEqual(await watcher.take(2), [1, 2])
      await add(3)
      assert.deepEqual(await watcher.take(1), [3])
      const coming = watcher.take(3)
      await store.commit([{ type: "append", log: "other", items: ["no"] }])
      await add(4)
      await add(5, 6)
      assert.deepEqual(await coming, [4, 5, 6])
      await watcher.stop()
    },
  ),

  "watch-before": storeCase(
    "a watcher waits for a log that is not there, and for a position that it has not reached",
    async (trial) => {
      const store = await trial.open()
      const [early, late] = [watch(store, "l", 0), watch(store, "l", 2)]
      const [first, third] = [early.take(3), late.take(1)]
      for (const item of [0, 1, 2]) await store.commit([{ type: "append", log: "l", items: [item] }])
      assert.deepEqual(await first, [0, 1, 2])
      assert.deepEqual(await third, [2])
      await early.stop()
      await late.stop()
    },
  ),

  "watch-many": storeCase(
    "many watch at once, one log or several, and miss nothing while much is written",
    async (trial) => {
      const store = await trial.open()
      const logs = ["a", "b", "c"]
      const watchers = logs.flatMap((log) => [watch(store, log, 0), watch(store, log, 0)])
      const all = watchers.map((watcher) => watcher.take(100))
      for (let number = 0; number < 100; number++) {
        await store.commit(logs.map((log) => ({ type: "append", log, items: [number] })))
      }
      const wanted = Array.from({ length: 100 }, (_, number) => number)
      for (const taken of await Promise.all(all)) assert.deepEqual(taken, wanted)
      for (const watcher of watchers) await watcher.stop()
    },
  ),

  "watch-abort": storeCase(
    "watching ends quietly when its signal fires: waiting, between two items, and from the start",
    async (trial) => {
      const store = await trial.open()
      await store.commit([{ type: "append", log: "l", items: [1, 2] }])
      const waiting = watch(store, "l", 2)
      const ended = waiting.rest()
      waiting.abort()
      assert.deepEqual(await ended, [])
      const between = watch(store, "l", 0)
      assert.deepEqual(await between.take(1), [1])
      between.abort()
      assert.deepEqual(await between.rest(), [])
      const late = watch(store, "l", 0, AbortSignal.abort())
      assert.deepEqual(await late.rest(), [])
    },
  ),

  "watch-delete": storeCase(
    "watching ends when the log is deleted, also when another begins in its place",
    async (trial) => {
      const store = await trial.open()
      const add = { type: "append", log: "l", items: [1, 2] } as const
      await store.commit([add])
      const watchers = [watch(store, "l", 0), watch(store, "l", 0)] as const
      for (const watcher of watchers) assert.deepEqual(await watcher.take(2), [1, 2])
      const rests = watchers.map((watcher) => watcher.rest())
      await store.commit([{ type: "delete", key: "l" }])
      assert.deepEqual(await Promise.all(rests), [[], []])
      await store.commit([add])
      const third = watch(store, "l", 0)
      assert.deepEqual(await third.take(2), [1, 2])
      const rest = third.rest()
      await store.commit([{ type: "delete", key: "l" }, add, add])
      assert.deepEqual(await rest, [])
    },
  ),

  "watch-close": storeCase("watching ends when the store is closed", async (trial) => {
    const store = await trial.open()
    await store.commit([{ type: "append", log: "l", items: [1] }])
    const watcher = watch(store, "l", 0)
    assert.deepEqual(await watcher.take(1), [1])
    const rest = watcher.rest()
    await store.close()
    assert.deepEqual(await rest, [])
  }),

  "watch-elsewhere": storeCase(
    "a watcher yields items that were appended through another connection to the store",
    async (trial: StoreTrial) => {
      const [reader, writer] = [await trial.open(), await trial.open()]
      const watcher = watch(reader, "l", 0)
      const taken = watcher.take(3)
      await writer.commit([{ type: "append", log: "l", items: [1, 2] }])
      await writer.commit([{ type: "append", log: "l", items: [3] }])
      assert.deepEqual(await taken, [1, 2, 3])
      const rest = watcher.rest()
      await writer.commit([{ type: "delete", key: "l" }])
      assert.deepEqual(await rest, [])
    },
  ),
}

/** Watches a log. `take` waits for a number of items; `rest` returns the items before the end. */
export function watch(store: Store, log: string, from: number, signal?: AbortSignal) {
  assert.ok(store.watch, "It has no watch: skip the cases that need it, by name.")
  const controller = new AbortController()
  const items = store.watch(log, from, signal ?? controller.signal)[Symbol.asyncIterator]()
  async function take(count: number): Promise<Json[]> {
    const taken: Json[] = []
    while (taken.length < count) {
      const { done, value } = await items.next()
      if (done) break
      taken.push(value)
    }
    return taken
  }
  const rest = () => take(Infinity)
  return {
    take,
    rest,
    abort: () => controller.abort(),
    async stop() {
      controller.abort()
      await rest()
    },
  }
}
