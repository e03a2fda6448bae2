import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import { type Message, messageText } from "../../src/core/message.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

/** The newest answer that contains a cell. */
function lastCell(messages: readonly Message[]): string {
  const found = messages.findLast(({ parts }) => parts.some((part) => part.type === "code"))
  return found?.id ?? ""
}

function texts(messages: readonly Message[]): string[] {
  return messages.filter(({ role }) => role !== "result").map((message) => messageText(message).trim())
}

for (const { name, runtime } of [
  { name: "jsRuntime", runtime: () => jsRuntime() },
  { name: "processRuntime", runtime: () => processRuntime() },
]) {
  describe(`a fork from before an answer, with ${name}`, () => {
    test("has the objects and messages of that moment, again and again", async () => {
      const model = scriptedModel([
        cell("let total = 1"),
        cell("total = 2\nconst extra = 5"),
        "Two.",
        cell("total = 3"),
        "Three.",
        "Again.",
      ])
      const agent = createAgent({ model, runtime })
      await using session = await agent.session({ keepSnapshots: 10 })
      await session.send("first")
      await session.send("second")
      // The only cell of the second run: its prompt is left out as well.
      await using one = await session.fork?.({ before: lastCell(session.messages()) })
      assert.equal(await one?.runtime?.retrieve("total"), 2)
      assert.deepEqual(texts(one?.messages() ?? []).at(-1), "Two.")
      assert.ok(!texts(one?.messages() ?? []).includes("second"))
      // The second cell of the first run.
      await using two = await one?.fork?.({ before: lastCell(one.messages()) })
      assert.equal(await two?.runtime?.retrieve("total"), 1)
      await assert.rejects(async () => two?.runtime?.retrieve("extra"), ConfigError)
      assert.deepEqual(
        two?.messages().map(({ role }) => role),
        ["user", "assistant", "result"],
      )
      assert.equal(two?.trajectory().runs[0]?.status, "aborted")
      // The original is unchanged, and the fork goes on.
      assert.equal(await session.runtime?.retrieve("total"), 3)
      assert.equal((await two?.send("go on"))?.output, "Again.")
    })
  })
}

describe("a fork from before an answer", () => {
  test("is archived as a session of its own without the dropped part", async (t) => {
    const archive = await mkdtemp(join(tmpdir(), "karst-undo-"))
    t.after(() => rm(archive, { recursive: true, force: true }))
    const model = scriptedModel([cell("let total = 1"), cell("var later = 2"), "Done.", "Resumed."])
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    const session = await agent.session({ archive, keepSnapshots: 3 })
    await session.send("first")
    const fork = await session.fork?.({ before: lastCell(session.messages()) })
    await fork?.close()
    await session.close()
    await using resumed = await agent.session({ archive, resume: fork?.id })
    assert.equal(await resumed.runtime?.retrieve("total"), 1)
    const { output, messages } = await resumed.send("go on")
    assert.equal(output, "Resumed.")
    assert.doesNotMatch(JSON.stringify(messages), /later/)
  })

  test("needs the objects of that moment: keepSnapshots, and an answer that is among the newest", async () => {
    const model = scriptedModel([cell("let a = 1"), cell("a = 2"), cell("a = 3"), "Done."])
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    await using session = await agent.session({ keepSnapshots: 1 })
    await session.send("go")
    const answers = session.messages().filter(({ role }) => role === "assistant")
    await assert.rejects(async () => session.fork?.({ before: answers[0]?.id }), /keepSnapshots/)
    await assert.rejects(async () => session.fork?.({ before: "m_unknown" }), /There is no answer "m_unknown"/)
    await using fork = await session.fork?.({ before: answers[2]?.id })
    assert.equal(await fork?.runtime?.retrieve("a"), 2)
    // An answer without a cell has the objects of now.
    await using last = await session.fork?.({ before: answers[3]?.id })
    assert.equal(await last?.runtime?.retrieve("a"), 3)
  })
})

test("a fork from before an answer leaves injected data of the program and of the session as it is", async () => {
  const rows = [1]
  const model = scriptedModel([cell("rows.push(2)"), cell("rows.push(3)"), "Done."])
  const agent = createAgent({ model, runtime: () => jsRuntime({ rows }) })
  await using session = await agent.session({ keepSnapshots: 10 })
  await session.send("Add numbers.")
  await using fork = await session.fork?.({ before: lastCell(session.messages()) })
  assert.deepEqual(await fork?.runtime?.retrieve("rows"), [1, 2])
  assert.deepEqual(await session.runtime?.retrieve("rows"), [1, 2, 3])
  assert.deepEqual(rows, [1, 2, 3])
})
