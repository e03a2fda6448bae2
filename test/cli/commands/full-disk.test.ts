// test lane: unit, long
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { before, describe, test } from "node:test"
import { attempt } from "../../../src/core/attempt.ts"
import { karst, modelServer, startKarst } from "../karst.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-full-"))
const disk = join(folder, "disk")
mkdirSync(disk)
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", disk]).status === 0
process.on("exit", () => {
  if (isMounted) spawnSync("umount", [disk])
  rmSync(folder, { recursive: true, force: true })
})
const home = join(disk, "home")
const project = join(disk, "project")

/** Fills the disk up, or makes room again. */
function fill(): void {
  // Each attempt writes less than the one before, until nothing fits.
  for (let size = 512; size > 0; size = Math.floor(size / 2)) {
    while (attempt(() => [writeFileSync(join(disk, `fill-${readdirSync(disk).length}`), Buffer.alloc(size * 1024))]));
  }
}

function makeRoom(): void {
  for (const name of readdirSync(disk)) if (name.startsWith("fill-")) rmSync(join(disk, name))
}

/** The files of the home folder that have content, with it. */
function contents(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => {
    const found = statSync(join(path, name))
    return found.isFile() && found.size > 0
  })
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(path, name), "latin1")]))
}

describe("a full disk", { skip: !isMounted && "by design: needs a mount" }, () => {
  before(() => {
    mkdirSync(home)
    mkdirSync(project)
    writeFileSync(join(project, "karst.config.json"), "{}")
  })
  const full = (args: string[], cwd = folder) => {
    fill()
    return karst(args, { KARST_HOME: home }, cwd).finally(makeRoom)
  }

  test("ends a run with the cause and the cure, and leaves no session to continue", async (t) => {
    const { id } = await modelServer(t, ["Hi."])
    for (const store of [[], ["--store", join(disk, "archive")], ["--store", `sqlite:${join(disk, "store.db")}`]]) {
      const { code, stdout, stderr } = await full(["run", "Hello", "--model", id, ...store])
      assert.equal(code, 1, stderr)
      assert.match(stdout, /has no room left, so the commit was not made\.\s+Make\s+room, then try again\./)
      assert.doesNotMatch(stdout + stderr, /Continue:/)
      const listed = await karst(["sessions", "list", "--json", ...store], { KARST_HOME: home }, folder)
      assert.deepEqual([listed.code, listed.stdout.trim()], [0, "[]"], listed.stderr)
    }
    const again = await karst(["run", "Hello", "--model", id], { KARST_HOME: home }, folder)
    assert.equal(again.code, 0, again.stderr)
  })

  test("lets sessions be listed and shown, and leaves stored ones as they were", async (t) => {
    const { id } = await modelServer(t, ["Hi."])
    assert.equal((await karst(["run", "First", "--model", id], { KARST_HOME: home }, folder)).code, 0)
    const before = contents(join(home, "sessions"))
    const shown = await full(["sessions", "show", "last"])
    assert.deepEqual([shown.code, /First/.test(shown.stdout)], [0, true], shown.stderr)
    const resumed = await full(["resume", "last", "Second", "--model", id])
    assert.equal(resumed.code, 1, resumed.stdout)
    assert.match(resumed.stdout + resumed.stderr, /has no room left/)
    assert.deepEqual(contents(join(home, "sessions")), before)
    const out = join(disk, "out.json")
    const exported = await full(["sessions", "export", "last", "--out", out])
    assert.equal(exported.code, 1)
    assert.equal(
      exported.stderr,
      `karst: "${out}" cannot be written: the disk or the quota is full. Make room, then try again.\n`,
    )
    assert.ok(!readdirSync(disk).some((name) => name.startsWith("out.json")))
    const { code } = await karst(["resume", "last", "Second", "--model", id], { KARST_HOME: home }, folder)
    assert.equal(code, 0)
  })

  test("does not end a chat, whose next prompt works when there is room again", async (t) => {
    const { id } = await modelServer(t, ["Hi."])
    fill()
    t.after(makeRoom)
    const { child, ended } = startKarst(["chat", "--model", id], { KARST_HOME: home }, folder)
    child.stdin.write("Hello\n")
    let printed = ""
    for await (const text of child.stdout) {
      printed += text
      if (
        /✗ failed/.test(printed) &&
        !/● Hi/.test(printed) &&
        readdirSync(disk).some((name) => name.startsWith("fill-"))
      ) {
        makeRoom()
        child.stdin.end("Again\n")
      }
    }
    assert.equal((await ended).code, 0)
    assert.match(printed, /has no room left[\s\S]*✗ failed[\s\S]*● Hi\./)
  })

  test("is named by commands that write a file, which write nothing", async () => {
    const before = contents(home)
    for (const [args, file] of [
      [["config", "trust"], join(home, "trusted.json")],
      [["models", "set", "big", "openai/gpt-5.2"], join(home, "config.json")],
    ] as const) {
      const { code, stderr } = await full([...args], project)
      assert.equal(code, 1, stderr)
      assert.equal(
        stderr,
        `karst: "${file}" cannot be written: the disk or the quota is full. Make room, then try again.\n`,
      )
    }
    assert.deepEqual(contents(home), before)
    const { code, stderr } = await full(["init", "--to", join(disk, "new")])
    assert.equal(code, 1)
    assert.match(stderr, /the disk or the quota is full/)
    assert.deepEqual(contents(join(disk, "new")), {})
  })
})
