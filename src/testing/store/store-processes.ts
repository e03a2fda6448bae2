// Cases of the store suite: several processes on one store, and processes that are killed.
import assert from "node:assert/strict"
import type { Store } from "../../stores/store.ts"
import { itemsOf, keysOf, storeCaseNeeding, valueAt } from "./store-case.ts"

export const processCases = {
  race: storeCaseNeeding("module", "processes that count the same counter up lose no step", async (trial) => {
    const workers = Array.from({ length: 4 }, () => trial.start({ type: "count", times: 25 }))
    await Promise.all(workers.map((worker) => worker.ended()))
    assert.equal(await valueAt(await trial.open(), "counter"), 100)
  }),

  "append-race": storeCaseNeeding(
    "module",
    "processes that append to the same log all get in, each in its order",
    async (trial) => {
      const names = ["a", "b", "c", "d"]
      const workers = names.map((name) => trial.start({ type: "append", log: "l", name, times: 40 }))
      await Promise.all(workers.map((worker) => worker.ended()))
      const items = (await itemsOf(await trial.open(), "l")) as [string, number][]
      assert.equal(items.length, 160)
      for (const name of names) {
        const own = items.filter(([writer]) => writer === name).map(([, number]) => number)
        assert.deepEqual(
          own,
          Array.from({ length: 40 }, (_, number) => number),
        )
      }
    },
  ),

  "seen-together": storeCaseNeeding(
    "module",
    "whoever sees one change of a commit of another process sees all of them",
    async (trial) => {
      const store = await trial.open()
      const worker = trial.start({ type: "endless", blobBytes: 100_000 })
      await worker.nextMessage()
      for (let round = 0; round < 100; round++) {
        const first = Number(await valueAt(store, "a"))
        const log = await itemsOf(store, "all")
        const last = Number(await valueAt(store, "b"))
        assert.ok(log.length >= first && last >= log.length, `a ${first}, log ${log.length}, b ${last}`)
        assert.equal(log.at(-1), log.length)
      }
      await worker.kill()
    },
  ),

  "always-there": storeCaseNeeding(
    "module",
    "a value that another process replaces is never missing, and the set of keys never another",
    async (trial) => {
      const store = await trial.open()
      const worker = trial.start({ type: "flip" })
      await worker.nextMessage()
      for (let round = 0; round < 1500; round++) {
        assert.ok(await store.get("k"), `missing in round ${round}`)
        if (round % 10 === 0) assert.deepEqual(await keysOf(store), ["k"])
      }
      await worker.kill()
    },
  ),

  kill: storeCaseNeeding(
    "module",
    "after a process is killed at any moment, each commit is complete or absent, and every acknowledged commit is complete",
    async (trial) => {
      const store = await trial.open()
      for (const [round, blobBytes] of [10, 200_000, 2_000_000, 10, 200_000, 2_000_000, 50_000, 70_000].entries()) {
        const worker = trial.start({ type: "endless", blobBytes })
        const told = Number(await worker.nextMessage())
        // Kills the process at some point in the following commits.
        await new Promise((resolve) => setTimeout(resolve, round * 3))
        await worker.kill()
        // A newly opened store and one opened earlier find the same.
        const fresh = await trial.open()
        for (const opened of round % 2 ? [fresh, store] : [store, fresh]) await checkWhole(opened, told, blobBytes)
        await fresh.close()
      }
    },
  ),

  "watch-process": storeCaseNeeding("module", "a process sees what others append, as it comes", async (trial) => {
    const store = await trial.open()
    await store.commit([{ type: "append", log: "l", items: ["before"] }])
    const watcher = trial.start({ type: "watch", log: "l", from: 0 })
    assert.equal(await watcher.nextMessage(), "ready")
    assert.equal(await watcher.nextMessage(), "before")
    for (const item of ["first", "second"]) {
      await store.commit([{ type: "append", log: "l", items: [item] }])
      assert.equal(await watcher.nextMessage(), item)
    }
    await store.commit([{ type: "delete", key: "l" }])
    await watcher.ended()
  }),
}

async function checkWhole(store: Store, told: number, blobBytes: number): Promise<void> {
  const last = Number(await valueAt(store, "a"))
  assert.ok(last >= told, `${told} was acknowledged, and ${last} is there`)
  assert.equal(await valueAt(store, "b"), last)
  const blob = (await valueAt(store, "blob")) as Uint8Array
  assert.ok(blob.length === blobBytes && blob.every((byte) => byte === last % 256))
  const numbers = Array.from({ length: last }, (_, index) => index + 1)
  assert.deepEqual(await itemsOf(store, "all"), numbers)
  assert.deepEqual(
    await itemsOf(store, "other"),
    numbers.flatMap((number) => ["x".repeat(1000), number]),
  )
}
