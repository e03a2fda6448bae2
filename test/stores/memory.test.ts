import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConflictError } from "../../src/core/errors.ts"
import { memoryStore } from "../../src/stores/memory.ts"

describe("a memory store", () => {
  test("gives back what was put, with the revision it was put at", async () => {
    const store = memoryStore()
    const revision = await store.commit([{ type: "put", key: "a", value: { n: 1 } }])
    assert.deepEqual(await store.get("a"), { value: { n: 1 }, revision })
    assert.equal(await store.get("b"), undefined)
  })

  test("applies values and logs together, and refuses both when the guard no longer holds", async () => {
    const store = memoryStore()
    const first = await store.commit([{ type: "put", key: "head", value: 1 }], { key: "head", ifRevision: 0 })
    await store.commit([{ type: "put", key: "head", value: 2 }], { key: "head", ifRevision: first })
    const late = store.commit(
      [
        { type: "put", key: "head", value: 3 },
        { type: "append", log: "events", items: ["lost"] },
      ],
      { key: "head", ifRevision: first },
    )
    await assert.rejects(late, ConflictError)
    assert.equal((await store.get("head"))?.value, 2)
    assert.deepEqual(await Array.fromAsync(store.read("events")), [])
  })

  test("lets one of two writers who saw the same revision win", async () => {
    const store = memoryStore()
    const claim = (owner: string) =>
      store.commit([{ type: "put", key: "lease", value: owner }], { key: "lease", ifRevision: 0 })
    const outcomes = await Promise.allSettled([claim("a"), claim("b")])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ["fulfilled", "rejected"],
    )
  })

  test("reads a log from any position", async () => {
    const store = memoryStore()
    await store.commit([{ type: "append", log: "l", items: [1, 2] }])
    await store.commit([{ type: "append", log: "l", items: [3] }])
    assert.deepEqual(await Array.fromAsync(store.read("l", 1)), [2, 3])
  })

  test("lists keys by prefix, in order", async () => {
    const store = memoryStore()
    await store.commit(["b/2", "a/1", "b/1"].map((key) => ({ type: "put", key, value: null })))
    assert.deepEqual(await Array.fromAsync(store.keys("b/")), ["b/1", "b/2"])
  })

  test("keeps its own copies: neither writer nor reader can change what is stored", async () => {
    const store = memoryStore()
    const value = { tags: ["a"] }
    await store.commit([{ type: "put", key: "k", value }])
    value.tags.push("b")
    const read = (await store.get("k"))?.value as { tags: string[] }
    read.tags.push("c")
    assert.deepEqual((await store.get("k"))?.value, { tags: ["a"] })
  })

  test("removes values and logs, and says so when it is closed", async () => {
    const store = memoryStore()
    await store.commit([{ type: "put", key: "k", value: 1 }])
    await store.commit([{ type: "delete", key: "k" }])
    assert.equal(await store.get("k"), undefined)
    await store.close()
    await assert.rejects(store.get("k"), /closed/)
  })
})
