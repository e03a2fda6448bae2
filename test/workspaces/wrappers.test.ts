import assert from "node:assert/strict"
import { mkdtempSync } from "node:fs"
import { readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { testWorkspace } from "karst/testing"
import { localWorkspace } from "../../src/workspaces/local.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { overlayWorkspace } from "../../src/workspaces/overlay.ts"
import { readOnlyWorkspace } from "../../src/workspaces/read-only.ts"
import { scopedWorkspace } from "../../src/workspaces/scoped.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-wrappers-"))
after(() => rm(folder, { recursive: true }))

describe("scoped", () => {
  testWorkspace({
    test,
    workspace: () => scopedWorkspace(memoryWorkspace({ "other/a.txt": "", "deep/inner2": "" }), "deep/inner"),
  })

  test("is a folder of the workspace, and knows nothing of the rest", async () => {
    const whole = memoryWorkspace({ "secret.txt": "secret", "team/a.txt": "a" })
    const team = scopedWorkspace(whole, "./team/")
    await team.write("b/c.txt", "c")
    assert.deepEqual(await paths(team), ["a.txt", "b/c.txt"])
    assert.deepEqual(await paths(whole), ["secret.txt", "team/a.txt", "team/b/c.txt"])
    assert.equal(await team.stat("secret.txt"), undefined)
    for (const path of ["../secret.txt", "/secret.txt", "b/../../secret.txt"]) {
      await assert.rejects(team.read(path), { code: "invalid-path" })
    }
    assert.throws(() => scopedWorkspace(whole, ".."), { code: "invalid-path" })
    assert.deepEqual(await paths(scopedWorkspace(whole, "")), await paths(whole))
  })

  test("has a root where the workspace has one", () => {
    assert.equal(scopedWorkspace(localWorkspace(folder), "a/b").root, join(folder, "a/b"))
    assert.equal(scopedWorkspace(memoryWorkspace(), "a").root, undefined)
  })
})

describe("readOnly", () => {
  test("shows everything and changes nothing", async () => {
    const workspace = readOnlyWorkspace(memoryWorkspace({ "a.txt": "text" }))
    assert.equal(await text(workspace, "a.txt"), "text")
    assert.equal(Buffer.concat(await Array.fromAsync(workspace.stream("a.txt"))).toString(), "text")
    assert.equal((await workspace.stat("a.txt"))?.sizeBytes, 4)
    assert.deepEqual(await paths(workspace), ["a.txt"])
    await assert.rejects(workspace.write("a.txt", "new"), {
      code: "read-only",
      message: '"a.txt" cannot be written: this workspace is read-only.',
    })
    await assert.rejects(workspace.remove("a.txt"), { code: "read-only" })
    assert.equal(await text(workspace, "a.txt"), "text")
  })

  test("has no root, where a shell could write", () => {
    assert.equal(readOnlyWorkspace(localWorkspace(folder)).root, undefined)
  })
})

describe("overlay", () => {
  let count = 0
  testWorkspace({ test, workspace: () => overlayWorkspace(memoryWorkspace(), memoryWorkspace()) })
  describe("of memory over a folder", () => {
    const base = () => readOnlyWorkspace(localWorkspace(join(folder, `base ${count++}`)))
    testWorkspace({ test, workspace: () => overlayWorkspace(base(), memoryWorkspace()) })
  })

  test("shows the base until it is written over, and never changes it", async () => {
    const root = join(folder, "project")
    await localWorkspace(root).write("src/a.ts", "old a")
    await localWorkspace(root).write("src/b.ts", "old b")
    const top = memoryWorkspace()
    const workspace = overlayWorkspace(localWorkspace(root), top)
    assert.equal(await text(workspace, "src/a.ts"), "old a")
    await workspace.write("src/a.ts", "new a")
    await workspace.write("src/b.ts", ", more", { append: true })
    await workspace.write("src/c.ts", "c")
    assert.equal(await text(workspace, "src/a.ts"), "new a")
    assert.equal(await text(workspace, "src/b.ts"), "old b, more")
    assert.deepEqual(await paths(workspace), ["src/a.ts", "src/b.ts", "src/c.ts"])
    assert.deepEqual(await paths(top), ["src/a.ts", "src/b.ts", "src/c.ts"])
    assert.equal(await readFile(join(root, "src/a.ts"), "utf8"), "old a")
    assert.deepEqual(await readdir(join(root, "src")), ["a.ts", "b.ts"])
    assert.equal(workspace.root, undefined)
  })

  test("remembers what was removed, until it is written again", async () => {
    const base = memoryWorkspace({ "a.txt": "base a", "b/c.txt": "base c" })
    const workspace = overlayWorkspace(base, memoryWorkspace())
    await workspace.write("a.txt", "top a")
    for (const path of ["a.txt", "b/c.txt"]) await workspace.remove(path)
    assert.deepEqual(await paths(workspace), [])
    assert.equal(await workspace.stat("a.txt"), undefined)
    await assert.rejects(workspace.read("a.txt"), { code: "not-found" })
    await assert.rejects(Array.fromAsync(workspace.stream("b/c.txt")), { code: "not-found" })
    await workspace.write("b", "a file, where a folder was")
    await workspace.write("a.txt", "again", { append: true, ifMatch: null })
    assert.equal(await text(workspace, "a.txt"), "again")
    assert.deepEqual(await paths(workspace), ["a.txt", "b"])
    assert.equal(await text(base, "a.txt"), "base a")
  })

  test("keeps conditions over both", async () => {
    const base = memoryWorkspace({ "a.txt": "one" })
    const workspace = overlayWorkspace(base, memoryWorkspace())
    const etag = (await workspace.stat("a.txt"))?.etag ?? ""
    await assert.rejects(workspace.write("a.txt", "x", { ifMatch: null }), { code: "conflict" })
    await base.write("a.txt", "two")
    await assert.rejects(workspace.write("a.txt", "x", { ifMatch: etag }), { code: "conflict" })
    const now = (await workspace.stat("a.txt"))?.etag ?? ""
    const info = await workspace.write("a.txt", "three", { ifMatch: now })
    await assert.rejects(workspace.write("a.txt", "x", { ifMatch: now }), { code: "conflict" })
    await workspace.write("a.txt", "four", { ifMatch: info.etag })
    assert.equal(await text(workspace, "a.txt"), "four")
  })

  test("lets no file of one stand where the other has a folder", async () => {
    const workspace = overlayWorkspace(memoryWorkspace({ "a/b": "", c: "" }), memoryWorkspace())
    await assert.rejects(workspace.write("a", ""), { code: "path-taken" })
    await assert.rejects(workspace.write("c/d", ""), { code: "path-taken" })
  })

  test("tells a failure of the top, and does not show the base instead", async () => {
    const broken: Workspace = {
      ...memoryWorkspace(),
      read: async () => Promise.reject(new Error("the disk is broken")),
    }
    await assert.rejects(overlayWorkspace(memoryWorkspace({ a: "base" }), broken).read("a"), /the disk is broken/)
  })
})

async function paths(workspace: Workspace): Promise<string[]> {
  return await Array.fromAsync(workspace.list(), ({ path }) => path)
}

async function text(workspace: Workspace, path: string): Promise<string> {
  return Buffer.from(await workspace.read(path)).toString()
}
