// Cases of the store suite: storage that is unavailable, full or damaged.
import assert from "node:assert/strict"
import { AgentError } from "../../core/errors.ts"
import type { Store } from "../../stores/store.ts"
import { itemsOf, keysOf, refused, storeCaseNeeding, valueAt } from "./store-case.ts"
import { watch } from "./store-watch.ts"

export const troubleCases = {
  outage: storeCaseNeeding(
    "outage",
    "while the server is away commands wait or fail as retryable, and nothing is done twice or by halves",
    async (trial) => {
      const store = await trial.open()
      const watcher = watch(store, "l", 0)
      await append(store, 0)
      const done: number[] = [0]
      const unknown: number[] = []
      for (const round of [1, 2]) {
        const before = Array.from({ length: 5 }, (_, index) => round * 100 + index)
        const under = before.map((number) => append(store, number))
        const restore = await trial.trouble("outage")
        const during = [round * 100 + 50, round * 100 + 51]
        const all = Promise.allSettled([...under, ...during.map((number) => append(store, number))])
        const read = store.get("last").catch(retryable)
        await restore()
        for (const [index, outcome] of (await all).entries()) {
          const number = [...before, ...during][index] ?? assert.fail()
          if (outcome.status === "rejected") retryable(outcome.reason)
          const list = outcome.status === "fulfilled" ? done : unknown
          list.push(number)
        }
        await read
        done.push(round * 100 + 99)
        await appendAtLast(store, round * 100 + 99)
      }
      const items = (await itemsOf(store, "l")) as number[]
      assert.equal(new Set(items).size, items.length, `twice: ${items}`)
      assert.deepEqual(
        done.filter((number) => !items.includes(number)),
        [],
      )
      assert.deepEqual(
        items.filter((number) => !done.includes(number) && !unknown.includes(number)),
        [],
      )
      assert.equal(await valueAt(store, "last"), items.at(-1))
      assert.deepEqual(await watcher.take(items.length), items)
      await watcher.stop()
    },
  ),

  full: storeCaseNeeding(
    "fill",
    "with no room left a commit is refused as a whole, what is there stays, and it works again once there is room",
    async (trial) => {
      const store = await trial.open()
      const before = { type: "put", key: "k", value: "before" } as const
      await store.commit([before, { type: "append", log: "l", items: [1] }])
      const free = await trial.trouble("fill")
      for (const size of [2_000_000, 300_000, 30_000, 2_000_000]) {
        const text = "x".repeat(size)
        const commit = store.commit([
          { type: "append", log: "l", items: [text] },
          { type: "put", key: "k", value: text },
          { type: "put", key: "new", value: new TextEncoder().encode(text) },
          { type: "append", log: "m", items: [text] },
        ])
        assert.equal((await refused("no-space", commit)).retryable, true)
        assert.equal(await valueAt(store, "k"), "before")
        assert.deepEqual(await itemsOf(store, "l"), [1])
        assert.deepEqual(await itemsOf(store, "m"), [])
        assert.deepEqual(await keysOf(store), ["k"])
      }
      await free()
      await store.commit([
        { type: "append", log: "l", items: [2] },
        { type: "put", key: "k", value: "after" },
      ])
      await store.close()
      const again = await trial.open()
      assert.equal(await valueAt(again, "k"), "after")
      assert.deepEqual(await itemsOf(again, "l"), [1, 2])
      assert.deepEqual(await keysOf(again), ["k"])
    },
  ),

  damage: storeCaseNeeding(
    "damage",
    "damage is reported as such, and neither reading nor a commit makes it worse",
    async (trial) => {
      const store = await trial.open()
      await store.commit([
        { type: "put", key: "k", value: "x".repeat(50_000) },
        { type: "append", log: "l", items: ["y".repeat(50_000), 2] },
      ])
      await store.close()
      const mend = await trial.trouble("damage")
      const damaged = await trial.open()
      const uses = [
        valueAt(damaged, "k"),
        itemsOf(damaged, "l"),
        damaged.commit([{ type: "append", log: "l", items: [3] }]),
      ]
      const outcomes = await Promise.allSettled(uses)
      const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []))
      assert.ok(errors.length > 0)
      for (const error of errors) {
        assert.ok(error instanceof AgentError && error.code === "corrupt", String(error))
        assert.match(error.message, /restore/i)
      }
      await damaged.close()
      await mend()
      const again = await trial.open()
      assert.equal(await valueAt(again, "k"), "x".repeat(50_000))
      assert.deepEqual((await itemsOf(again, "l")).slice(0, 2), ["y".repeat(50_000), 2])
    },
  ),
}

async function append(store: Store, number: number): Promise<void> {
  await store.commit([
    { type: "append", log: "l", items: [number] },
    { type: "put", key: "last", value: number },
  ])
}

async function appendAtLast(store: Store, number: number): Promise<void> {
  for (;;) {
    const error = await append(store, number).then(() => undefined, retryable)
    if (!error) return
    const items = await itemsOf(store, "l").catch(retryable)
    if (Array.isArray(items) && items.includes(number)) return
  }
}

function retryable(error: unknown): AgentError {
  assert.ok(error instanceof AgentError && error.retryable, String(error))
  return error
}
