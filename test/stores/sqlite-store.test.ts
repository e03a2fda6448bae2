// test lane: durable
import assert from "node:assert/strict"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { after, describe, test } from "node:test"
import { testStore } from "karst/testing"
import { sqliteStore } from "../../src/stores/sqlite-store.ts"
import { refused } from "../../src/testing/store/store-case.ts"
import { open } from "../fixtures/stores/sqlite.ts"
import { requires } from "../system.ts"
import { only } from "./only-case.ts"
import { smallDisk } from "./small-disk.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-sqlite-"))
after(() => rmSync(folder, { recursive: true }))
let places = 0
const place = () => join(folder, `folder ${++places}`, "karst.db")

describe("sqliteStore", () => {
  testStore({
    test,
    location: place,
    open,
    module: new URL("../fixtures/stores/sqlite.ts", import.meta.url),
    async damage(place) {
      copyFileSync(place, `${place}.copy`)
      const file = openSync(place, "r+")
      // Every page but the first, which says what kind of file it is.
      for (let at = 4096; at < 100_000; at += 4096) writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, at)
      return async () => copyFileSync(`${place}.copy`, place)
    },
  })

  describe("on a full disk", { skip: requires("small-disk") }, () => {
    let disk: ReturnType<typeof smallDisk> | undefined
    after(() => disk?.remove())
    testStore({
      test: only("full"),
      location() {
        disk = smallDisk(8)
        return join(disk.folder, "karst.db")
      },
      open,
      fill: () => disk?.fill() ?? assert.fail(),
    })
  })

  test("refuses a file that is no database, or another program's, and leaves it as it is", async () => {
    const text = place()
    await using first = sqliteStore(text)
    await first.close()
    const note = join(folder, "note.txt")
    writeFileSync(note, "Not a database, but a text of mine that is long enough to be looked at.".repeat(50))
    await using store = sqliteStore(note)
    await refused("corrupt", store.get("k"))
    const other = join(folder, "other.db")
    const database = new DatabaseSync(other)
    database.exec("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
    await using foreign = sqliteStore(other)
    await refused("config", foreign.commit([{ type: "put", key: "k", value: 1 }]))
    assert.deepEqual(
      database
        .prepare("SELECT name FROM sqlite_schema")
        .all()
        .map(({ name }) => name),
      ["mine"],
    )
    database.close()
  })

  test("refuses a file of a newer version", async () => {
    const path = place()
    await using store = sqliteStore(path)
    await store.commit([])
    await store.close()
    const database = new DatabaseSync(path)
    database.exec("PRAGMA user_version = 2")
    database.close()
    await using again = sqliteStore(path)
    const error = await refused("config", again.get("k"))
    assert.match(error.message, /newer version.*Update karst/)
  })

  test("says who holds it when another process writes for too long, and goes on when it is free", async () => {
    const path = place()
    await using store = sqliteStore(path, { busyTimeoutMs: 50 })
    await store.commit([{ type: "put", key: "k", value: 1 }])
    const other = new DatabaseSync(path)
    other.exec("BEGIN IMMEDIATE")
    const error = await refused("busy", store.commit([{ type: "put", key: "k", value: 2 }]))
    assert.equal(error.retryable, true)
    assert.equal((await store.get("k"))?.value, 1)
    const waiting = sqliteStore(path)
    const commit = waiting.commit([{ type: "put", key: "k", value: 3 }])
    setImmediate(() => other.exec("COMMIT"))
    await commit
    assert.equal((await store.get("k"))?.value, 3)
    await waiting.close()
    other.close()
  })

  test("works in memory, and without waiting for the disk", async () => {
    await using memory = sqliteStore(":memory:")
    await memory.commit([{ type: "put", key: "k", value: 1 }])
    assert.equal((await memory.get("k"))?.value, 1)
    const path = place()
    await using quick = sqliteStore(path, { sync: false })
    await quick.commit([{ type: "put", key: "k", value: 1 }])
    await using reader = sqliteStore(path)
    assert.equal((await reader.get("k"))?.value, 1)
  })

  test("tries again at the next use what failed at the first", async () => {
    const blocked = join(folder, "blocked")
    writeFileSync(blocked, "a file where the folder should be")
    await using store = sqliteStore(join(blocked, "karst.db"))
    await refused("file-system", store.get("k"))
    rmSync(blocked)
    assert.equal(await store.get("k"), undefined)
  })
})

describe("a SQLite file that may not be used is named, with the cure", () => {
  const denied = { code: "permission-denied", message: /karst\.db.*Check who owns the file and its folder/s }

  test("where its folder may not be written", async () => {
    const path = place()
    mkdirSync(dirname(path))
    chmodSync(dirname(path), 0o555)
    await asNobody(async () => {
      await using store = sqliteStore(path)
      await assert.rejects(store.get("k"), denied)
      await assert.rejects(store.commit([{ type: "put", key: "k", value: 1 }]), denied)
    })
  })

  for (const [what, mode] of [
    ["read", 0o000],
    ["written", 0o444],
  ] as const) {
    test(`where it may not be ${what}`, async () => {
      const path = place()
      const before = sqliteStore(path)
      await before.commit([{ type: "put", key: "k", value: 1 }])
      await before.close()
      chmodSync(path, mode)
      chmodSync(dirname(path), 0o755)
      await asNobody(async () => {
        await using store = sqliteStore(path)
        await assert.rejects(store.commit([{ type: "put", key: "k", value: 2 }]), denied)
      })
      chmodSync(path, 0o600)
      await using after = sqliteStore(path)
      assert.equal((await after.get("k"))?.value, 1)
    })
  }

  /** Nothing is forbidden to root. */
  async function asNobody(work: () => Promise<void>): Promise<void> {
    if (process.geteuid?.() !== 0) return await work()
    chmodSync(folder, 0o755)
    process.seteuid?.(65534)
    try {
      await work()
    } finally {
      process.seteuid?.(0)
    }
  }
})

test("needs to know where it is: an empty path, as of a variable that is not set, is refused", () => {
  assert.throws(() => sqliteStore(""), { code: "config" })
})
