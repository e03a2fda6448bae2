import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { writeFileTool } from "../../../src/tools/files/write-file.ts"
import { localWorkspace } from "../../../src/workspaces/local.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { readOnlyWorkspace } from "../../../src/workspaces/read-only.ts"
import type { FileData, Workspace, WriteOptions } from "../../../src/workspaces/workspace.ts"
import { failure, stored, textOf, use, workspaces } from "../use.ts"

const write = writeFileTool()

describe("write_file", () => {
  test("makes a file with its folders, and replaces one", async (context) => {
    for (const workspace of await workspaces(context)) {
      const made = await use(write, { path: "a/b.txt", content: "grün\n" }, workspace)
      assert.equal(made.text, "Made a/b.txt: wrote 5 characters.")
      assert.deepEqual(made.value, { path: "a/b.txt", size: 6 })
      assert.equal(String(await stored(workspace, "a/b.txt")), "grün\n")
      assert.equal(
        await textOf(write, { path: "a/b.txt", content: "" }, workspace),
        "Replaced a/b.txt: wrote 0 characters.",
      )
      assert.equal(String(await stored(workspace, "a/b.txt")), "")
    }
  })

  test("appends with line breaks as asked, which do nothing to a file that is replaced", async (context) => {
    for (const workspace of await workspaces(context, { "a.txt": "one" })) {
      const input = { path: "a.txt", content: "hello", leadingNewline: true, trailingNewline: true }
      assert.equal(await textOf(write, { ...input, append: true }, workspace), "Extended a.txt: wrote 7 characters.")
      assert.equal(String(await stored(workspace, "a.txt")), "one\nhello\n")
      await use(write, input, workspace)
      assert.equal(String(await stored(workspace, "a.txt")), "hello")
      await use(write, { path: "new.txt", content: "x", append: true }, workspace)
      assert.equal(String(await stored(workspace, "new.txt")), "x")
    }
  })

  test("appends in the encoding and with the line ends of the file", async () => {
    const workspace = memoryWorkspace({
      crlf: "one\r\n",
      utf16: Buffer.from("\ufeffone\r\n", "utf16le"),
      latin1: Buffer.from("grün\n", "latin1"),
    })
    for (const path of ["crlf", "utf16", "latin1"])
      await textOf(write, { path, content: "ü\n", append: true }, workspace)
    assert.equal(String(await stored(workspace, "crlf")), "one\r\nü\r\n")
    assert.equal((await stored(workspace, "utf16")).toString("utf16le"), "\ufeffone\r\nü\r\n")
    assert.equal((await stored(workspace, "latin1")).toString("latin1"), "grün\nü\n")
    assert.match(await failure(write, { path: "latin1", content: "€", append: true }, workspace), /^cannot-encode: /)
  })

  test("loses nothing when two append at once", async (context) => {
    for (const workspace of await workspaces(context)) {
      const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
      await Promise.all(
        lines.map((content) => use(write, { path: "log", content, append: true, trailingNewline: true }, workspace)),
      )
      const found = String(await stored(workspace, "log"))
        .trim()
        .split("\n")
      assert.deepEqual(found.sort(), lines.sort())
    }
  })

  test("says why it cannot write", async (context) => {
    for (const workspace of await workspaces(context, { "a/b.txt": "x" })) {
      assert.match(await failure(write, { path: "a", content: "" }, workspace), /^path-taken: /)
      assert.match(await failure(write, { path: "a/b.txt/c", content: "" }, workspace), /^path-taken: /)
      assert.match(await failure(write, { path: "../up.txt", content: "" }, workspace), /^invalid-path: /)
      assert.match(await failure(write, { path: "", content: "" }, workspace), /^invalid-path: /)
      assert.match(await failure(write, { path: "x", content: "" }, readOnlyWorkspace(workspace)), /^read-only: /)
    }
    assert.equal((await write.accept({ path: "a" })).ok, false)
  })

  test("hands the workspace one whole write, which is all or nothing", async (context) => {
    const [, local] = await workspaces(context)
    assert.ok(local?.root)
    const writes: { path: string; data: FileData; options: WriteOptions | undefined }[] = []
    const workspace: Workspace = {
      ...localWorkspace(local.root),
      async write(path, data, options) {
        writes.push({ path, data, options })
        return await local.write(path, data, options)
      },
    }
    await use(write, { path: "a", content: "x".repeat(1_000_000) }, workspace)
    assert.equal(writes.length, 1)
  })
})
