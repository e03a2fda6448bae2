// test lane: durable
import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, messageText } from "karst"
import { type ModelRequest, scriptedModel } from "karst/models"
import { cell, freshFolder } from "./session-fixtures.ts"

const program = join(import.meta.dirname, "../fixtures/sessions/killed.ts")

/** The handle of a session whose process was killed in the middle of a call. */
async function killedSession(folder: string, recording = "on"): Promise<string> {
  const child = fork(program, [folder, recording], { execArgv: ["--conditions=karst-source"] })
  const exit = once(child, "exit")
  const [handle] = await once(child, "message")
  const [, signal] = await exit
  assert.equal(signal, "SIGKILL")
  return handle
}

const noticesIn = ({ messages }: ModelRequest) =>
  messages.map(messageText).filter((text) => text.startsWith("The last run was interrupted"))

describe("a session whose process was killed in the middle of a run", () => {
  test("tells the model with the next prompt, once, which calls were started and which outcome is unknown", async () => {
    await using folder = await freshFolder()
    const handle = await killedSession(folder.path)
    const model = scriptedModel(["I see.", "Done."])
    const first = await createAgent({ model }).session({ resume: handle })
    await first.send("Go on.")
    await first.close()
    const [notice = "", ...more] = noticesIn(model.requests[0] ?? assert.fail())
    assert.equal(more.length, 0)
    assert.match(notice, /- pay\(100\): outcome unknown/)
    assert.match(notice, /- lookUp\(3\): finished, its result is not kept/)
    assert.match(notice, /- lookUp\(4\): finished/)
    assert.doesNotMatch(notice, /lookUp\([12]\)/, "the cycles before are in the conversation")
    assert.deepEqual(
      model.requests[0]?.messages.slice(-2).map((message) => messageText(message).slice(0, 6)),
      ["The la", "Go on."],
    )
    await using second = await createAgent({ model }).session({ resume: handle })
    await second.send("Anything else?")
    assert.deepEqual(noticesIn(model.requests[1] ?? assert.fail()), [notice], "it is part of the conversation, once")
  })

  test("tells it also when the session was opened and closed without a run in between", async () => {
    await using folder = await freshFolder()
    const handle = await killedSession(folder.path)
    const model = scriptedModel(["I see."])
    await (await createAgent({ model }).session({ resume: handle })).close()
    await using session = await createAgent({ model }).session({ resume: handle })
    await session.send("Go on.")
    assert.match(noticesIn(model.requests[0] ?? assert.fail())[0] ?? "", /- pay\(100\): outcome unknown/)
  })

  test("says that calls are not recorded where the session has no recording", async () => {
    await using folder = await freshFolder()
    const handle = await killedSession(folder.path, "off")
    const model = scriptedModel(["I see."])
    await using session = await createAgent({ model }).session({ resume: handle })
    await session.send("Go on.")
    assert.match(noticesIn(model.requests[0] ?? assert.fail())[0] ?? "", /Which calls it had started is not recorded/)
  })
})

test("a session that was closed in order, also after a failed run, is resumed without a notice", async () => {
  await using folder = await freshFolder()
  const model = scriptedModel([cell("1 + 1"), "Two.", new Error("The model is away."), "Yes."])
  const first = await createAgent({ model }).session({ archive: folder.path })
  await first.send("Add.")
  assert.equal((await first.send("More.").settled).status, "failed")
  const { handle } = first
  await first.close()
  await using second = await createAgent({ model }).session({ resume: handle })
  await second.send("Still there?")
  assert.deepEqual(noticesIn(model.requests.at(-1) ?? assert.fail()), [])
})
