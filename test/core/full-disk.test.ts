// test lane: durable
import assert from "node:assert/strict"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { AgentError, createAgent, jsRuntime } from "karst"
import { recordModel, replayModel, scriptedModel } from "karst/models"
import { pythonRuntime } from "karst/python"
import { sqliteStore } from "karst/stores"
import { localWorkspace } from "karst/workspaces"
import { appendPrivateFileSync, replacePrivateFile, writeNewPrivateFile } from "../../src/core/private-files.ts"
import { smallDisk } from "../stores/small-disk.ts"
import { requires } from "../system.ts"

describe("files on a full disk", { skip: requires("small-disk") }, () => {
  let disk: ReturnType<typeof smallDisk>
  before(() => {
    disk = smallDisk(2)
  })
  after(() => disk.remove())

  const long = "x".repeat(3 * 4096)

  function hasNoRoom(error: unknown, path: string): boolean {
    assert.ok(error instanceof AgentError, String(error))
    assert.deepEqual([error.code, error.retryable], ["no-space", true], error.message)
    assert.ok(error.message.includes(`"${path}"`), error.message)
    assert.match(error.message, /(the disk or the quota is full|has no room left).* Make room, then try again\.$/)
    return true
  }

  const writers: Record<string, (path: string) => unknown> = {
    "a line that is appended": async (path) => appendPrivateFileSync(path, long),
    "a file that is replaced": (path) => replacePrivateFile(path, long),
    "the trajectory of a run": async (path) => {
      const agent = createAgent({ model: scriptedModel([long]), runtime: () => jsRuntime() })
      await using session = await agent.session()
      await session.send("Go")
      await session.save(path)
    },
    "a file of a workspace": (path) => localWorkspace(join(path, "..")).write("file", long),
  }

  for (const [what, write] of Object.entries(writers)) {
    for (const pages of [0, 1, 2]) {
      test(`${what}: with ${pages} free pages the error names it, and nothing is half-written`, async () => {
        const path = join(disk.folder, "file")
        writeFileSync(path, "before\n")
        const free = await disk.fill(pages * 4096)
        const names = readdirSync(disk.folder)
        try {
          const named = what.endsWith("workspace") ? "file" : path
          await assert.rejects(Promise.resolve(write(path)), (error) => hasNoRoom(error, named))
          assert.equal(readFileSync(path, "utf8"), "before\n")
          assert.deepEqual(readdirSync(disk.folder), names)
        } finally {
          await free()
        }
        await write(path)
        assert.ok(readFileSync(path, "utf8").includes(long))
      })
    }
  }

  test("a new file that does not fit is not there afterwards", async () => {
    const path = join(disk.folder, "new")
    const free = await disk.fill(4096)
    try {
      await assert.rejects(writeNewPrivateFile(path, long), (error) => hasNoRoom(error, path))
      assert.ok(!readdirSync(disk.folder).includes("new"))
    } finally {
      await free()
    }
    assert.equal(await writeNewPrivateFile(path, long), true)
  })

  test("a SQLite store that is not there yet says so, and is made once there is room", async () => {
    const path = join(disk.folder, "folder", "karst.db")
    await using store = sqliteStore(path)
    const free = await disk.fill()
    try {
      await assert.rejects(store.commit([{ type: "put", key: "k", value: 1 }]), (error) => hasNoRoom(error, path))
      await assert.rejects(store.get("k"), (error) => hasNoRoom(error, path))
    } finally {
      await free()
    }
    await store.commit([{ type: "put", key: "k", value: 1 }])
    assert.equal((await store.get("k"))?.value, 1)
  })

  test("a Python kernel that finds no room for its files does not start, and starts once there is room", {
    skip: requires("python"),
  }, async () => {
    const { TMPDIR } = process.env
    const agent = createAgent({
      model: scriptedModel(() => "```python\nfinish('Done.')\n```"),
      runtime: () => pythonRuntime(),
    })
    const free = await disk.fill()
    process.env.TMPDIR = disk.folder
    try {
      const files = readdirSync(disk.folder)
      await assert.rejects(Promise.resolve(agent.run("Go")), {
        code: "no-space",
        message: /connection\.json.*Make room/,
      })
      assert.deepEqual(readdirSync(disk.folder), files)
      await free()
      assert.equal((await agent.run("Go")).output, "Done.")
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
  })

  test("a recording has whole lines, and the calls after the lost one can be replayed and compared", async () => {
    const path = join(disk.folder, "recording.jsonl")
    const model = recordModel(
      scriptedModel(() => long),
      path,
    )
    await using session = await createAgent({ model }).session()
    await session.send("First")
    const free = await disk.fill(4096)
    try {
      await assert.rejects(Promise.resolve(session.send("Second")), (error) => hasNoRoom(error, path))
    } finally {
      await free()
    }
    await session.send("Third")
    await session.send("Fourth")
    const lines = readFileSync(path, "utf8").trimEnd().split("\n")
    assert.equal(lines.map((line) => JSON.parse(line)).length, 3)
    const replayed = replayModel(path, { strict: true })
    await using wrong = await createAgent({ model: replayed }).session()
    await wrong.send("First")
    await assert.rejects(Promise.resolve(wrong.send("Something else")), /Call 2 .* another request: message 3 differs/)
  })
})
