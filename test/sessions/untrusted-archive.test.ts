// test lane: durable
import assert from "node:assert/strict"
import { chmod, chown, cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { AgentError, ConfigError, createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { listSessions, loadSession } from "karst/sessions"
import { assertReplays } from "karst/testing"
import { requireSafeKey } from "../../src/providers/cli-session-metadata.ts"
import { refuseForeignCwd } from "../../src/sessions/handle-trust.ts"
import { cliSessionHandle, sessionHandle } from "../../src/sessions/session-handle.ts"
import { cell, freshFolder } from "./session-fixtures.ts"

let wiped = 0
const wiper = (...answers: string[]) =>
  createAgent({
    model: scriptedModel(answers),
    runtime: () => jsRuntime({ wipe: fn(() => ++wiped, { approve: true }) }),
  })

type Stored = Record<string, unknown> & { head: Record<string, unknown>; writer: Record<string, unknown> }

const allowsWipe = (record: Stored) => {
  record.head.approved = ["wipe"]
}

/** A session that is archived in a folder, whose stored record is then changed. */
async function kept(folder: string, change: (record: Stored) => unknown = () => undefined) {
  await using session = await wiper("Hello.").session({ archive: folder })
  await session.send("Hi")
  await session.close()
  const path = join(folder, "sessions", session.id, "session.json")
  const stored = JSON.parse(await readFile(path, "utf8"))
  change(stored.value ?? stored)
  await writeFile(path, JSON.stringify(stored))
  return { id: session.id, handle: session.handle, path }
}

describe("what was always allowed, in an archive", () => {
  test("counts when the caller names the archive", async () => {
    await using folder = await freshFolder()
    const { id } = await kept(folder.path, allowsWipe)
    wiped = 0
    await using session = await wiper(cell("await wipe()"), "Done.").session({ resume: id, archive: folder.path })
    await session.send("Wipe")
    assert.equal(wiped, 1)
  })

  test("does not count when only the handle names it, and the owner is told so", async () => {
    await using folder = await freshFolder()
    const { handle } = await kept(folder.path, allowsWipe)
    wiped = 0
    await using session = await wiper(cell("await wipe()"), "Done.").session({ resume: handle })
    const { trajectory } = await session.send("Wipe")
    assert.equal(wiped, 0)
    const warning = trajectory.events.find((event) => event.type === "warning-raised" && event.code === "archive")
    assert.match(warning?.type === "warning-raised" ? warning.message : "", /"wipe".*Give the archive/)
  })

  test("does not count later either, once it was left out", async () => {
    await using folder = await freshFolder()
    const { handle, id } = await kept(folder.path, allowsWipe)
    wiped = 0
    await using first = await wiper("Hello again.").session({ resume: handle })
    await first.send("Hi")
    await first.close()
    await using second = await wiper(cell("await wipe()"), "Done.").session({ resume: id, archive: folder.path })
    await second.send("Wipe")
    assert.equal(wiped, 0)
  })
})

describe("a folder that only a handle names is refused", () => {
  const own = process.getuid?.() ?? 0
  const changes: [what: string, change: (folder: string, id: string) => Promise<unknown>, says: RegExp][] = [
    ["when its group can write it", (folder) => chmod(folder, 0o770), /can be written by others \(mode 770\)/],
    ["when anybody can write it", (folder) => chmod(folder, 0o707), /can be written by others/],
    ["when anybody can write its sessions", (folder) => chmod(join(folder, "sessions"), 0o777), /sessions" *,/],
    [
      "when anybody can write the session",
      (folder, id) => chmod(join(folder, "sessions", id), 0o722),
      /can be written by others/,
    ],
    [
      "when anybody can write its events",
      (folder, id) => chmod(join(folder, "sessions", id, "events.jsonl"), 0o606),
      /events\.jsonl", which is not trusted/,
    ],
    [
      "when anybody can write one of its artifacts",
      async (folder, id) => {
        const path = join(folder, "sessions", id, "artifacts/t1")
        await mkdir(path, { recursive: true })
        await writeFile(join(path, "_output_1.json"), '"text"')
        await chmod(join(path, "_output_1.json"), 0o606)
      },
      /_output_1\.json", which is not trusted/,
    ],
    ["when anybody can write its lock", (folder) => chmod(join(folder, ".lock"), 0o666), /\.lock"/],
    [
      "when the session is a link to another folder",
      async (folder, id) => {
        await cp(join(folder, "sessions", id), join(folder, "copy"), { recursive: true })
        await rm(join(folder, "sessions", id), { recursive: true })
        await symlink(join(folder, "copy"), join(folder, "sessions", id))
      },
      /is a link/,
    ],
  ]
  for (const [what, change, says] of changes) {
    test(what, async () => {
      await using folder = await freshFolder()
      const { handle, id } = await kept(folder.path)
      await change(folder.path, id)
      for (const open of [
        () => wiper("Hi.").session({ resume: handle }),
        () => loadSession(handle),
        () => assertReplays(wiper("Hi."), handle),
      ]) {
        await assert.rejects(open, (error: unknown) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.message, says)
          assert.match(error.message, /\{ resume, archive \}/)
          return true
        })
      }
      await using session = await wiper("Hi.").session({ resume: handle, archive: folder.path })
      assert.equal((await session.send("Hi")).status, "done")
    })
  }

  test("when it belongs to another user", { skip: own !== 0 && "only root can give files away" }, async () => {
    await using folder = await freshFolder()
    const { handle, id } = await kept(folder.path)
    await chown(join(folder.path, "sessions", id, "session.json"), 12345, 12345)
    await assert.rejects(
      () => wiper().session({ resume: handle }),
      /belongs to user 12345, and this process is of user/,
    )
    await chown(folder.path, 12345, 12345)
    await assert.rejects(() => wiper().session({ resume: handle }), /belongs to user 12345/)
    assert.throws(() => refuseForeignCwd(folder.path), /belongs to user 12345.*option cwd/)
  })

  test("when it is no full path", async () => {
    await assert.rejects(() => wiper().session({ resume: sessionHandle("s_1", "relative") }), /is no full path/)
    await assert.rejects(() => loadSession(cliSessionHandle({ id: "s_1", folder: "../up" })), /is no full path/)
  })

  test("when it is not there and anybody could make it", async () => {
    await using folder = await freshFolder()
    await mkdir(join(folder.path, "open"))
    await chmod(join(folder.path, "open"), 0o777)
    const handle = sessionHandle("s_1", join(folder.path, "open/deep/.karst"))
    await assert.rejects(() => wiper().session({ resume: handle }), /open", which is not trusted/)
  })
})

describe("the working folder of a coding CLI that only a handle names is refused", () => {
  test("when anybody can write it, and not when its group can", async () => {
    await using folder = await freshFolder()
    await chmod(folder.path, 0o775)
    refuseForeignCwd(folder.path)
    await chmod(folder.path, 0o777)
    assert.throws(() => refuseForeignCwd(folder.path), /can be written by others.*option cwd/)
  })
  for (const key of ["--dangerously-skip-permissions", "-p", "a b", "a\nb", "*", "../x", "", "{a,b}", "\u0000"]) {
    test(`and the key ${JSON.stringify(key)} as well`, () => {
      assert.throws(() => requireSafeKey(key), /cannot be one of a CLI/)
    })
  }
  test("but not the keys that CLIs have", () => {
    for (const key of ["0199a213-81c0-7800-8aa1-bbab2a035a53", "ses_4f9a", "a:b/c=", undefined]) {
      assert.equal(requireSafeKey(key), key)
    }
  })
})

describe("what an archive holds is checked before it is used", () => {
  const records: [what: string, change: (record: Stored) => unknown][] = [
    ["approvals that are no list", (record) => (record.head.approved = "wipe")],
    ["approvals that are no texts", (record) => (record.head.approved = [{ toString: "wipe" }])],
    ["a memory of another form", (record) => (record.head.memory = { failures: "0" })],
    ["what tools remember as a list", (record) => (record.head.tools = [])],
    ["names that are no texts", (record) => (record.head.told = [1])],
    ["the id of another session", (record) => (record.id = "s_other")],
    ["a writer without a process", (record) => (record.writer = { host: "h", token: "t", until: 0 })],
    ["a writer that is a group of processes", (record) => (record.writer.pid = -1)],
    ["a number of runs that is none", (record) => (record.runs = "many")],
    ["a snapshot without its facts", (record) => (record.snapshot = { version: 1 })],
  ]
  for (const [what, change] of records) {
    test(`a record with ${what} is an error of code "corrupt"`, async () => {
      await using folder = await freshFolder()
      const { id } = await kept(folder.path, change)
      await assert.rejects(
        () => wiper("Hi.").session({ resume: id, archive: folder.path }),
        (error: unknown) => {
          assert.ok(error instanceof AgentError)
          assert.equal(error.code, "corrupt")
          assert.match(error.message, /Restore it from a backup, or delete the session/)
          return true
        },
      )
    })
  }

  const event = { run: "r", seq: 1, at: 1 }
  const events: [what: string, event: unknown][] = [
    ["a number", 5],
    ["null", null],
    ["without a run", { type: "run-start", seq: 1, at: 1 }],
    ["whose messages are no list", { ...event, type: "run-start", agent: "a", metadata: {}, messages: {} }],
    ["whose message has no parts", { ...event, type: "message-end", message: { id: "m", role: "assistant" } }],
    [
      "whose message has another role",
      { ...event, type: "message-end", message: { id: "m", role: "system", parts: [] } },
    ],
    [
      "with a part of an unknown type",
      { ...event, type: "message-end", message: { id: "m", role: "assistant", parts: [{ type: "__proto__" }] } },
    ],
    [
      "with a text that is an object",
      { ...event, type: "message-end", message: { id: "m", role: "user", parts: [{ type: "text", text: {} }] } },
    ],
    ["of a cell without its names", { ...event, type: "code-end", id: "c", ok: true, text: "x", changes: {} }],
    ["of a tool whose text is none", { ...event, type: "tool-end", id: "c", ok: true, name: "x", text: 1 }],
    ["of a skill without messages", { ...event, type: "skill-activated", name: "x" }],
  ]
  for (const [what, added] of events) {
    test(`an event ${what} is an error of code "corrupt" that names it, and hides no other session`, async () => {
      await using folder = await freshFolder()
      const { id, path } = await kept(folder.path)
      const other = await kept(folder.path)
      const log = join(folder.path, "sessions", id, "events.jsonl")
      const text = `${await readFile(log, "utf8")}${JSON.stringify(added)}\n`
      await writeFile(log, text)
      const stored = JSON.parse(await readFile(path, "utf8"))
      await writeFile(path, JSON.stringify({ ...stored, logs: { ...stored.logs, events: Buffer.byteLength(text) } }))
      for (const open of [
        () => loadSession(folder.path, id),
        () => wiper("Hi.").session({ resume: id, archive: folder.path }),
      ]) {
        await assert.rejects(open, (error: unknown) => error instanceof AgentError && error.code === "corrupt")
      }
      const found = await listSessions(folder.path, { search: "hello" })
      assert.ok(found.some((session) => session.id === other.id))
    })
  }

  test("a saved trajectory with another form is refused", async () => {
    await using folder = await freshFolder()
    const path = join(folder.path, "session.json")
    await writeFile(path, JSON.stringify({ version: 1, events: [5], messages: [{ parts: "x" }] }))
    await assert.rejects(() => loadSession(path), /is no trajectory of version 1/)
  })
})
