// test lane: durable
import assert from "node:assert/strict"
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { testStore } from "karst/testing"
import { fileStore } from "../../src/stores/file.ts"
import { marks, readLine, writeLine } from "../../src/stores/file-lines.ts"
import type { Steps } from "../../src/stores/file-steps.ts"
import { itemsOf, keysOf, refused, valueAt } from "../../src/testing/store/store-case.ts"
import { open } from "../fixtures/stores/file.ts"
import { requires } from "../system.ts"
import { only } from "./only-case.ts"
import { smallDisk } from "./small-disk.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-files-"))
after(() => rmSync(folder, { recursive: true }))
let places = 0
const place = () => join(folder, `place ${++places}`)
const module = new URL("../fixtures/stores/file.ts", import.meta.url)

describe("fileStore", () => {
  testStore({
    test,
    place,
    open,
    module,
    async damage(place) {
      const copy = `${place} copy`
      cpSync(place, copy, { recursive: true })
      truncateSync(join(place, "k.json"), 30_000)
      writeFileSync(join(place, "l.jsonl"), '"cut\n2\n')
      return async () => cpSync(copy, place, { recursive: true, force: true })
    },
  })

  describe("with a damaged journal", () => {
    testStore({
      test: only("damage"),
      place,
      open,
      async damage(place) {
        const journal = join(place, ".store/journal")
        const text = readFileSync(journal, "utf8")
        writeFileSync(journal, text.replace('"revision":', '"revision":9'))
        return async () => writeFileSync(journal, text)
      },
    })
  })

  describe("on a full disk", { skip: requires("small-disk") }, () => {
    let disk: ReturnType<typeof smallDisk> | undefined
    after(() => disk?.remove())
    testStore({
      test: only("full"),
      place() {
        disk = smallDisk(8)
        return join(disk.folder, "store")
      },
      open,
      fill: () => disk?.fill() ?? assert.fail(),
    })
  })

  test("keeps each log and value in a file that anybody can read", async () => {
    const at = place()
    await using store = fileStore(at)
    await store.commit([
      { type: "append", log: "sessions/s-1/events", items: [{ type: "run-start" }, { type: "run-end" }] },
      { type: "put", key: "sessions/s-1/meta", value: { title: "Hi" } },
      { type: "put", key: "sessions/s-1/heap", value: Uint8Array.of(1, 2) },
    ])
    assert.equal(
      readFileSync(join(at, "sessions/s-1/events.jsonl"), "utf8"),
      '{"type":"run-start"}\n{"type":"run-end"}\n',
    )
    assert.deepEqual(JSON.parse(readFileSync(join(at, "sessions/s-1/meta.json"), "utf8")).value, { title: "Hi" })
    assert.deepEqual([...readFileSync(join(at, "sessions/s-1/heap.bin")).subarray(-2)], [1, 2])
    await store.commit(["events", "meta", "heap"].map((name) => ({ type: "delete", key: `sessions/s-1/${name}` })))
    assert.deepEqual(readdirSync(at), [".store"])
  })

  test("reads what people wrote: a folder without a journal, a value laid out anew, other files beside", async () => {
    const at = place()
    mkdirSync(join(at, "sessions/7"), { recursive: true })
    writeFileSync(join(at, "sessions/7/events.jsonl"), "1\n2\n")
    writeFileSync(join(at, "head.json"), '{\n  "revision": 41,\n  "key": "head",\n  "value": "old"\n}\n')
    writeFileSync(join(at, "Notes.txt"), "mine")
    await using store = fileStore(at)
    assert.deepEqual(await itemsOf(store, "sessions/7/events"), [1, 2])
    assert.deepEqual(await store.get("head"), { value: "old", revision: 41 })
    assert.equal(existsSync(join(at, ".store")), false)
    const revision = await store.commit([{ type: "put", key: "head", value: "new" }], { key: "head", ifRevision: 41 })
    assert.equal(revision, 42)
    assert.deepEqual(await keysOf(store), ["head"])
  })

  test("passes over a last line that was cut off, and writes over it", async () => {
    const at = place()
    await using store = fileStore(at)
    await store.commit([{ type: "append", log: "l", items: [1, 2] }])
    appendFileSync(join(at, "l.jsonl"), '{"half":')
    assert.deepEqual(await itemsOf(store, "l"), [1, 2])
    await store.commit([{ type: "append", log: "l", items: [3] }])
    assert.equal(readFileSync(join(at, "l.jsonl"), "utf8"), "1\n2\n3\n")
    writeFileSync(join(at, "m.jsonl"), `"${"x".repeat(100_000)}`)
    await store.commit([{ type: "append", log: "m", items: [1] }])
    assert.deepEqual(await itemsOf(store, "m"), [1])
  })

  test("says which line of which log is damaged, after giving those before it", async () => {
    const at = place()
    await using store = fileStore(at)
    await store.commit([{ type: "append", log: "l", items: [1] }])
    appendFileSync(join(at, "l.jsonl"), "oops\n3\n")
    const error = await refused("corrupt", itemsOf(store, "l"))
    assert.match(error.message, /l\.jsonl.*line 2/)
    assert.equal(readFileSync(join(at, "l.jsonl"), "utf8"), "1\noops\n3\n")
    assert.deepEqual(await itemsOf(store, "l", 2), [3])
  })

  describe("after a stop in the middle of a commit", () => {
    const steps: Steps = {
      revision: 2,
      appends: [{ file: "l.jsonl", at: 4, text: "3\n4\n" }],
      moves: [{ draft: ".store/2-0.draft", file: "k.json", text: '{"key":"k","revision":2,"value":"new"}\n' }],
      removes: ["gone.json"],
    }
    const line = writeLine(steps, marks.decided)

    async function begun(more: Uint8Array): Promise<string> {
      const at = place()
      const store = fileStore(at)
      await store.commit([
        { type: "append", log: "l", items: [1, 2] },
        { type: "put", key: "k", value: "old" },
        { type: "put", key: "gone", value: 1 },
      ])
      await store.close()
      appendFileSync(join(at, ".store/journal"), more)
      return at
    }

    test("does what was decided, however little of it was done", async () => {
      const begins = [
        () => {},
        (at: string) => appendFileSync(join(at, "l.jsonl"), "3\n"),
        (at: string) => appendFileSync(join(at, "l.jsonl"), "3\n4\n"),
        (at: string) => rmSync(join(at, "gone.json")),
      ]
      for (const begin of begins) {
        const at = await begun(line)
        begin(at)
        await using store = fileStore(at)
        assert.deepEqual(await itemsOf(store, "l"), [1, 2, 3, 4])
        assert.deepEqual(await store.get("k"), { value: "new", revision: 2 })
        assert.deepEqual(await keysOf(store), ["k"])
        assert.equal(await store.commit([]), 3)
      }
    })

    test("forgets what was not decided yet, and its drafts", async () => {
      for (const length of [1, 20, line.length - 1]) {
        const at = await begun(line.subarray(0, length))
        writeFileSync(join(at, ".store/2-0.draft"), "half")
        const store = fileStore(at)
        assert.deepEqual(await itemsOf(store, "l"), [1, 2])
        assert.equal(await valueAt(store, "k"), "old")
        assert.equal(await store.commit([{ type: "append", log: "l", items: [3] }]), 2)
        assert.deepEqual(await itemsOf(store, "l"), [1, 2, 3])
        await store.close()
        assert.deepEqual(readdirSync(join(at, ".store")).sort(), ["journal", "lock"])
      }
    })

    test("does everything again after a start of the machine, since files may have lagged behind", async () => {
      const at = place()
      const store = fileStore(at)
      for (const number of [1, 2, 3]) {
        await store.commit([
          { type: "append", log: "l", items: [number] },
          { type: "put", key: "k", value: number },
          { type: "put", key: `k/${number}`, value: new Uint8Array(100_000).fill(number) },
        ])
      }
      await store.commit([{ type: "delete", key: "k/1" }])
      const journal = readFileSync(join(at, ".store/journal"), "utf8")
      await store.close()
      const [first = "", ...rest] = journal.split("\n")
      const header = readLine<{ format: number; revision: number; boot: string }>(first)?.data
      assert.ok(header)
      const before = `${writeLine({ ...header, boot: "another" }, marks.done)}${rest.join("\n")}`
      writeFileSync(join(at, ".store/journal"), `${before}0000 torn`)
      // What had not reached the disk.
      rmSync(join(at, "k.json"))
      truncateSync(join(at, "l.jsonl"), 2)
      writeFileSync(join(at, "k/1.bin"), "a removal that was lost")
      await using again = fileStore(at)
      assert.deepEqual(await itemsOf(again, "l"), [1, 2, 3])
      assert.equal(await valueAt(again, "k"), 3)
      assert.deepEqual(await keysOf(again), ["k", "k/2", "k/3"])
      assert.equal(await again.commit([]), 5)
    })

    test("changes nothing outside of its folder, whatever its journal says", async () => {
      for (const file of ["../outside.json", "/tmp/outside.json", ".store/lock", "a/../../outside.json"]) {
        const at = await begun(
          writeLine(
            { ...steps, appends: [], removes: [], moves: [{ draft: ".store/2-0.draft", file, text: "!" }] },
            marks.decided,
          ),
        )
        await using store = fileStore(at)
        await refused("corrupt", store.get("k"))
        assert.equal(existsSync(join(folder, "outside.json")), false)
      }
    })
  })

  test("begins a new journal when the old one is long, and others go on with it", async () => {
    const at = place()
    await using writer = fileStore(at, { sync: false })
    await using other = fileStore(at)
    for (let number = 0; number < 30; number++) {
      await writer.commit([{ type: "append", log: "l", items: ["x".repeat(300_000)] }])
      await other.commit([{ type: "put", key: "k", value: number }])
      assert.equal((await writer.get("k"))?.revision, number * 2 + 2)
    }
    assert.equal((await itemsOf(other, "l")).length, 30)
    assert.ok(readFileSync(join(at, ".store/journal")).length < 5_000_000)
  })

  test("reads a folder that may not be written", { skip: asRoot() }, async () => {
    const at = place()
    const store = fileStore(at)
    await store.commit([{ type: "put", key: "k", value: 1 }])
    await store.close()
    for (const path of ["", ".store", ".store/journal"]) chmodSync(join(at, path), path.endsWith("l") ? 0o444 : 0o555)
    await using reader = fileStore(at)
    assert.equal(await valueAt(reader, "k"), 1)
    await refused("permission-denied", reader.commit([]))
    for (const path of [".store", ""]) chmodSync(join(at, path), 0o755)
  })

  test("takes the lines back that it wrote when a later one cannot be written", async () => {
    const at = place()
    await using store = fileStore(at)
    await store.commit([{ type: "append", log: "a", items: [1] }])
    symlinkSync(join(at, "nowhere", "c"), join(at, "c.jsonl"))
    const appends = ["a", "b/b", "c"].map((log) => ({ type: "append", log, items: ["lost"] }) as const)
    const large = { type: "put", key: "large", value: "x".repeat(100_000) } as const
    await refused("file-system", store.commit([...appends, large]))
    assert.deepEqual(await itemsOf(store, "a"), [1])
    assert.deepEqual(await itemsOf(store, "b/b"), [])
    assert.deepEqual(readdirSync(at).sort(), [".store", "a.jsonl"])
    assert.deepEqual(readdirSync(join(at, ".store")).sort(), ["journal", "lock"])
    assert.equal(await store.commit([...appends, large]), 3)
    assert.deepEqual(await itemsOf(store, "a"), [1, "lost"])
  })

  test("refuses to put a file where somebody made a folder", async () => {
    const at = place()
    mkdirSync(join(at, "k.json"), { recursive: true })
    await using store = fileStore(at)
    await refused(
      "path-taken",
      store.commit([
        { type: "append", log: "l", items: [1] },
        { type: "put", key: "k", value: 1 },
      ]),
    )
    assert.deepEqual(await itemsOf(store, "l"), [])
  })
})

function asRoot(): string | undefined {
  return process.getuid?.() === 0 ? "by design: root may write everywhere" : undefined
}

test("needs to know where it is: an empty path, as of a variable that is not set, is refused", () => {
  assert.throws(() => fileStore(""), { code: "config" })
})
