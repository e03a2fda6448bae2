import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { createAgent, jsRuntime, tool, variable } from "karst"
import { scriptedModel } from "karst/models"
import { claude } from "karst/providers"
import { withData } from "../../../src/cli/run/agent-data.ts"

describe("the data of --data", () => {
  let folder: string
  let file: string
  const model = scriptedModel(() => "ok")
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "karst-data-"))
    file = join(folder, "sales.csv")
    await writeFile(file, "month,total\nMay,4\n")
  })
  after(() => rm(folder, { recursive: true }))

  test("is the value of a variable that the agent has, or a new variable", async () => {
    const rows = [{ month: "May", total: 4 }]
    const runtimes = [() => jsRuntime(), () => jsRuntime({ sales: variable([]) }), jsRuntime(), undefined]
    for (const runtime of runtimes) {
      const agent = await withData(createAgent({ model, runtime }), [file])
      await using session = await agent.session()
      assert.deepEqual(await session.runtime?.retrieve("sales"), rows)
      assert.match(await agent.describe(), /sales/)
    }
    const cli = await withData(claude({ runtime: () => jsRuntime() }), [file])
    await using session = await cli.session()
    assert.deepEqual(await session.runtime?.retrieve("sales"), rows)
  })

  test("cannot replace a function, and needs a runtime", async () => {
    const agent = await withData(createAgent({ model, runtime: () => jsRuntime({ sales: () => 1 }) }), [file])
    await assert.rejects(agent.session(), /"sales" is a function and cannot become a variable/)
    const lookup = tool({ name: "lookup", description: "Looks something up.", run: () => "found" })
    for (const each of [createAgent({ name: "clerk", model, tools: [lookup] }), claude({ name: "clerk" })])
      await assert.rejects(withData(each, [file]), /--data cannot be used here: the agent clerk has no runtime/)
  })
})
