// Cases of the store suite: commits are atomic, guarded and ordered.
import assert from "node:assert/strict"
import { ConflictError } from "../../core/errors.ts"
import { itemsOf, keysOf, refused, storeCase, valueAt } from "./store-case.ts"

export const commitCases = {
  revisions: storeCase("every commit has a greater revision than those before, whatever it does", async (trial) => {
    const store = await trial.open()
    const revisions = [
      await store.commit([{ type: "put", key: "k", value: 1 }]),
      await store.commit([{ type: "append", log: "l", items: [1] }]),
      await store.commit([{ type: "delete", key: "k" }]),
      await store.commit([]),
      await store.commit([{ type: "put", key: "k", value: 1 }]),
    ]
    assert.ok(revisions.every(Number.isSafeInteger))
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
    )
    assert.ok((revisions[0] ?? 0) > 0)
    assert.equal((await store.get("k"))?.revision, revisions.at(-1))
  }),

  guard: storeCase(
    "a commit whose guard no longer holds changes nothing, and says which revision is there",
    async (trial) => {
      const store = await trial.open()
      const first = await store.commit([{ type: "put", key: "head", value: 1 }], { key: "head", ifRevision: 0 })
      const second = await store.commit([{ type: "put", key: "head", value: 2 }], { key: "head", ifRevision: first })
      for (const ifRevision of [first, 0, second + 1]) {
        const late = store.commit(
          [
            { type: "put", key: "head", value: 3 },
            { type: "put", key: "new", value: 3 },
            { type: "append", log: "events", items: ["lost"] },
            { type: "delete", key: "head" },
          ],
          { key: "head", ifRevision },
        )
        const error = await refused("conflict", late)
        assert.ok(error instanceof ConflictError)
        assert.deepEqual(error.details, { key: "head", revision: second })
      }
      assert.deepEqual(await store.get("head"), { value: 2, revision: second })
      assert.deepEqual(await keysOf(store), ["head"])
      assert.deepEqual(await itemsOf(store, "events"), [])
    },
  ),

  "guard-of-another": storeCase(
    "the guarded key need not be among those that change, and a log is no value",
    async (trial) => {
      const store = await trial.open()
      const lease = await store.commit([{ type: "put", key: "lease", value: "me" }])
      await store.commit([{ type: "append", log: "events", items: [1] }], { key: "lease", ifRevision: lease })
      await store.commit([{ type: "append", log: "events", items: [2] }], { key: "events", ifRevision: 0 })
      await store.commit([], { key: "lease", ifRevision: lease })
      await store.commit([{ type: "delete", key: "lease" }], { key: "lease", ifRevision: lease })
      await refused(
        "conflict",
        store.commit([{ type: "append", log: "events", items: [3] }], { key: "lease", ifRevision: lease }),
      )
      assert.deepEqual(await itemsOf(store, "events"), [1, 2])
    },
  ),

  claim: storeCase("of writers who saw the same revision one wins", async (trial) => {
    const stores = [await trial.open(), await trial.open()]
    const claim = (owner: number) =>
      stores[owner % 2]?.commit(
        [
          { type: "put", key: "lease", value: owner },
          { type: "append", log: "owners", items: [owner] },
        ],
        { key: "lease", ifRevision: 0 },
      )
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, owner) => claim(owner)))
    const winners = outcomes.flatMap(({ status }, owner) => (status === "fulfilled" ? [owner] : []))
    assert.equal(winners.length, 1)
    assert.deepEqual([await valueAt(stores[0] ?? assert.fail(), "lease")], winners)
    assert.deepEqual(await itemsOf(stores[1] ?? assert.fail(), "owners"), winners)
  }),

  order: storeCase("the changes of a commit are made in their order", async (trial) => {
    const store = await trial.open()
    await store.commit([
      { type: "append", log: "l", items: ["old"] },
      { type: "put", key: "gone", value: 1 },
    ])
    await store.commit([
      { type: "put", key: "k", value: 1 },
      { type: "put", key: "k", value: 2 },
      { type: "append", log: "l", items: ["lost"] },
      { type: "delete", key: "l" },
      { type: "append", log: "l", items: [1] },
      { type: "append", log: "l", items: [] },
      { type: "append", log: "l", items: [2, 3] },
      { type: "put", key: "gone", value: 2 },
      { type: "delete", key: "gone" },
      { type: "delete", key: "back" },
      { type: "put", key: "back", value: Uint8Array.of(1) },
    ])
    assert.equal(await valueAt(store, "k"), 2)
    assert.deepEqual(await itemsOf(store, "l"), [1, 2, 3])
    assert.deepEqual(await keysOf(store), ["back", "k"])
  }),

  together: storeCase("commits made at once are all done, each whole", async (trial) => {
    const store = await trial.open()
    const numbers = Array.from({ length: 50 }, (_, number) => number)
    const revisions = await Promise.all(
      numbers.map((number) =>
        store.commit([
          { type: "put", key: `k/${number}`, value: number },
          { type: "append", log: "l", items: [number, number] },
        ]),
      ),
    )
    assert.equal(new Set(revisions).size, 50)
    assert.equal((await keysOf(store, "k/")).length, 50)
    const items = await itemsOf(store, "l")
    const byRevision = numbers.toSorted((a, b) => (revisions[a] ?? 0) - (revisions[b] ?? 0))
    assert.deepEqual(
      items,
      byRevision.flatMap((number) => [number, number]),
    )
  }),

  delete: storeCase("a deletion takes the value and the log of that name, and nothing else", async (trial) => {
    const store = await trial.open()
    await store.commit([
      { type: "put", key: "a", value: 1 },
      { type: "append", log: "a", items: [1] },
      { type: "put", key: "a/b", value: 2 },
      { type: "append", log: "a/b", items: [2] },
    ])
    await store.commit([{ type: "delete", key: "a" }])
    await store.commit([{ type: "delete", key: "never" }])
    assert.equal(await store.get("a"), undefined)
    assert.deepEqual(await itemsOf(store, "a"), [])
    assert.deepEqual(await keysOf(store), ["a/b"])
    assert.deepEqual(await itemsOf(store, "a/b"), [2])
    await store.commit([{ type: "append", log: "a", items: ["new"] }])
    assert.deepEqual(await itemsOf(store, "a"), ["new"])
  }),
}
