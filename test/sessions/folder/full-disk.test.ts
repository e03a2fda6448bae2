// test lane: durable
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { AgentError } from "../../../src/core/errors.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { openSessionFolder, type SessionStore } from "../../../src/sessions/folder/session-folder.ts"
import { loadSession } from "../../../src/sessions/load-session.ts"
import type { StoreChange } from "../../../src/stores/store.ts"
import { smallDisk } from "../../stores/small-disk.ts"
import { requires } from "../../system.ts"
import { cell } from "../session-fixtures.ts"

/** A commit with every kind of change, of a few pages each. */
function changesOf(id: string, mark: string, pages: number): StoreChange[] {
  const text = mark.repeat(pages * 4096)
  const key = (part: string) => `sessions/${id}/${part}`
  return [
    { type: "append", log: key("events"), items: [mark, text] },
    { type: "append", log: key("recording"), items: [text] },
    { type: "put", key: key("artifacts/first"), value: text },
    { type: "put", key: key(`artifacts/${mark}`), value: text },
    { type: "put", key: key("snapshot"), value: Buffer.from(text) },
    { type: "put", key: key("calls"), value: text },
    { type: "put", key: key("session"), value: text },
  ]
}

async function contentsOf(store: SessionStore, id: string): Promise<unknown> {
  const value = async (part: string) => (await store.get(`sessions/${id}/${part}`))?.value
  return {
    values: await Promise.all(["session", "calls", "snapshot", "artifacts/first"].map(value)),
    events: await Array.fromAsync(store.read(`sessions/${id}/events`)),
    recording: await Array.fromAsync(store.read(`sessions/${id}/recording`)),
    artifacts: await Array.fromAsync(store.keys(`sessions/${id}/artifacts/`)),
    sessions: await Array.fromAsync(store.keys("sessions/")),
  }
}

/** Every file below a folder, with its size and a digest. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => {
      const bytes = readFileSync(join(folder, name))
      return `${name} ${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`
    })
}

function hasNoRoom(error: unknown, folder: string): boolean {
  assert.ok(error instanceof AgentError)
  assert.equal(error.code, "no-space", error.message)
  assert.equal(
    error.message,
    `The archive "${folder}" has no room left, so the commit was not made. Make room, then try again.`,
  )
  return true
}

describe("an archive on a full disk", { skip: requires("small-disk") }, () => {
  let disk: ReturnType<typeof smallDisk>
  before(() => {
    disk = smallDisk(2)
  })
  after(() => disk.remove())

  // With each number of free pages, another write of the commit is the one that fails.
  for (const pages of [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12]) {
    test(`says so with ${pages} free pages, keeps the last commit and its files, and goes on`, async () => {
      const folder = join(disk.folder, `archive-${pages}`)
      const store = openSessionFolder(folder)
      await store.commit(changesOf("s", "a", 1))
      const contents = await contentsOf(store, "s")
      const files = filesOf(folder)
      const free = await disk.fill(pages * 4096)
      await assert.rejects(store.commit(changesOf("s", "b", 2)), (error) => hasNoRoom(error, folder))
      assert.deepEqual(await contentsOf(store, "s"), contents)
      assert.deepEqual(filesOf(folder), files)
      const other = openSessionFolder(folder)
      assert.deepEqual(await contentsOf(other, "s"), contents)
      await free()
      assert.equal(await store.commit(changesOf("s", "b", 2), { key: "sessions/s/session", ifRevision: 1 }), 2)
      const text = "b".repeat(2 * 4096)
      assert.deepEqual(await Array.fromAsync(other.read("sessions/s/events", 2)), ["b", text])
      assert.equal((await other.get("sessions/s/artifacts/first"))?.value, text)
      await store.commit([{ type: "delete", key: "sessions/s/session" }])
      await Promise.all([store.close(), other.close()])
    })
  }

  for (const pages of [0, 1, 2, 3, 4, 6]) {
    test(`is not begun with ${pages} free pages, and begun once there is room`, async () => {
      const folder = join(disk.folder, `new-${pages}`)
      const store = openSessionFolder(folder)
      const free = await disk.fill(pages * 4096)
      await assert.rejects(store.commit(changesOf("s", "a", 4)), (error) => hasNoRoom(error, folder))
      assert.deepEqual(await Array.fromAsync(store.keys("sessions/")), [])
      assert.equal(await store.get("sessions/s/session"), undefined)
      await free()
      assert.equal(await store.commit(changesOf("s", "a", 4)), 1)
      await store.commit([{ type: "delete", key: "sessions/s/session" }])
      await store.close()
    })
  }

  test("fails the run of a session, which is readable as it was before it and can go on", async () => {
    const folder = join(disk.folder, "agents")
    const model = scriptedModel([cell("const kept = 1"), "One.", cell("const big = 'x'.repeat(9000)"), "Two."])
    const runtime = () => jsRuntime({})
    const session = await createAgent({ model, runtime }).session({ archive: folder })
    await session.send("First")
    const before = await loadSession(session.handle)
    const free = await disk.fill()
    await assert.rejects(Promise.resolve(session.send("Second")), (error) => hasNoRoom(error, folder))
    assert.deepEqual((await loadSession(session.handle)).trajectory().events, before.trajectory().events)
    await free()
    await session.close()
    const next = createAgent({ model: scriptedModel([cell("kept + 1"), "Three."]), runtime })
    await using resumed = await next.session({ resume: session.handle })
    assert.equal((await resumed.send("Third")).output, "Three.")
  })
})
