// test lane: durable, long
import assert from "node:assert/strict"
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { after, before, describe, test } from "node:test"
import { Cluster, Redis } from "ioredis"
import { testStore } from "karst/testing"
import { redisStore } from "../../src/stores/redis-store.ts"
import { itemsOf, keysOf, refused, valueAt } from "../../src/testing/store/store-case.ts"
import { open } from "../fixtures/stores/redis.ts"
import { freePort, type RedisServer, startRedis } from "../redis.ts"
import { requires } from "../system.ts"

/** A line to a server that can be cut when the server has answered, and before anybody hears it. */
async function startLine(port: number) {
  let isArmed = false
  let cuts = 0
  const line = createServer((client) => {
    const server = connect(port, "127.0.0.1")
    const end = () => [client, server].map((socket) => socket.destroy())
    for (const socket of [client, server]) socket.on("error", end).on("close", end)
    client.pipe(server)
    server.on("data", (answer) => {
      if (!isArmed) return client.write(answer)
      isArmed = false
      cuts++
      end()
    })
  }).listen(0, "127.0.0.1")
  await once(line, "listening")
  const address = line.address()
  assert.ok(typeof address === "object" && address)
  return {
    url: `redis://127.0.0.1:${address.port}`,
    cutAtNextAnswer: () => {
      isArmed = true
    },
    cuts: () => cuts,
    [Symbol.asyncDispose]: async () => void line.close(),
  }
}

describe("redisStore", { skip: requires("redis") }, () => {
  let server: RedisServer
  let places = 0
  const place = () => `${server.url}#test ${++places}`

  before(async () => {
    server = await startRedis()
  })
  after(() => server[Symbol.asyncDispose]())

  testStore({
    test,
    location: place,
    open,
    module: new URL("../fixtures/stores/redis.ts", import.meta.url),
    async outage() {
      await server.kill()
      return () => server.start()
    },
  })

  test("uses a ready client, with its own prefix, and leaves it open", async () => {
    const client = new Redis(server.url, { keyPrefix: "app:" })
    const store = redisStore(client, { prefix: "runs" })
    const watcher = store.watch?.("l", 0, AbortSignal.timeout(20_000))[Symbol.asyncIterator]()
    const first = watcher?.next()
    await store.commit([
      { type: "append", log: "l", items: [1] },
      { type: "put", key: "k", value: 1 },
    ])
    assert.deepEqual(await first, { done: false, value: 1 })
    const second = watcher?.next()
    await store.commit([{ type: "append", log: "l", items: [2] }])
    assert.deepEqual(await second, { done: false, value: 2 })
    await store.close()
    await refused("closed", store.get("k"))
    assert.equal(await client.hget("{runs}:value:k", "value"), "1")
    await using other = open(`${server.url}#runs`)
    assert.equal(await other.get("k"), undefined)
    await client.quit()
  })

  test("uses a client that makes pipelines by itself", async () => {
    const client = new Redis(server.url, { enableAutoPipelining: true })
    await using store = redisStore(client, { prefix: "piped" })
    const bytes = new Uint8Array([0, 255, 128])
    await Promise.all([
      store.commit([{ type: "put", key: "k", value: bytes }]),
      store.commit([{ type: "append", log: "l", items: ["ü", { a: [1] }] }]),
    ])
    assert.deepEqual((await store.get("k"))?.value, bytes)
    assert.deepEqual(await itemsOf(store, "l"), ["ü", { a: [1] }])
    assert.deepEqual(await keysOf(store), ["k"])
    await client.quit()
  })

  test("works in a cluster: values, logs and watching", async () => {
    const bus = ["--cluster-port", String(await freePort()), "--cluster-announce-ip", "127.0.0.1"]
    await using node = await startRedis("--cluster-enabled", "yes", ...bus)
    const single = new Redis(node.url)
    await single.call("cluster", "addslotsrange", 0, 16383)
    while (!String(await single.cluster("INFO")).includes("cluster_state:ok"));
    const cluster = new Cluster([{ host: "127.0.0.1", port: Number(new URL(node.url).port) }], { keyPrefix: "app:" })
    await using store = redisStore(cluster)
    const items = store.watch?.("l", 0, AbortSignal.timeout(20_000))[Symbol.asyncIterator]()
    for (const number of [1, 2]) {
      const next = items?.next()
      await store.commit([
        { type: "put", key: `k/${number}`, value: number },
        { type: "append", log: "l", items: [number] },
        { type: "delete", key: "other" },
      ])
      assert.deepEqual(await next, { done: false, value: number })
    }
    assert.deepEqual(await keysOf(store), ["k/1", "k/2"])
    assert.equal(await valueAt(store, "k/2"), 2)
    await store.close()
    cluster.disconnect()
    single.disconnect()
  })

  test("keeps all of a store in one slot of a cluster, by its prefix or by what is in braces there", async () => {
    const client = new Redis(server.url)
    for (const [prefix, tag] of [
      ["slots", "{slots}:"],
      ["app:{tenant}:x", "app:{tenant}:x:"],
    ]) {
      await using store = redisStore(client, { prefix })
      await store.commit([
        { type: "put", key: "a{b}", value: 1 },
        { type: "append", log: "c", items: [1] },
      ])
      const keys = (await client.keys(`*${prefix}*`)).sort()
      assert.equal(keys.length, 6)
      assert.ok(
        keys.every((key) => key.startsWith(tag ?? "?")),
        String(keys),
      )
    }
    await client.quit()
  })

  test("does a commit once whose answer was lost on the way", async () => {
    await using line = await startLine(Number(new URL(server.url).port))
    await using store = open(`${line.url}#lost answers`)
    const numbers = Array.from({ length: 5 }, (_, number) => number)
    const revisions: number[] = []
    for (const number of numbers) {
      const guarded = (await store.get("head"))?.revision ?? 0
      line.cutAtNextAnswer()
      const changes = [
        { type: "append", log: "l", items: [number] },
        { type: "put", key: "head", value: number },
      ] as const
      revisions.push(await store.commit(changes, { key: "head", ifRevision: guarded }))
    }
    assert.equal(line.cuts(), 5)
    assert.deepEqual(await itemsOf(store, "l"), numbers)
    assert.deepEqual(revisions, [1, 2, 3, 4, 5])
  })

  test("fails with a clear error, to be tried again, while there is no server", async () => {
    const away = await startRedis()
    const client = new Redis(away.url, { maxRetriesPerRequest: 1, retryStrategy: () => 10 })
    client.on("error", () => {})
    await using store = redisStore(client)
    await store.commit([{ type: "put", key: "k", value: 1 }])
    await away.kill()
    const error = await refused("connection", store.commit([{ type: "put", key: "k", value: 2 }]))
    assert.equal(error.retryable, true)
    assert.match(error.message, /The store "karst" in Redis is out of reach: .*read again/)
    await refused("connection", store.get("k"))
    await away.start()
    assert.equal(await store.commit([{ type: "put", key: "k", value: 3 }]), 2)
    client.disconnect()
    await away[Symbol.asyncDispose]()
  })

  test("refuses a commit as a whole where the server has no memory left", async () => {
    await using full = await startRedis("--maxmemory", "4mb", "--maxmemory-policy", "noeviction")
    await using store = open(full.url)
    await store.commit([{ type: "put", key: "k", value: "before" }])
    const large = { type: "put", key: "k", value: "x".repeat(5_000_000) } as const
    await store.commit([large]).catch(() => {})
    const before = await valueAt(store, "k")
    const commit = store.commit([
      { type: "append", log: "l", items: [1] },
      { type: "put", key: "k", value: "after" },
    ])
    assert.equal((await refused("no-space", commit)).retryable, true)
    assert.equal(await valueAt(store, "k"), before)
    assert.deepEqual(await itemsOf(store, "l"), [])
  })

  test("says so when the password is wrong", async () => {
    await using locked = await startRedis("--requirepass", "secret")
    await using store = open(locked.url)
    const error = await refused("authentication", store.commit([]))
    assert.doesNotMatch(error.message, /secret/)
    await using known = open(locked.url.replace("//", "//:secret@"))
    assert.equal(await known.commit([]), 1)
  })

  test("takes an append of a hundred thousand items", async () => {
    await using store = open(place())
    const items = Array.from({ length: 100_000 }, (_, number) => number)
    await store.commit([{ type: "append", log: "l", items }])
    assert.deepEqual(await itemsOf(store, "l"), items)
    assert.deepEqual(await keysOf(store), [])
  })

  test("needs a server or a client", () => {
    assert.throws(() => redisStore(""), /redisStore needs a URL/)
  })
})
