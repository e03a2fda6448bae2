import assert from "node:assert/strict"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConfigError, ConflictError, createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { listSessions, loadSession } from "karst/sessions"
import { memoryStore } from "karst/stores"
import { parseSessionHandle, sessionHandle } from "../../src/sessions/session-handle.ts"
import { cell, freshFolder } from "./session-fixtures.ts"

const answering = () => createAgent({ model: scriptedModel(() => "Hello.") })

describe("a session with an id of the caller", () => {
  test("is created at first, and resumed later with its conversation and objects", async () => {
    await using folder = await freshFolder()
    const model = scriptedModel([cell("const best = 4"), "Four.", cell("best"), "Four, as I said."])
    const agent = createAgent({ model, runtime: () => jsRuntime({}) })
    for (const [round, prompt] of ["Which?", "Which was it?"].entries()) {
      await using session = await agent.session({ id: "user-42", archive: folder.path })
      assert.equal(session.id, "user-42")
      assert.equal(session.messages().length > 0, round > 0)
      const { status, messages } = await session.send(prompt)
      assert.equal(status, "done")
      if (round > 0) assert.match(JSON.stringify(messages), /<output>\\n4/)
    }
    assert.deepEqual(
      (await listSessions(folder.path)).map(({ id, runs }) => ({ id, runs })),
      [{ id: "user-42", runs: 2 }],
    )
  })

  test("is found in a store as well, and by its id with loadSession and resume", async () => {
    const archive = memoryStore()
    const agent = answering()
    await using session = await agent.session({ id: "user-42", archive })
    await session.send("Hi")
    await session.close()
    assert.equal((await loadSession(archive, "user-42")).trajectory().runs.length, 1)
    await using again = await agent.session({ resume: "user-42", archive })
    assert.equal(again.messages().length, 2)
  })

  for (const id of ["../../etc", "..", ".", "a/b", "a\\b", "", "  ", "a\u0000b", "x".repeat(501), "\ud800"]) {
    test(`cannot be ${JSON.stringify(id.slice(0, 12))}`, async () => {
      await using folder = await freshFolder()
      await assert.rejects(
        answering().session({ id, archive: folder.path }),
        (error) => error instanceof ConfigError && /The id of a session .* cannot be used/.test(error.message),
      )
      assert.deepEqual(await readdir(folder.path), [])
    })
  }

  test("may be a mail address, have spaces, capitals or other scripts, and each is its own session", async () => {
    await using folder = await freshFolder()
    const ids = ["a@b.example", "A@b.example", "%40", "@", "user 42", "用户".repeat(80), "con", "a.b", "a%2e", "karst"]
    const agent = answering()
    for (const id of ids) {
      await using session = await agent.session({ id, archive: folder.path })
      await session.send(`I am ${id}`)
      await using resumed = await (async () => {
        await session.close()
        return agent.session({ resume: session.handle })
      })()
      assert.equal(resumed.id, id)
      assert.match(JSON.stringify(resumed.messages()), new RegExp(`I am ${id.slice(0, 2)}`))
    }
    assert.deepEqual((await listSessions(folder.path)).map(({ id }) => id).sort(), ids.sort())
    assert.equal((await readdir(join(folder.path, "sessions"))).length, ids.length)
  })

  test("cannot be a handle, and needs an archive and no resume", async () => {
    const agent = answering()
    const archive = memoryStore()
    await assert.rejects(agent.session({ id: "karst:1:s_1", archive }), /is a handle\. Pass it as `resume`/)
    await assert.rejects(agent.session({ id: "user-42" }), /`id` needs `archive`/)
    await assert.rejects(agent.session({ id: "a", resume: "b", archive }), /`id` and `resume` both name a session/)
  })

  test("of another agent is refused with the cure", async () => {
    const archive = memoryStore()
    await using session = await createAgent({ name: "sales", model: scriptedModel(() => "Hi.") }).session({
      id: "user-42",
      archive,
    })
    await session.send("Hi")
    await assert.rejects(
      createAgent({ name: "support", model: scriptedModel(() => "Hi.") }).session({ id: "user-42", archive }),
      (error) =>
        error instanceof ConfigError &&
        /is one of the agent "sales", and this is "support".*"support-user-42"/.test(error.message),
    )
  })

  test("that is opened twice belongs to the last one, and the first gets a ConflictError", async () => {
    const archive = memoryStore()
    const agent = answering()
    await using first = await agent.session({ id: "user-42", archive })
    await using second = await agent.session({ id: "user-42", archive })
    await second.send("Second")
    const { status, error } = await first.send("First").settled
    assert.deepEqual([status, error?.name], ["failed", "ConflictError"])
    await using third = await agent.session({ id: "user-42", archive })
    await third.send("Third")
    await assert.rejects(async () => await second.send("Late"), ConflictError)
  })

  test("cannot be opened while a run of it is under way", async () => {
    const archive = memoryStore()
    const gate = Promise.withResolvers<void>()
    const agent = createAgent({
      model: scriptedModel([cell("await slow()"), "Done."]),
      runtime: () => jsRuntime({ slow: () => gate.promise }),
    })
    await using session = await agent.session({ id: "user-42", archive })
    const run = session.send("Go")
    for await (const event of run) if (event.type === "call-start") break
    await assert.rejects(
      agent.session({ id: "user-42", archive }),
      (error) => error instanceof ConflictError && /is at work in process/.test(error.message),
    )
    gate.resolve()
    await run
  })

  test("has a handle that leads to it, whatever its characters", () => {
    for (const id of ["a@b", "%40", "%", "@@", "x%2540@"]) {
      assert.deepEqual(parseSessionHandle(sessionHandle(id, "/archive@home")), { id, folder: "/archive@home" })
      assert.equal(parseSessionHandle(sessionHandle(id)).id, id)
    }
  })
})
