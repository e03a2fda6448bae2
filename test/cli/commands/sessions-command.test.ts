// test lane: unit, long
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { type ArchiveSource, listSessions } from "../../../src/sessions/session-archive.ts"
import { sqliteStore } from "../../../src/stores/sqlite-store.ts"
import { karst, modelServer } from "../karst.ts"

for (const kind of ["a folder", "a SQLite file"] as const) {
  describe(`karst sessions in ${kind}`, () => {
    let folder: string
    let place: string
    let archive: ArchiveSource
    const ids: string[] = []

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "karst-sessions-"))
      const file = join(folder, "karst.db")
      place = kind === "a folder" ? folder : `sqlite:${file}`
      archive = kind === "a folder" ? folder : sqliteStore(file)
      for (const prompt of ["Count the apples", "Find the invoice"]) {
        const model = scriptedModel(["```ts\n6 * 7\n```", "It is 42."])
        const session = await createAgent({ name: "counter", model }).session({ archive })
        await session.send(prompt)
        await session.close()
        ids.push(session.id)
      }
    })
    after(async () => {
      if (typeof archive !== "string") await archive.close()
      await rm(folder, { recursive: true })
    })

    const sessions = (...args: string[]) => karst(["sessions", ...args, "--store", place])

    test("list shows them, the newest first, or those that mention a text", async () => {
      const { code, stdout, stderr } = await sessions("list")
      assert.equal(code, 0, stderr)
      const [first = "", second = "", third = ""] = stdout.split("\n")
      assert.match(first, /^session +last used +status +runs +agent +first prompt$/)
      assert.match(second, new RegExp(`^${ids[1]} .* done +1 +counter +Find the invoice$`))
      assert.match(third, new RegExp(`^${ids[0]} `))
      const found = JSON.parse((await sessions("list", "--search", "apples", "--json")).stdout)
      assert.deepEqual(
        found.map(({ id }: { id: string }) => id),
        [ids[0]],
      )
    })

    test("show shows the runs as they were", async () => {
      const { stdout } = await sessions("show", "last")
      assert.match(stdout, new RegExp(`^session +${ids[1]}\nagent +counter\n`))
      assert.match(stdout, /❯ Find the invoice\n\n {2}│ 6 \* 7\n {2}└ 42\n\n● It is 42\.\n\n✓ done · 2 cycles/)
    })

    test("export writes the trajectory, also in the interchange format", async () => {
      const file = join(folder, "out.json")
      assert.equal((await sessions("export", ids[0] ?? "", "--out", file)).code, 0)
      const trajectory = JSON.parse(await readFile(file, "utf8"))
      assert.deepEqual([trajectory.version, trajectory.session, trajectory.runs.length], [1, ids[0], 1])
      const atif = JSON.parse((await sessions("export", ids[0] ?? "", "--format", "atif")).stdout)
      assert.equal(atif.session_id, ids[0])
    })

    const skip = kind === "a folder" ? false : "by design: a SQLite file has no files of sessions"
    test("delete deletes a session whose file is damaged", { skip }, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "karst-damaged-"))
      t.after(() => rm(folder, { recursive: true }))
      await mkdir(join(folder, "sessions/broken"), { recursive: true })
      await writeFile(join(folder, "sessions/broken/session.json"), '{"')
      const { code, stdout } = await karst(["sessions", "delete", "broken", "--store", folder])
      assert.deepEqual([code, stdout], [0, "Deleted broken\n"])
      assert.equal(existsSync(join(folder, "sessions/broken/session.json")), false)
    })

    test("delete deletes those that are named, and none if one does not exist", async () => {
      const wrong = await sessions("delete", ids[0] ?? "", "s_nothing")
      assert.equal(wrong.code, 2)
      assert.match(wrong.stderr, /no session "s_nothing".*karst sessions list/)
      assert.equal((await listSessions(archive)).length, 2)
      assert.equal((await sessions("delete", ids[0] ?? "")).stdout, `Deleted ${ids[0]}\n`)
      assert.deepEqual(
        (await listSessions(archive)).map(({ id }) => id),
        [ids[1]],
      )
    })
  })
}

test("commands that read a store refuse one that does not exist, and do not create it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-sessions-"))
  t.after(() => rm(folder, { recursive: true }))
  const commands = [
    ["sessions", "list"],
    ["sessions", "show", "last"],
    ["trajectory", "show", "last"],
    ["runs", "list"],
  ]
  for (const command of commands) {
    const { code, stderr } = await karst([...command, "--store", "sqlite:tpyo.db"], {}, folder)
    assert.equal(code, 2)
    assert.equal(stderr, "karst: --store: there is no file tpyo.db.\n")
  }
  for (const command of [
    ["sessions", "list"],
    ["resume", "last"],
    ["replay", "last"],
  ]) {
    const { code, stderr } = await karst([...command, "--store", "./tpyo"], {}, folder)
    assert.equal(code, 2)
    assert.equal(stderr, "karst: --store: there is no folder ./tpyo.\n")
  }
  assert.deepEqual(await readdir(folder), [])
})

test("KARST_ARCHIVE and `archive` of the configuration take what --store takes: a folder, a store by name, off", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-sessions-"))
  t.after(() => rm(folder, { recursive: true }))
  const { id: model } = await modelServer(t, ["Hello."])
  const trusted = { KARST_TRUST_CONFIG: "1" }
  const listed = async (env: Record<string, string>, cwd: string) =>
    JSON.parse((await karst(["sessions", "list", "--json"], env, cwd)).stdout).length

  const byVariable = { KARST_ARCHIVE: "sqlite:variable.db" }
  const run = await karst(["run", "Hi", "--model", model], byVariable, folder)
  assert.equal(run.code, 0, run.stderr)
  assert.equal(await listed(byVariable, folder), 1)
  assert.deepEqual((await readdir(folder)).sort(), ["variable.db"])

  const off = await karst(["run", "Hi", "--model", model], { KARST_ARCHIVE: "off" }, folder)
  assert.doesNotMatch(off.stdout, /Continue:/)
  assert.deepEqual(await readdir(folder), ["variable.db"])

  const project = join(folder, "project")
  await mkdir(join(project, "inner"), { recursive: true })
  await writeFile(join(project, "karst.config.json"), JSON.stringify({ archive: "sqlite:./project.db" }))
  const inProject = await karst(["run", "Hi", "--model", model], trusted, join(project, "inner"))
  assert.equal(inProject.code, 0, inProject.stderr)
  const id = /Continue: .*resume (s_\w+)/.exec(inProject.stdout)?.[1] ?? ""
  const resumed = await karst(["resume", id, "Again", "--model", model], trusted, project)
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal(await listed(trusted, project), 1)
  assert.deepEqual((await readdir(project)).sort(), ["inner", "karst.config.json", "project.db"])
})
