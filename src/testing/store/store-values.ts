// Cases of the store suite: values, their keys, opening and closing.
import assert from "node:assert/strict"
import type { Json } from "../../core/json.ts"
import { keysOf, refused, storeCase, valueAt } from "./store-case.ts"

export const valueCases = {
  values: storeCase("a value comes back as it was put, with the revision it was put at", async (trial) => {
    const store = await trial.open()
    const values: Json[] = [null, false, 0, -1.5e300, "", "text", [], {}, { a: [1, { b: null }] }]
    for (const value of values) {
      const revision = await store.commit([{ type: "put", key: "k", value }])
      assert.deepEqual(await store.get("k"), { value, revision })
    }
    assert.equal(await store.get("other"), undefined)
  }),

  bytes: storeCase("bytes come back as bytes, also where JSON was before, and the other way round", async (trial) => {
    const store = await trial.open()
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    // A view of a larger buffer, like those that files and sockets produce.
    await store.commit([{ type: "put", key: "k", value: Buffer.from([9, ...bytes, 9]).subarray(1, 257) }])
    assert.deepEqual(await valueAt(store, "k"), bytes)
    await store.commit([{ type: "put", key: "k", value: "text" }])
    assert.equal(await valueAt(store, "k"), "text")
    await store.commit([{ type: "put", key: "k", value: new Uint8Array() }])
    assert.deepEqual(await valueAt(store, "k"), new Uint8Array())
    assert.deepEqual(await keysOf(store), ["k"])
  }),

  unicode: storeCase("every text is stored exactly, also if it is not valid Unicode", async (trial) => {
    const store = await trial.open()
    const text = 'Grüße 你好 👩‍👩‍👧 e\u0301 \u0000 \u2028 \ufeff "\\\n\r \ud800 é'
    await store.commit([
      { type: "put", key: "k", value: { [text]: text } },
      { type: "append", log: "l", items: [text] },
    ])
    assert.deepEqual(await valueAt(store, "k"), { [text]: text })
    assert.deepEqual(await Array.fromAsync(store.read("l")), [text])
  }),

  large: storeCase("a value or an item of 20 MB is kept whole", async (trial) => {
    const store = await trial.open()
    const bytes = new Uint8Array(20_000_000).map((_, index) => index ^ (index >> 8))
    const text = "0123456789é".repeat(1_700_000)
    await store.commit([
      { type: "put", key: "bytes", value: bytes },
      { type: "put", key: "text", value: [text] },
      { type: "append", log: "l", items: [text, 2] },
    ])
    const found = await valueAt(store, "bytes")
    assert.ok(found instanceof Uint8Array && Buffer.from(bytes).equals(found))
    assert.ok(((await valueAt(store, "text")) as string[])[0] === text)
    const [first, second] = await Array.fromAsync(store.read("l"))
    assert.ok(first === text && second === 2)
  }),

  copies: storeCase(
    "changing an object after it was written or read does not change the stored value",
    async (trial) => {
      const store = await trial.open()
      const value = { tags: ["a"] }
      const bytes = Uint8Array.of(1)
      const items: Json[] = [["a"]]
      const done = store.commit([
        { type: "put", key: "k", value },
        { type: "put", key: "bytes", value: bytes },
        { type: "append", log: "l", items },
      ])
      value.tags.push("b")
      bytes[0] = 2
      items.push("b")
      await done
      const read = (await valueAt(store, "k")) as typeof value
      read.tags.push("c")
      const readBytes = (await valueAt(store, "bytes")) as Uint8Array
      readBytes[0] = 3
      assert.deepEqual(await valueAt(store, "k"), { tags: ["a"] })
      assert.deepEqual(await valueAt(store, "bytes"), Uint8Array.of(1))
      assert.deepEqual(await Array.fromAsync(store.read("l")), [["a"]])
    },
  ),

  keys: storeCase(
    "any text is a key of its own, and keys are listed by their beginning, in the order of code points",
    async (trial) => {
      const store = await trial.open()
      const keys = oddKeys
      await store.commit(keys.map((key, value) => ({ type: "put", key, value })))
      await store.commit(keys.map((key, value) => ({ type: "append", log: key, items: [value] })))
      for (const [value, key] of keys.entries()) {
        assert.equal(await valueAt(store, key), value, key)
        assert.deepEqual(await Array.fromAsync(store.read(key)), [value], key)
      }
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      assert.deepEqual(await keysOf(store), sorted)
      for (const prefix of ["a", "a/", "a/b", "..", "/", "ä", "x".repeat(299), "none"]) {
        const wanted = sorted.filter((key) => key.startsWith(prefix))
        assert.deepEqual(await keysOf(store, prefix), wanted, prefix)
      }
    },
  ),

  "many-keys": storeCase("two thousand keys are listed once each", async (trial) => {
    const store = await trial.open()
    const keys = Array.from({ length: 2000 }, (_, number) => `k/${String(number).padStart(5, "0")}`)
    await store.commit(keys.map((key) => ({ type: "put", key, value: 1 })))
    assert.deepEqual(await keysOf(store, "k/"), keys)
  }),

  "bad-keys": storeCase("an invalid key is refused with the reason, and nothing is changed", async (trial) => {
    const store = await trial.open()
    for (const key of ["", "half \ud83d", "é".repeat(501)]) {
      const put = { type: "put", key: "good", value: 1 } as const
      await refused("config", store.commit([put, { type: "put", key, value: 1 }]))
      await refused("config", store.commit([put, { type: "append", log: key, items: [1] }]))
      await refused("config", store.commit([put], { key, ifRevision: 0 }))
      await refused("config", store.get(key))
      await refused("config", Array.fromAsync(store.read(key)))
    }
    assert.equal(await store.get("good"), undefined)
    await refused("config", Array.fromAsync(store.read("good", -1)))
  }),

  "not-json": storeCase("a value that is not JSON is refused, and nothing of its commit is stored", async (trial) => {
    const store = await trial.open()
    const circle: { [key: string]: unknown } = {}
    circle.self = circle
    for (const value of [undefined, () => 1, 1n, circle] as Json[]) {
      const log = { type: "append", log: "l", items: [1] } as const
      await refused("config", store.commit([log, { type: "put", key: "k", value }]))
      await refused("config", store.commit([log, { type: "append", log: "m", items: [1, value] }]))
    }
    assert.equal(await store.get("k"), undefined)
    assert.deepEqual(await Array.fromAsync(store.read("l")), [])
  }),

  restart: storeCase("all is there when the store is opened again, and revisions go on", async (trial) => {
    const first = await trial.open()
    const before = await first.commit([
      { type: "put", key: "k", value: { n: 1 } },
      { type: "put", key: "gone", value: 1 },
      { type: "append", log: "l", items: [1, 2] },
    ])
    const last = await first.commit([{ type: "delete", key: "gone" }])
    await first.close()
    const second = await trial.open()
    assert.deepEqual(await second.get("k"), { value: { n: 1 }, revision: before })
    assert.equal(await second.get("gone"), undefined)
    assert.ok((await second.commit([{ type: "append", log: "l", items: [3] }])) > last)
    assert.deepEqual(await Array.fromAsync(second.read("l")), [1, 2, 3])
  }),

  close: storeCase("a closed store says so, and closing it again is fine", async (trial) => {
    const store = await trial.open()
    await store.commit([{ type: "put", key: "k", value: 1 }])
    await store.close()
    await store.close()
    await store[Symbol.asyncDispose]()
    await refused("closed", store.get("k"))
    await refused("closed", store.commit([{ type: "put", key: "k", value: 2 }]))
    await refused("closed", Array.fromAsync(store.keys("")))
    await refused("closed", Array.fromAsync(store.read("l")))
    const unused = await trial.open()
    await unused.close()
    await refused("closed", unused.get("k"))
  }),
}

const oddKeys = [
  ...["a", "A", "b", "a/b", "a/b/c", "a//b", "/a", "a/", "a.json", "a.json/b", "a.jsonl", "a.bin", "ab"],
  ...[".", "..", "../x", "a/../b", "~", "*", "%", "%%", "%2e", "%61", "con", "a b", " a", "a ", "a\\b", "a:b", "{a}"],
  ...["ä", "a\u0308", "ß", "你好", "👩‍👧", "\uffff", "\u{10ffff}", "\u0000", "a\u0000b", "\n", '"', "'", "__proto__"],
  ...["x".repeat(300), `${"x".repeat(299)}y`, "é".repeat(500), `${"y".repeat(300)}/z`, "z/".repeat(400)],
]
