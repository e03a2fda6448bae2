import assert from "node:assert/strict"
import { mkdtempSync } from "node:fs"
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { testWorkspace } from "karst/testing"
import { localWorkspace } from "../../src/workspaces/local.ts"
import { toLocalError } from "../../src/workspaces/local-errors.ts"
import type { Workspace } from "../../src/workspaces/workspace.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-local-"))
after(() => rm(folder, { recursive: true }))

describe("localWorkspace", () => {
  let count = 0
  const foldsCase = process.platform === "darwin" || process.platform === "win32"
  const reason = foldsCase ? "by design: the file system takes these for one name" : undefined
  testWorkspace({
    test,
    workspace: () => localWorkspace(join(folder, `suite ${count++}`)),
    skip: { case: reason, composition: reason },
  })

  test("has its folder as root, and makes it with the first file", async () => {
    const root = join(folder, "not", "yet")
    const workspace = localWorkspace(root)
    assert.equal(workspace.root, root)
    assert.equal(await workspace.stat("a"), undefined)
    assert.deepEqual(await paths(workspace), [])
    await workspace.write("a/b.txt", "text")
    assert.equal(await readFile(join(root, "a/b.txt"), "utf8"), "text")
  })

  test("is a folder, and says so when it is given a file", async () => {
    const { root } = await fresh()
    await writeFile(join(root, "file"), "")
    const workspace = localWorkspace(join(root, "file"))
    const refused = { code: "config", message: /is a file. Make the localWorkspace\(\) of a folder/ }
    for (const work of [() => workspace.stat("a"), () => workspace.write("a", ""), () => paths(workspace)]) {
      await assert.rejects(work(), refused)
    }
  })

  test("keeps the mode of a file it replaces, and makes new ones as the system does", async () => {
    const { root, workspace } = await fresh()
    await writeFile(join(root, "script.sh"), "old")
    await chmod(join(root, "script.sh"), 0o751)
    await workspace.write("script.sh", "new")
    await workspace.write("script.sh", "er", { append: true })
    assert.equal((await stat(join(root, "script.sh"))).mode & 0o7777, 0o751)
    await workspace.write("plain.txt", "")
    await writeFile(join(root, "by-node.txt"), "")
    assert.equal((await stat(join(root, "plain.txt"))).mode, (await stat(join(root, "by-node.txt"))).mode)
  })

  test("does not write through another name of a file", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("a", "one")
    await link(join(root, "a"), join(root, "b"))
    await workspace.write("a", "two")
    assert.equal(await text(workspace, "b"), "one")
  })

  test("sees what other programs change", async () => {
    const { root, workspace } = await fresh()
    const { etag } = await workspace.write("a", "one")
    await writeFile(join(root, "a"), "longer")
    await assert.rejects(workspace.write("a", "two", { ifMatch: etag }), { code: "conflict" })
    await truncate(join(root, "a"), 0)
    assert.equal((await workspace.stat("a"))?.sizeBytes, 0)
  })

  test("gives each of many versions written in a moment a name of its own", async () => {
    const { workspace } = await fresh()
    const etags = new Set<string>()
    for (let version = 0; version < 300; version++) etags.add((await workspace.write("a", "same")).etag)
    assert.equal(etags.size, 300)
  })

  test("leaves nothing but the files", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("a/one", "1")
    await assert.rejects(workspace.write("a/one", "2", { ifMatch: "other" }))
    await assert.rejects(workspace.write("b/c/two", "2", { ifMatch: "other" }))
    await workspace.remove("a/one")
    assert.deepEqual(await readdir(root), [])
  })

  test("lists files only, by names that can be asked for", async () => {
    const { root, workspace } = await fresh()
    for (const name of ["good", "back\\slash", "new\nline", ".karst-0123456789abcdef.tmp"]) {
      await writeFile(join(root, name), "x")
    }
    await writeFile(Buffer.concat([Buffer.from(`${root}/not-utf8-`), Buffer.from([0xff])]), "x")
    await mkdir(join(root, "empty"))
    assert.deepEqual(await paths(workspace), ["good"])
  })

  test("does not look into folders where nothing can match", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("src/a.ts", "")
    await workspace.write("secret/deep/b.ts", "")
    await chmod(join(root, "secret"), 0)
    await asNobody(root, async () => {
      assert.deepEqual(await Array.fromAsync(workspace.list("", { glob: "src/**" }), ({ path }) => path), ["src/a.ts"])
      await assert.rejects(paths(workspace), { code: "permission-denied", message: /"secret" is out of reach/ })
    })
    await chmod(join(root, "secret"), 0o755)
  })

  test("tells what it may not do, and leaves a file that may not be written", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("locked/a", "a")
    await workspace.write("read-only", "old")
    await workspace.write("hidden", "hidden")
    await chmod(join(root, "locked"), 0o555)
    await chmod(join(root, "read-only"), 0o444)
    await chmod(join(root, "hidden"), 0o000)
    await asNobody(root, async () => {
      const denied = { code: "permission-denied", message: /is out of reach: the file system forbids it/ }
      await assert.rejects(workspace.write("locked/b", "b"), denied)
      await assert.rejects(workspace.remove("locked/a"), denied)
      await assert.rejects(workspace.write("read-only", "new"), denied)
      await assert.rejects(workspace.read("hidden"), denied)
      assert.equal((await workspace.stat("hidden"))?.sizeBytes, 6)
    })
    await chmod(join(root, "locked"), 0o755)
    assert.equal(await text(workspace, "read-only"), "old")
    assert.deepEqual(await paths(workspace), ["hidden", "locked/a", "read-only"])
  })

  test("tells a name that is too long, a full disk and whatever else the file system says", async () => {
    const { workspace } = await fresh()
    await assert.rejects(workspace.write("x".repeat(300), ""), { code: "invalid-path", message: /too long/ })
    await assert.rejects(workspace.stat("x".repeat(300)), { code: "invalid-path" })
    const told = (code: string) => toLocalError(Object.assign(new Error(code), { code }), "a.txt")
    assert.match(String(told("ENOSPC")), /"a.txt" is out of reach: the disk or the quota is full. Make room/)
    assert.match(String(told("EROFS")), /read-only file system/)
    assert.match(String(told("EMFILE")), /too many files are open/)
    assert.match(String(told("EIO")), /the file system answered EIO/)
  })

  test("says that a folder, a pipe or a device is no file, and waits for none", async (context) => {
    const { root, workspace } = await fresh()
    const { spawnSync } = await import("node:child_process")
    if (spawnSync("mkfifo", [join(root, "pipe")]).status !== 0) return context.skip("by design: no pipes here")
    await assert.rejects(workspace.read("pipe"), { code: "not-found", message: /a pipe, a socket or a device/ })
    await assert.rejects(workspace.write("pipe", "x"), { code: "path-taken" })
    assert.equal(await workspace.stat("pipe"), undefined)
    assert.deepEqual(await paths(workspace), [])
  })
})

describe("localWorkspace and links", () => {
  test("follows those that stay within, and writes what they lead to", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("real/deep/file.txt", "text")
    await symlink("deep/file.txt", join(root, "real/to-file"))
    await symlink("real/deep", join(root, "to-folder"))
    await symlink("../real/deep/../to-file", join(root, "real", "to-link"))
    await symlink(join(root, "real"), join(root, "absolute"))
    await symlink(".", join(root, "here"))
    for (const path of [
      "real/to-file",
      "to-folder/file.txt",
      "real/to-link",
      "absolute/deep/file.txt",
      "here/real/to-file",
    ]) {
      assert.equal(await text(workspace, path), "text", path)
      assert.equal((await workspace.stat(path))?.path, path)
    }
    await workspace.write("real/to-link", "new")
    await workspace.write("absolute/other.txt", "other")
    assert.equal(await text(workspace, "real/deep/file.txt"), "new")
    assert.equal(await text(workspace, "real/other.txt"), "other")
    assert.equal(await readlink(join(root, "real/to-file")), "deep/file.txt")
    assert.equal(await workspace.stat("here"), undefined)
    assert.deepEqual(await paths(workspace, "to-folder"), ["to-folder/file.txt"])
  })

  test("lists each file once, under its own name", async () => {
    const { root, workspace } = await fresh()
    await workspace.write("a/b.txt", "")
    await symlink("a", join(root, "again"))
    await symlink("..", join(root, "a/up"))
    await symlink("a/b.txt", join(root, "c.txt"))
    assert.deepEqual(await paths(workspace), ["a/b.txt"])
  })

  test("lets none lead out, however it is written, and says so", async () => {
    const { root, workspace } = await fresh()
    const outside = await mkdtemp(join(folder, "outside-"))
    await writeFile(join(outside, "secret"), "secret")
    await workspace.write("in/file", "inside")
    const links = {
      absolute: outside,
      relative: `../${outside.split("/").at(-1)}`,
      "in/up-up": `../../${outside.split("/").at(-1)}`,
      "root-and-back": `${root}/../${outside.split("/").at(-1)}`,
      twice: "absolute",
      sibling: `${root}-other`,
    }
    for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name))
    await symlink(join(outside, "secret"), join(root, "file"))
    for (const path of [...Object.keys(links).map((name) => `${name}/secret`), "file"]) {
      const refused = { code: "outside-workspace", message: /is a link that leads out of the workspace/ }
      await assert.rejects(workspace.read(path), refused, path)
      await assert.rejects(workspace.stat(path), refused, path)
      await assert.rejects(workspace.write(path, "mine"), refused, path)
      await assert.rejects(workspace.write(path, "mine", { append: true }), refused, path)
    }
    for (const name of Object.keys(links)) await assert.rejects(paths(workspace, name), { code: "outside-workspace" })
    assert.deepEqual(await paths(workspace), ["in/file"])
    assert.deepEqual(await readdir(outside), ["secret"])
    assert.equal(await readFile(join(outside, "secret"), "utf8"), "secret")
  })

  test("removes a link and never what it leads to", async () => {
    const { root, workspace } = await fresh()
    const outside = await mkdtemp(join(folder, "outside-"))
    await writeFile(join(outside, "kept"), "kept")
    await symlink(join(outside, "kept"), join(root, "link"))
    await workspace.remove("link")
    assert.equal(await readFile(join(outside, "kept"), "utf8"), "kept")
    assert.deepEqual(await readdir(root), [])
  })

  test("takes a link to nothing for nothing, and a circle for an error", async () => {
    const { root, workspace } = await fresh()
    await symlink("nowhere", join(root, "dangling"))
    await symlink("circle", join(root, "circle"))
    assert.equal(await workspace.stat("dangling"), undefined)
    await workspace.write("dangling", "now")
    assert.equal(await text(workspace, "nowhere"), "now")
    await assert.rejects(workspace.read("circle"), /a circle of links/)
  })
})

async function fresh(): Promise<{ root: string; workspace: Workspace }> {
  const root = await mkdtemp(join(folder, "fresh-"))
  return { root, workspace: localWorkspace(root) }
}

async function text(workspace: Workspace, path: string): Promise<string> {
  return Buffer.from(await workspace.read(path)).toString()
}

async function paths(workspace: Workspace, below?: string): Promise<string[]> {
  return await Array.fromAsync(workspace.list(below), ({ path }) => path)
}

/** The file system denies root nothing, so root changes its user id for a while. */
async function asNobody(root: string, work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return await work()
  const nobody = 65534
  const { spawnSync } = await import("node:child_process")
  spawnSync("chown", ["-R", String(nobody), root])
  await chmod(folder, 0o755)
  process.seteuid?.(nobody)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}
