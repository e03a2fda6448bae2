// test lane: durable
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type Agent, createAgent, tool } from "karst"
import { scriptedModel } from "karst/models"
import { claude, fallback } from "karst/providers"
import { listSessions } from "karst/sessions"
import { memoryStore } from "karst/stores"
import * as z from "zod"
import { fakeCliMachine, waitUntil } from "../providers/cli-machines.ts"
import { freshFolder } from "./session-fixtures.ts"

/** A session as a process leaves it that is killed now is what the archive has of it now. */
describe("a session that is killed during its first run", () => {
  for (const kind of ["agent", "CLI", "fallback"] as const) {
    test(`is listed with its title and metadata: ${kind}`, async () => {
      await using folder = await freshFolder()
      await using place = await fakeCliMachine()
      const gate = Promise.withResolvers<string>()
      let isWorking = false
      const wait = () => {
        isWorking = true
        return gate.promise
      }
      const gated = tool({ name: "gate", description: "", input: z.object({ prompt: z.string() }), run: wait })
      const cli = claude({ ...place.options, tools: [gated] })
      const agents: Record<typeof kind, Agent> = {
        agent: createAgent({ model: scriptedModel([wait]) }),
        CLI: cli,
        fallback: fallback(cli),
      }
      const archive = { archive: folder.path, metadata: { ticket: 7 } }
      await using session = await agents[kind].session(archive)
      const prompt = "ask gate now say done"
      const run = session.send(prompt)
      await waitUntil("the run is under way", () => isWorking)
      await waitUntil("the run is saved", async () => (await listSessions(folder.path))[0]?.title !== "")
      const [info] = await listSessions(folder.path)
      assert.deepEqual([info?.title, info?.metadata, info?.runs], [prompt, { ticket: 7 }, 0])
      const stored = JSON.parse(await readFile(join(session.directory ?? "", "session.json"), "utf8"))
      assert.equal(stored.value.title, prompt)
      assert.match(await readFile(join(session.directory ?? "", "events.jsonl"), "utf8"), /"run-start"/)
      gate.resolve("open")
      await run
    })
  }

  test("is listed with the title of its first run while a second is under way", async () => {
    const store = memoryStore()
    const gate = Promise.withResolvers<string>()
    const model = scriptedModel(["one", () => gate.promise])
    await using session = await createAgent({ model }).session({ archive: store })
    await session.send("First", { metadata: { a: 1 } })
    const second = session.send("Second", { metadata: { b: 2 } })
    await waitUntil("the second run is under way", () => model.requests.length === 2)
    const [info] = await listSessions(store)
    assert.deepEqual([info?.title, info?.metadata, info?.runs], ["First", { a: 1, b: 2 }, 1])
    gate.resolve("two")
    await second
  })
})
