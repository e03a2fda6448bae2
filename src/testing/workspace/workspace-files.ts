// Cases of the workspace suite: reading and writing bytes, in full and in part.
import assert from "node:assert/strict"
import { bytesOf, inChunks, listed, pathsIn, refused, streamed, textAt, workspaceCase } from "./workspace-case.ts"

export const fileCases = {
  bytes: workspaceCase("reading a file returns the written bytes", async (workspace) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const info = await workspace.write("a/bytes.bin", bytes)
    assert.equal(info.path, "a/bytes.bin")
    assert.equal(info.sizeBytes, 256)
    const read = await workspace.read("a/bytes.bin")
    assert.equal(Object.getPrototypeOf(read), Uint8Array.prototype)
    assert.deepEqual(read, bytes)
  }),

  text: workspaceCase("a string is written as UTF-8, and nothing is added or translated", async (workspace) => {
    const text = "\ufeffΩ 😀\r\nline\n\n"
    const { sizeBytes } = await workspace.write("text.txt", text)
    assert.equal(sizeBytes, Buffer.byteLength(text))
    assert.deepEqual(Buffer.from(await workspace.read("text.txt")), Buffer.from(text))
  }),

  empty: workspaceCase("an empty file is a file", async (workspace) => {
    await workspace.write("empty", "")
    await workspace.write("empty-stream", inChunks(new Uint8Array(0), 1))
    for (const path of ["empty", "empty-stream"]) {
      assert.equal((await workspace.stat(path))?.sizeBytes, 0)
      assert.equal((await workspace.read(path)).length, 0)
      assert.equal((await streamed(workspace, path)).length, 0)
      assert.equal((await workspace.read(path, { start: 0, end: 10 })).length, 0)
    }
    assert.deepEqual(await pathsIn(workspace), ["empty", "empty-stream"])
  }),

  large: workspaceCase("a file of many megabytes goes in and out in chunks", async (workspace) => {
    const bytes = bytesOf(17 * 2 ** 20 + 5)
    const { sizeBytes } = await workspace.write("large.bin", inChunks(bytes, 1_000_003))
    assert.equal(sizeBytes, bytes.length)
    assert.ok((await streamed(workspace, "large.bin")).equals(bytes))
    const middle = { start: 8 * 2 ** 20 - 3, end: 8 * 2 ** 20 + 4 }
    assert.deepEqual(await workspace.read("large.bin", middle), bytes.slice(middle.start, middle.end))
  }),

  info: workspaceCase("write, stat and list report the same version, size and path", async (workspace) => {
    const from = Date.now() - 5000
    const written = await workspace.write("notes/a.txt", "hello")
    const stat = await workspace.stat("notes/a.txt")
    const [entry] = await listed(workspace)
    for (const info of [written, stat, entry]) {
      assert.equal(info?.path, "notes/a.txt")
      assert.equal(info.sizeBytes, 5)
      assert.equal(info.etag, written.etag)
      assert.equal(typeof info.modifiedAt, "number")
      assert.ok(info.modifiedAt > from && info.modifiedAt < Date.now() + 5000, `modified at ${info.modifiedAt}`)
    }
  }),

  replace: workspaceCase("a write replaces the whole file, with another version", async (workspace) => {
    const first = await workspace.write("a.txt", "a long first text")
    const second = await workspace.write("a.txt", "short")
    assert.equal(await textAt(workspace, "a.txt"), "short")
    assert.equal(second.sizeBytes, 5)
    assert.notEqual(second.etag, first.etag)
    assert.deepEqual(await pathsIn(workspace), ["a.txt"])
  }),

  ownership: workspaceCase(
    "changing bytes after they were written or read does not change the file",
    async (workspace) => {
      const given = Buffer.from("given")
      await workspace.write("a.txt", given)
      given.fill(0)
      const read = await workspace.read("a.txt")
      read.fill(0)
      for await (const chunk of workspace.stream("a.txt")) chunk.fill(0)
      assert.equal(await textAt(workspace, "a.txt"), "given")
    },
  ),

  ranges: workspaceCase(
    "a range is from the first byte to before the last, cut at the end of the file",
    async (workspace) => {
      await workspace.write("digits", "0123456789")
      const ranges: [start: number | undefined, end: number | undefined, text: string][] = [
        [0, 1, "0"],
        [2, 5, "234"],
        [8, undefined, "89"],
        [undefined, 3, "012"],
        [8, 100, "89"],
        [9, 10, "9"],
        [10, 20, ""],
        [50, undefined, ""],
        [4, 4, ""],
        [4, 2, ""],
        [0, 0, ""],
      ]
      for (const [start, end, text] of ranges) {
        assert.equal(await textAt(workspace, "digits", { start, end }), text, `${start} to ${end}`)
        assert.equal((await streamed(workspace, "digits", { start, end })).toString(), text, `${start} to ${end}`)
      }
      await refused("not-found", workspace.read("missing", { start: 4, end: 4 }))
    },
  ),

  "ranges-refused": workspaceCase("a range that is no range is refused", async (workspace) => {
    await workspace.write("digits", "0123456789")
    for (const range of [{ start: -1 }, { end: -2 }, { start: 1.5 }, { start: NaN }]) {
      await refused("config", workspace.read("digits", range))
      await refused("config", streamed(workspace, "digits", range))
    }
  }),

  "stream-version": workspaceCase(
    "a stream yields one version of the file, also if the file is replaced meanwhile",
    async (workspace) => {
      const bytes = bytesOf(6 * 2 ** 20)
      await workspace.write("a.bin", bytes)
      const chunks: Uint8Array[] = []
      for await (const chunk of workspace.stream("a.bin")) {
        if (chunks.length === 0) await workspace.write("a.bin", "other")
        chunks.push(chunk.slice())
      }
      assert.ok(Buffer.concat(chunks).equals(bytes))
      assert.equal(await textAt(workspace, "a.bin"), "other")
    },
  ),

  "stream-stop": workspaceCase("a reader that stops early leaves nothing open", async (workspace) => {
    await workspace.write("a.bin", bytesOf(2 ** 20))
    for (let round = 0; round < 20; round++) {
      for await (const chunk of workspace.stream("a.bin")) {
        assert.ok(chunk.length > 0)
        break
      }
    }
    await workspace.write("a.bin", "new")
    await workspace.remove("a.bin")
    assert.equal(await workspace.stat("a.bin"), undefined)
  }),

  "failing-source": workspaceCase(
    "if the source of a write fails, the write rejects with its error and the file is unchanged",
    async (workspace) => {
      const trouble = Object.assign(new Error("the source is gone"), { code: "ENOENT" })
      async function* failing() {
        yield bytesOf(6 * 2 ** 20)
        throw trouble
      }
      await workspace.write("old.txt", "old")
      const isTrouble = (error: unknown) => error === trouble
      await assert.rejects(workspace.write("old.txt", failing()), isTrouble)
      await assert.rejects(workspace.write("new/one.txt", failing()), isTrouble)
      await assert.rejects(workspace.write("old.txt", failing(), { append: true }), isTrouble)
      assert.equal(await textAt(workspace, "old.txt"), "old")
      assert.deepEqual(await pathsIn(workspace), ["old.txt"])
    },
  ),

  "odd-data": workspaceCase(
    "content that is neither text nor bytes is refused, and the file is unchanged",
    async (workspace) => {
      await workspace.write("old.txt", "old")
      async function* texts() {
        yield "text" as unknown as Uint8Array
      }
      for (const data of [42, null, undefined, { a: 1 }, [1, 2], texts()]) {
        await refused("config", workspace.write("old.txt", data as unknown as string))
      }
      assert.equal(await textAt(workspace, "old.txt"), "old")
    },
  ),

  missing: workspaceCase(
    "a missing file: stat returns undefined, read fails with not-found, list and remove do nothing",
    async (workspace) => {
      assert.equal(await workspace.stat("nothing"), undefined)
      assert.equal(await workspace.stat("no/such/file"), undefined)
      await refused("not-found", workspace.read("nothing"))
      await refused("not-found", streamed(workspace, "no/such/file"))
      assert.deepEqual(await pathsIn(workspace), [])
      assert.deepEqual(await pathsIn(workspace, "no/such/folder"), [])
      await workspace.remove("nothing")
      await workspace.remove("no/such/file")
    },
  ),

  remove: workspaceCase("a removed file is gone, and the others stay", async (workspace) => {
    await workspace.write("a/one", "1")
    await workspace.write("a/two", "2")
    await workspace.remove("a/one")
    await workspace.remove("a/one")
    assert.equal(await workspace.stat("a/one"), undefined)
    await refused("not-found", workspace.read("a/one"))
    assert.deepEqual(await pathsIn(workspace), ["a/two"])
    await workspace.write("a/one", "again")
    assert.equal(await textAt(workspace, "a/one"), "again")
  }),
}
