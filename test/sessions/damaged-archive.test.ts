// test lane: durable
import assert from "node:assert/strict"
import { once } from "node:events"
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { deleteSession, listSessions, loadSession } from "karst/sessions"
import { assertReplays } from "karst/testing"
import { cell, freshFolder } from "./session-fixtures.ts"

describe("an archive with a damaged session", () => {
  test("lists and searches the others, warns of that one, and can delete it", async () => {
    await using folder = await freshFolder()
    const [broken, torn, whole] = [await session(folder.path), await session(folder.path), await session(folder.path)]
    await writeFile(join(broken.directory, "session.json"), "no JSON")
    const lines = (await readFile(join(torn.directory, "events.jsonl"), "utf8")).split("\n")
    await writeFile(join(torn.directory, "events.jsonl"), lines.with(1, "{ cut").join("\n"))

    const warned = once(process, "warning")
    assert.deepEqual(ids(await listSessions(folder.path)).toSorted(), [torn.id, whole.id].toSorted())
    const [warning] = await warned
    assert.match(String(warning), new RegExp(`left out.*${broken.id}.*damaged`))
    assert.deepEqual(ids(await listSessions(folder.path, { search: "Counted" })), [whole.id])

    await assert.rejects(loadSession(folder.path, broken.id), { code: "corrupt" })
    for (const { id } of [broken, torn]) await deleteSession(folder.path, id)
    assert.deepEqual(ids(await listSessions(folder.path)), [whole.id])
    assert.deepEqual(await readdir(join(folder.path, "sessions")), [whole.id])
  })

  test("says that its events are gone, instead of going on with an empty conversation", async () => {
    await using folder = await freshFolder()
    const { id, directory } = await session(folder.path)
    await rm(join(directory, "events.jsonl"))
    const agent = createAgent({ model: scriptedModel([]), runtime: () => jsRuntime() })
    await assert.rejects(agent.session({ resume: id, archive: folder.path }), { code: "corrupt", message: /events/ })
    await assert.rejects(loadSession(folder.path, id), { code: "corrupt" })
    await deleteSession(folder.path, id)
  })

  for (const [what, file, damage] of [
    ["is cut", "events.jsonl", (text: string) => text.slice(0, -20)],
    ["is cut", "recording.jsonl", (text: string) => text.slice(0, -20)],
    ["has a line that is no JSON", "events.jsonl", (text: string) => text.replace('{"', "!!")],
    ["is no JSON", "session.json", () => ""],
    ["has a length below zero", "session.json", (text: string) => text.replace(/"events":\d+/, '"events":-5')],
  ] as const) {
    test(`whose ${file} ${what} is an error with a cure that works`, async () => {
      await using folder = await freshFolder()
      const { id, directory } = await session(folder.path)
      const path = join(directory, file)
      await writeFile(path, damage(await readFile(path, "utf8")))
      const agent = createAgent({ model: scriptedModel(["Yes."]), runtime: () => jsRuntime() })
      const resume = async () => {
        const resumed = await agent.session({ resume: id, archive: folder.path })
        await resumed.send("Still there?").settled.finally(() => resumed.close())
      }
      await assert.rejects(resume(), (error: Error) => {
        assert.ok(error.message.includes(path), error.message)
        assert.match(error.message, /deleteSession\(archive, id\)\. The id is the name of its folder/)
        return true
      })
      await deleteSession(folder.path, basename(directory))
      assert.deepEqual(await readdir(join(folder.path, "sessions")), [])
    })
  }

  for (const what of ["a folder", "not a file of SQLite"]) {
    test(`whose lock is ${what} works again once the lock is deleted`, async () => {
      await using folder = await freshFolder()
      const { id } = await session(folder.path)
      const lock = join(folder.path, ".lock")
      await rm(lock)
      if (what === "a folder") await mkdir(lock)
      else await writeFile(lock, "garbage ".repeat(100))
      const agent = createAgent({ model: scriptedModel(["Yes."]), runtime: () => jsRuntime() })
      const open = () => agent.session({ resume: id, archive: folder.path })
      const message = new RegExp(`lock file ".*\\.lock" is damaged: it is ${what}\\. .* Delete it`)
      await assert.rejects(open(), { code: "corrupt", message })
      await rm(lock, { recursive: true })
      await using opened = await open()
      assert.equal((await opened.send("Still there?")).status, "done")
    })
  }

  test("goes on where the last line was cut off", async () => {
    await using folder = await freshFolder()
    const { id, directory } = await session(folder.path)
    await appendFile(join(directory, "events.jsonl"), '{"type":"run-')
    await using resumed = await createAgent({ model: scriptedModel(["Yes."]), runtime: () => jsRuntime() }).session({
      resume: id,
      archive: folder.path,
    })
    await resumed.send("Still there?")
    assert.equal((await loadSession(folder.path, id)).messages().length, 6)
  })
})

test("a session that was archived without a recording says so when it is replayed", async () => {
  await using folder = await freshFolder()
  const { id, directory } = await session(folder.path, false)
  const agent = createAgent({ model: scriptedModel([]), runtime: () => jsRuntime() })
  const refusal = { name: "ConfigError", message: /recording: false/ }
  await assert.rejects(assertReplays(agent, directory), refusal)
  await assert.rejects(assertReplays(agent, { archive: folder.path, id }), refusal)
})

test("a trajectory is saved in a folder that is not there yet", async () => {
  await using folder = await freshFolder()
  const { id } = await session(folder.path)
  const path = join(folder.path, "reports", "may", "session.json")
  await (await loadSession(folder.path, id)).save(path)
  assert.equal((await loadSession(path)).id, id)
})

async function session(archive: string, recording?: boolean): Promise<{ id: string; directory: string }> {
  const agent = createAgent({ model: scriptedModel([cell("1 + 1"), "Counted."]), runtime: () => jsRuntime() })
  const opened = await agent.session({ archive, recording })
  await opened.send("Count")
  await opened.close()
  return { id: opened.id, directory: opened.directory ?? "" }
}

const ids = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id)
