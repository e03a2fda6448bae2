// test lane: durable
import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConflictError } from "../../src/core/errors.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { loadSession } from "../../src/sessions/load-session.ts"
import { cell, freshFolder } from "./session-fixtures.ts"

const writer = join(import.meta.dirname, "../fixtures/sessions/writer.ts")

describe("a session of another process", () => {
  test("cannot be opened by its id while that is at work, and continues there once it was killed", async () => {
    await using folder = await freshFolder()
    const child = fork(writer, [folder.path, "user-42"], { execArgv: ["--conditions=karst-source"] })
    await once(child, "message")
    const agent = createAgent({ model: scriptedModel(["Three."]) })
    const open = () => agent.session({ id: "user-42", archive: folder.path })
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof ConflictError)
      assert.match(error.message, new RegExp(`Session user-42 is at work in process ${child.pid}`))
      return true
    })
    child.kill("SIGKILL")
    await once(child, "exit")
    await using session = await open()
    assert.equal((await session.send("How many?")).status, "done")
    assert.equal(session.trajectory().runs.length, 3)
  })

  test("cannot be resumed while that is at work, and can once it was killed, though a line was torn", async () => {
    await using folder = await freshFolder()
    const child = fork(writer, [folder.path], { execArgv: ["--conditions=karst-source"] })
    const [handle] = await once(child, "message")
    const model = scriptedModel([cell("rows.length"), "Three."])
    const agent = createAgent({ model })
    await assert.rejects(agent.session({ resume: handle }), (error) => {
      assert.ok(error instanceof ConflictError)
      assert.match(error.message, new RegExp(`at work in process ${child.pid}`))
      return true
    })
    assert.equal((await loadSession(handle)).trajectory().runs.length, 2, "reading is always allowed")

    child.kill("SIGKILL")
    await once(child, "exit")
    const { directory = "" } = await loadSession(handle)
    await appendFile(join(directory, "events.jsonl"), '{"type":"code-en')

    await using resumed = await agent.session({ resume: handle })
    await resumed.send("How many?")
    const { runs, messages } = resumed.trajectory()
    assert.deepEqual(
      runs.map(({ status }) => status),
      ["done", "failed", "done"],
    )
    assert.match(JSON.stringify(messages), /rows\.push\(4\)/)
    assert.match(JSON.stringify(messages.at(-2)), /<output>\\n3\\n/)
  })
})
