// The programs about recordings in docs/testing.md, each run as it is shown there. The others are in test/docs/testing.
import assert from "node:assert/strict"
import { cp, readFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
// #region record
import { recordModel, replayModel, resolveModel } from "karst/models"
// #endregion
// #region replay
import { assertReplays } from "karst/testing"
// #endregion
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { cell } from "../agent/scripted-agents.ts"
import { modelServer } from "../fixtures/model-server.ts"
import { workIn } from "./surroundings.ts"
import { Light } from "./testing/light.ts"

const page = await readFile(new URL("../../docs/testing.md", import.meta.url), "utf8")

test("a model is recorded once, replayed without a key, and a changed prompt is shown", async (t) => {
  await workIn(t)
  await using server = await modelServer({ text: [cell("light.dim(20)")] }, { text: ["Dimmed."] })
  const env = { ...process.env }
  t.after(() => Object.assign(process.env, env))
  Object.assign(process.env, { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${server.url}/v1`, RECORD: "1" })

  async function createModel() {
    // #region record
    const model = process.env.RECORD
      ? recordModel(await resolveModel("openai/gpt-5.2"), "fixture.jsonl")
      : replayModel("fixture.jsonl", { strict: true })
    // #endregion
    return model
  }
  const dim = async (name: string) => {
    const light = new Light()
    const agent = createAgent({ model: await createModel(), runtime: jsRuntime({ [name]: light }), now: () => 0 })
    const { output, error } = await agent.run("Dim it").settled
    return { output, brightness: light.brightness, error: error?.message }
  }
  const recorded = await dim("light")
  assert.deepEqual(recorded, { output: "Dimmed.", brightness: 20, error: undefined })
  delete process.env.RECORD
  assert.deepEqual(await dim("light"), recorded)
  assert.equal(server.requests.length, 2)
  const { error = "" } = await dim("lamp")
  assert.ok(page.includes(`\n\`\`\`\`\n${error}\n\`\`\`\`\n`), error)
})

test("an archived session is a test in one line, and a difference fails it", async (t) => {
  await workIn(t)
  let calls = 0
  const openTasks = () => {
    calls++
    return 3
  }
  const agentWith = (total: (count: number) => number, model = scriptedModel(() => new Error("no model is asked"))) =>
    createAgent({ model, runtime: () => jsRuntime({ openTasks: fn(openTasks), total: fn(total, { sync: true }) }) })
  const steps = [cell("total(await openTasks())"), "There are 3."]
  const session = await agentWith((count) => count, scriptedModel(steps)).session({ archive: ".karst" })
  await session.send("How many tasks are open?")
  await session.close()
  for (const file of ["events.jsonl", "recording.jsonl"])
    await cp(join(session.directory ?? "", file), join("test/fixtures/tuesday", file))

  const agent = agentWith((count) => count)
  const test = t.test.bind(t)
  // #region replay
  test("it still does what it did on Tuesday", () => assertReplays(agent, "test/fixtures/tuesday"))
  // #endregion
  await test("and fails with the difference that the page shows", async () => {
    const broken = agentWith((count) => count - 1)
    const error = await assertReplays(broken, "test/fixtures/tuesday").catch((error: Error) => error)
    assert.ok(error instanceof Error)
    assert.ok(page.includes(`\n\`\`\`\n${error.message}\n\`\`\`\n`), error.message)
    for (const same of [session.directory ?? "", session.handle, { archive: ".karst", id: session.id }])
      await assertReplays(agent, same)
    assert.equal(calls, 1)
  })
})
