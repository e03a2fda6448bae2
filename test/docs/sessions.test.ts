// The programs of docs/sessions.md, each run as it is shown there. The one with a coding CLI is in
// sessions-with-cli.test.ts.
import assert from "node:assert/strict"
import { readFile, writeFile } from "node:fs/promises"
import { describe, test } from "node:test"
// #region intro
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
// #endregion
// #region list
import { deleteSession, listSessions, loadSession, toAtif } from "karst/sessions"
// #endregion
import { messageText } from "../../src/core/message.ts"
import { askTool } from "../../src/tools/finish-and-ask.ts"
import { workIn } from "./surroundings.ts"

const cellOf = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("a session", () => {
  test("continues with its conversation and its objects from a handle", async (t) => {
    await workIn(t)
    const log = t.mock.method(console, "log", () => {})
    // #region intro
    const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
    const findBest = cell("const best = sales.indexOf(Math.max(...sales))")
    const model = scriptedModel([findBest, "May.", cell("sales[best]"), "It was 9."])
    // a factory, so that objects can be restored
    const agent = createAgent({ model, runtime: () => jsRuntime({ sales: [3, 1, 4, 1, 9] }) })

    const session = await agent.session({ archive: ".karst" }) // a folder, or any store
    console.log((await session.send("Which month was best?")).output)
    const { handle } = session // a string: store it where you like
    await session.close()

    await using resumed = await agent.session({ resume: handle }) // also tomorrow, in another process
    console.log((await resumed.send("What did it sell?")).output) // `best` and the conversation are still there
    // #endregion
    assert.equal(typeof handle, "string")
    assert.deepEqual(
      log.mock.calls.map(({ arguments: [text] }) => text),
      ["May.", "It was 9."],
    )
    const [last] = model.requests.slice(-1)
    assert.match(JSON.stringify(last?.messages), /Which month was best\?.*What did it sell\?.*<output>\\n9\\n/)
  })

  test("forks from before a cell, without what the cell did", async () => {
    const model = scriptedModel([cellOf("const orders = [1, 2, 3]"), "Loaded.", "There are none yet."])
    const agent = createAgent({ model, runtime: () => jsRuntime({}) })
    // #region undo
    await using session = await agent.session({ keepSnapshots: 10 })
    await session.send("Load the orders")
    const lastCell = session.messages().findLast(({ parts }) => parts.some(({ type }) => type === "code"))
    const earlier = await session.fork?.({ before: lastCell?.id })
    // #endregion
    assert.ok(earlier)
    await earlier.send("Which orders are there?")
    const seen = model.requests.at(-1)?.messages.map(messageText).join("\n") ?? ""
    assert.doesNotMatch(seen, /Load the orders|const orders/)
    await assert.rejects(async () => await earlier.runtime?.retrieve("orders"), /orders/)
    assert.deepEqual(await session.runtime?.retrieve("orders"), [1, 2, 3])
    await earlier.close()
  })

  test("has an id of its own: the same line creates and resumes it", async (t) => {
    await workIn(t)
    const agent = createAgent({ model: scriptedModel(({ messages }) => `message ${messages.length}`) })
    const outputs: string[] = []
    for (const prompt of ["Hi", "And now?"]) {
      // #region id
      // the same line creates and resumes it
      await using session = await agent.session({ id: "user-42", archive: ".karst" })
      // #endregion
      outputs.push((await session.send(prompt)).output)
    }
    assert.deepEqual(outputs, ["message 1", "message 3"])
  })

  test("holds queued runs back while a question is open, and takes the next send as the answer", async () => {
    const question = { type: "tool-call", id: "1", name: "ask", input: { question: "Which colour?" } } as const
    const agent = createAgent({ model: scriptedModel([[question], "Painted.", "Clean."]), tools: [askTool()] })
    await using session = await agent.session()
    // #region queue
    const painting = session.send("Paint the door")
    const cleaning = session.followUp("Then clean up")
    if ((await painting.settled).status === "waiting") {
      await session.send("blue") // answers the question
      session.continueQueue() // now "Then clean up" may start
    }
    // #endregion
    assert.equal((await cleaning).output, "Clean.")
    const said = session.messages().filter(({ role }) => role !== "result")
    assert.match(said.map(messageText).join(" | "), /Paint the door.*blue.*Painted\..*Then clean up.*Clean\./s)
  })

  test("is listed, loaded from four places, converted and deleted", async (t) => {
    await workIn(t)
    const agent = createAgent({ name: "analyst", model: scriptedModel(["May."]) })
    const session = await agent.session({ archive: ".karst" })
    await session.send("Which month had the best sales?")
    const { id, handle, directory = "" } = session
    await session.close()
    const turns = [{ input: "What is it?", output: [{ type: "text", text: "It is 42." }], usage: {}, duration_ms: 9 }]
    const fields = { agent: "claude_code", model: "opus", session_id: "0b1c", created_at: "2026-03-01T10:00:00+00:00" }
    await writeFile("trajectory.json", JSON.stringify({ ...fields, turns }))
    // #region list
    await listSessions(".karst") // newest first: id, title, agent, times, runs, status, metadata, usageLimited
    const found = await listSessions(".karst", { search: "sales", agent: "analyst" })
    // or a handle, a session's folder, a file that save() wrote; send throws
    const old = await loadSession(".karst", id)
    const fromCaw = await loadSession("trajectory.json") // a trajectory of caw: turns are runs, sub-agents are child runs
    old.trajectory() // runs, messages, usage, events; completedAt, usageLimited
    await old.save("session.json")
    JSON.stringify(toAtif(old.trajectory())) // Agent Trajectory Interchange Format 1.4
    // #endregion
    const { runs, messages, events, completedAt } = old.trajectory()
    assert.deepEqual([found[0]?.id, found.length, found[0]?.runs, found[0]?.status], [id, 1, 1, "done"])
    assert.deepEqual(await listSessions(".karst", { search: "weather" }), [])
    assert.deepEqual([runs.length, messages.length, events.length > 0, completedAt !== undefined], [1, 2, true, true])
    for (const same of [handle, directory, "session.json"])
      assert.deepEqual((await loadSession(same)).messages(), old.messages())
    assert.throws(() => old.send("More"), /was loaded to be read/)
    assert.deepEqual(fromCaw.messages().map(messageText), ["What is it?", "It is 42."])
    assert.match(await readFile("session.json", "utf8"), /best sales/)
    assert.match(JSON.stringify(toAtif(old.trajectory())), /"schema_version":"ATIF-v1\.4"/)
    // #region list
    await deleteSession(".karst", id) // deletes all data of the session
    // #endregion
    assert.deepEqual(await listSessions(".karst"), [])
  })
})
