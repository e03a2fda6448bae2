// test lane: durable
import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type AgentEvent, createAgent, jsRuntime, messageText } from "karst"
import { scriptedModel } from "karst/models"
import { cell, freshFolder } from "./session-fixtures.ts"

class Charts extends Array<string> {}

const runtime = () => jsRuntime({ charts: new Charts() })

const warningsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "warning-raised" && event.code === "state-lost" ? [event.names] : []))

describe("an injected object that cells of a session used", () => {
  test("is named once to the model and the host when the session is resumed with a new one", async () => {
    await using folder = await freshFolder()
    const model = scriptedModel([cell("charts.push('a')"), "Added.", "I see.", "Hello.", "Hello again."])
    const first = await createAgent({ model, runtime }).session({ archive: folder.path })
    await first.send("Add a chart.")
    const { handle } = first
    await first.close()

    const second = await createAgent({ model, runtime }).session({ resume: handle })
    await second.send("Go on.")
    await second.send("Hello.")
    const told = second.messages().map(messageText)
    assert.equal(told.filter((text) => text.startsWith("The object charts was created anew")).length, 1)
    assert.deepEqual(warningsIn(second.trajectory().events), [["charts"]])
    await second.close()

    await using third = await createAgent({ model, runtime }).session({ resume: handle })
    await third.send("Hello again.")
    assert.deepEqual(warningsIn(third.trajectory().events), [["charts"]], "it was not used since")
  })

  test("is named when the session's process was killed before its run ended, and once", async () => {
    await using folder = await freshFolder()
    const child = fork(join(import.meta.dirname, "../fixtures/sessions/killed.ts"), [folder.path], {
      execArgv: ["--conditions=karst-source"],
    })
    const exit = once(child, "exit")
    const [handle] = await once(child, "message")
    assert.equal((await exit)[1], "SIGKILL")
    const model = scriptedModel(["I see.", "Hello."])
    const first = await createAgent({ model, runtime }).session({ resume: handle })
    await first.send("Go on.")
    assert.deepEqual(warningsIn(first.trajectory().events), [["charts"]])
    assert.match(JSON.stringify(model.requests[0]?.messages), /The object charts was created anew/)
    await first.close()
    await using second = await createAgent({ model, runtime }).session({ resume: handle })
    await second.send("Hello.")
    assert.deepEqual(warningsIn(second.trajectory().events), [["charts"]])
  })

  test("is the same object in a fork, and is named when the fork is resumed with a new one", async () => {
    await using folder = await freshFolder()
    const model = scriptedModel([cell("charts.push('a')"), "Added.", cell("charts.length"), "One.", "I see."])
    await using session = await createAgent({ model, runtime }).session({ archive: folder.path })
    await session.send("Add a chart.")
    const forked = (await session.fork?.()) ?? assert.fail()
    await forked.send("How many?")
    assert.match(JSON.stringify(forked.messages().at(-2)), /<output>\\n1\\n/)
    assert.deepEqual(warningsIn(forked.trajectory().events), [])
    const { handle } = forked
    await forked.close()
    await using resumed = await createAgent({ model, runtime }).session({ resume: handle })
    await resumed.send("Go on.")
    assert.deepEqual(warningsIn(resumed.trajectory().events), [["charts"]])
  })
})
