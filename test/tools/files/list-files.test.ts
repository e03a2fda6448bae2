import assert from "node:assert/strict"
import { symlink } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { fileInfoTool, findFilesTool, listFilesTool } from "../../../src/tools/files/list-files.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { failure, folderWith, textOf, use, workspaces } from "../use.ts"

const list = listFilesTool()
const find = findFilesTool()
const info = fileInfoTool()

const files = {
  "a.ts": "1234",
  "src/b.ts": "12",
  "src/deep/er/c.js": "1",
  ".env": "SECRET=1",
  ".git/config": "x",
  "src/.hidden/d.ts": "",
  "node_modules/p/index.ts": "",
}

describe("list_files", () => {
  test("shows one folder: files with sizes, folders with what is in them", async (context) => {
    for (const workspace of await workspaces(context, files)) {
      const text = await textOf(list, {}, workspace)
      const lines = ["a.ts (4 bytes)", "node_modules/ (1 file, 0 bytes)", "src/ (3 files, 3 bytes)"]
      assert.equal(text, lines.join("\n"))
      assert.equal(await textOf(list, { path: "." }, workspace), text)
      assert.equal(await textOf(list, { path: "./src/deep/" }, workspace), "er/ (1 file, 1 byte)")
      assert.match(await textOf(list, { hidden: true }, workspace), /^\.env \(8 bytes\)\n\.git\/ \(1 file/)
    }
  })

  test("gives a cell the same entries as values", async () => {
    const { value } = await use(list, { limit: 2 }, memoryWorkspace(files))
    assert.deepEqual(value, [
      { name: "a.ts", size: 4 },
      { name: "node_modules/", size: 0, files: 1 },
    ])
  })

  test("says that a folder is missing, is a file, or leads out", async (context) => {
    for (const workspace of await workspaces(context, files)) {
      assert.match(await failure(list, { path: "nope" }, workspace), /^not-found: There is no folder "nope"/)
      assert.match(await failure(list, { path: "a.ts" }, workspace), /^not-a-folder: "a.ts" is a file/)
      assert.match(await failure(list, { path: "../" }, workspace), /^invalid-path: /)
      assert.match(await failure(list, { path: "/etc" }, workspace), /^invalid-path: /)
    }
    assert.equal(await textOf(list, {}, memoryWorkspace()), "Nothing here.")
    const workspace = await folderWith(context)
    await symlink("/etc", join(workspace.root, "out"))
    assert.match(await failure(list, { path: "out" }, workspace), /^outside-workspace: /)
  })

  test("is bounded, and says how to go on", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1500 }, (_, index) => [`f${String(index).padStart(4, "0")}`, ""]),
    )
    const workspace = memoryWorkspace(many)
    const first = await use(list, {}, workspace)
    assert.equal(first.text.split("\n").length, 201)
    assert.match(first.text, /f0199 \(0 bytes\)\n\[More: continue with offset 200, or narrow it\.\]$/)
    assert.match(await textOf(list, { offset: 1499 }, workspace), /^f1499 \(0 bytes\)$/)
    assert.equal(await textOf(list, { offset: 5000 }, workspace), "Nothing from 5000 on.")
    const most = await use(list, { limit: 100_000 }, workspace)
    assert.ok(Array.isArray(most.value) && most.value.length === 1000)
  })
})

describe("find_files", () => {
  test("finds by glob, in order, without what is hidden or installed", async (context) => {
    for (const workspace of await workspaces(context, files)) {
      assert.equal(await textOf(find, { glob: "*.ts" }, workspace), "a.ts\nsrc/b.ts")
      assert.equal(await textOf(find, { glob: "./*.ts" }, workspace), "a.ts")
      assert.equal(await textOf(find, { glob: "src/**/*.{ts,js}" }, workspace), "src/b.ts\nsrc/deep/er/c.js")
      assert.equal(await textOf(find, { glob: "**", path: "src" }, workspace), "src/b.ts\nsrc/deep/er/c.js")
      assert.equal(await textOf(find, { glob: "!*.ts" }, workspace), "src/deep/er/c.js")
      assert.equal(await textOf(find, { glob: "*.py" }, workspace), "No files match.")
    }
  })

  test("finds what is hidden when asked to, or when it is named", async () => {
    const workspace = memoryWorkspace(files)
    assert.match(await textOf(find, { glob: "*.ts", hidden: true }, workspace), /node_modules\/p\/index\.ts/)
    assert.equal(await textOf(find, { glob: ".env" }, workspace), ".env")
    assert.equal(await textOf(find, { glob: "**/*.ts", path: "node_modules" }, workspace), "node_modules/p/index.ts")
  })

  test("does not leave the workspace by a glob, and says what is wrong with one", async (context) => {
    for (const workspace of await workspaces(context, files)) {
      assert.match(await failure(find, { glob: "../*" }, workspace), /^invalid-glob: .*has "\.\."/)
      assert.match(await failure(find, { glob: "{a" }, workspace), /^invalid-glob: /)
      assert.match(await failure(find, { glob: "*", path: "no/where" }, workspace), /^not-found: /)
    }
  })
})

describe("file_info", () => {
  test("tells size, time and kind", async (context) => {
    const png = Buffer.from("89504e470d0a1a0a00000000", "hex")
    const utf16 = Buffer.from("\ufeffone\r\ntwo", "utf16le")
    for (const workspace of await workspaces(context, { "a.txt": "a\r\nb", "b.png": png, "c.txt": utf16, e: "" })) {
      const text = await textOf(info, { path: "a.txt" }, workspace)
      assert.match(text, /^a\.txt: 4 bytes, 2 lines, changed \d{4}-\d\d-\d\dT[\d:.]+Z, text, UTF-8, CRLF$/)
      assert.match(await textOf(info, { path: "b.png" }, workspace), /image\/png$/)
      assert.match(await textOf(info, { path: "c.txt" }, workspace), /UTF-16 LE, CRLF$/)
      assert.match(await textOf(info, { path: "e" }, workspace), /empty$/)
    }
  })

  test("tells folders and missing things apart", async (context) => {
    for (const workspace of await workspaces(context, files)) {
      assert.equal(await textOf(info, { path: "src" }, workspace), "src: a folder with 3 files, 3 bytes")
      assert.match(await textOf(info, { path: "." }, workspace), /^\.: a folder with 7 files/)
      assert.match(await failure(info, { path: "nope" }, workspace), /^not-found: There is no file or folder "nope"/)
    }
  })
})
