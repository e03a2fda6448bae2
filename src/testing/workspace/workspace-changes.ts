// Cases of the workspace suite: appending, conditional writes, concurrent writes, and aborting.
import assert from "node:assert/strict"
import { ConflictError, isAbortError } from "../../core/errors.ts"
import { bytesOf, conflicts, inChunks, pathsIn, refused, streamed, textAt, workspaceCase } from "./workspace-case.ts"

export const changeCases = {
  append: workspaceCase("an append adds to a file, and creates a file that does not exist", async (workspace) => {
    await workspace.write("log", "one\n", { append: true })
    const before = await workspace.stat("log")
    await workspace.write("log", new TextEncoder().encode("two\n"), { append: true })
    const info = await workspace.write("log", inChunks(new TextEncoder().encode("three\n"), 4), { append: true })
    assert.equal(await textAt(workspace, "log"), "one\ntwo\nthree\n")
    assert.equal(info.sizeBytes, 14)
    assert.notEqual(info.etag, before?.etag)
    assert.deepEqual(await pathsIn(workspace), ["log"])
  }),

  "append-large": workspaceCase("an append keeps every byte of a large file", async (workspace) => {
    const bytes = bytesOf(9 * 2 ** 20 + 1)
    await workspace.write("a.bin", bytes)
    await workspace.write("a.bin", "end", { append: true })
    const all = await workspace.read("a.bin")
    assert.ok(Buffer.from(all).equals(Buffer.concat([bytes, Buffer.from("end")])))
  }),

  "append-together": workspaceCase("appends at once all arrive, each whole", async (workspace) => {
    const lines = Array.from({ length: 12 }, (_, number) => `line ${number} ${"x".repeat(500)}\n`)
    await Promise.all(lines.map((line) => workspace.write("log", line, { append: true })))
    const arrived = (await textAt(workspace, "log")).split(/(?<=\n)/)
    assert.deepEqual(arrived.sort(), lines.sort())
  }),

  "write-together": workspaceCase("of writes at once one wins, whole", async (workspace) => {
    const texts = Array.from({ length: 8 }, (_, number) => String(number).repeat(50_000 + number))
    await Promise.all(texts.map((text) => workspace.write("a/b.txt", text)))
    assert.ok(texts.includes(await textAt(workspace, "a/b.txt")))
    assert.deepEqual(await pathsIn(workspace), ["a/b.txt"])
  }),

  "come-and-go": workspaceCase(
    "files written and removed at once in one folder do not hurt each other",
    async (workspace) => {
      const rounds = async (path: string) => {
        for (let round = 0; round < 15; round++) {
          await workspace.write(path, "x")
          assert.equal(await textAt(workspace, path), "x")
          await workspace.remove(path)
        }
      }
      await Promise.all(["a/b/one", "a/b/two", "a/three"].map(rounds))
      assert.deepEqual(await pathsIn(workspace), [])
    },
  ),

  "if-match": workspaceCase("a write on the condition of a version replaces that version only", async (workspace) => {
    const first = await workspace.write("a.txt", "first")
    const second = await workspace.write("a.txt", "second", { ifMatch: first.etag })
    await conflicts(workspace.write("a.txt", "late", { ifMatch: first.etag }))
    await conflicts(workspace.write("a.txt", inChunks(bytesOf(100), 7), { ifMatch: first.etag }))
    await conflicts(workspace.write("missing.txt", "late", { ifMatch: first.etag }))
    assert.equal(await textAt(workspace, "a.txt"), "second")
    assert.equal((await workspace.stat("a.txt"))?.etag, second.etag)
    await workspace.remove("a.txt")
    await conflicts(workspace.write("a.txt", "late", { ifMatch: second.etag }))
    assert.deepEqual(await pathsIn(workspace), [])
  }),

  "if-match-null": workspaceCase(
    "a write on the condition that nothing is there yet makes a file once",
    async (workspace) => {
      await workspace.write("a.txt", "first", { ifMatch: null })
      await conflicts(workspace.write("a.txt", "second", { ifMatch: null }))
      assert.equal(await textAt(workspace, "a.txt"), "first")
      await workspace.remove("a.txt")
      await workspace.write("a.txt", "third", { ifMatch: null })
      assert.equal(await textAt(workspace, "a.txt"), "third")
    },
  ),

  "if-match-append": workspaceCase("an append can have a condition too", async (workspace) => {
    const first = await workspace.write("log", "one", { append: true, ifMatch: null })
    await conflicts(workspace.write("log", "no", { append: true, ifMatch: null }))
    await workspace.write("log", " two", { append: true, ifMatch: first.etag })
    await conflicts(workspace.write("log", "no", { append: true, ifMatch: first.etag }))
    assert.equal(await textAt(workspace, "log"), "one two")
  }),

  "if-match-together": workspaceCase(
    "of writes at once on the same condition exactly one is done",
    async (workspace) => {
      const race = async (ifMatch: string | null) => {
        const texts = Array.from({ length: 8 }, (_, number) => `writer ${number} after ${ifMatch}`)
        const writes = texts.map((text) => workspace.write("a.txt", text, { ifMatch }))
        const results = await Promise.allSettled(writes)
        const won = results.flatMap((result, number) => (result.status === "fulfilled" ? [number] : []))
        assert.equal(won.length, 1, `${won.length} writes were done`)
        assert.ok(results.every((result) => result.status === "fulfilled" || result.reason instanceof ConflictError))
        assert.equal(await textAt(workspace, "a.txt"), texts[won[0] ?? 0])
        return (await workspace.stat("a.txt"))?.etag ?? ""
      }
      await race(await race(null))
    },
  ),

  "abort-before": workspaceCase("a signal that has fired stops everything before it begins", async (workspace) => {
    await workspace.write("a.txt", "a")
    const signal = AbortSignal.abort()
    const works = [
      () => workspace.read("a.txt", { signal }),
      () => streamed(workspace, "a.txt", { signal }),
      () => workspace.write("a.txt", "b", { signal }),
      () => workspace.write("a.txt", "b", { signal, append: true }),
      () => workspace.stat("a.txt", { signal }),
      () => pathsIn(workspace, "", { signal }),
      () => workspace.remove("a.txt", { signal }),
    ]
    for (const work of works) await assert.rejects(work(), isAbortError)
    assert.equal(await textAt(workspace, "a.txt"), "a")
  }),

  "abort-write": workspaceCase("a write that is aborted leaves the file as it was", async (workspace) => {
    await workspace.write("a.txt", "old")
    for (const path of ["a.txt", "new/b.txt"]) {
      const controller = new AbortController()
      async function* source() {
        yield bytesOf(6 * 2 ** 20)
        controller.abort()
        yield bytesOf(10)
      }
      await assert.rejects(workspace.write(path, source(), { signal: controller.signal }), isAbortError)
    }
    assert.equal(await textAt(workspace, "a.txt"), "old")
    assert.deepEqual(await pathsIn(workspace), ["a.txt"])
  }),

  "abort-stream": workspaceCase("a stream that is aborted ends with an AbortError", async (workspace) => {
    await workspace.write("a.bin", bytesOf(4 * 2 ** 20))
    const controller = new AbortController()
    const read = async () => {
      for await (const _ of workspace.stream("a.bin", { signal: controller.signal })) controller.abort()
    }
    await assert.rejects(read(), isAbortError)
    await refused("not-found", workspace.read("other"))
  }),
}
