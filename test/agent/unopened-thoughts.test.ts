// Models whose thoughts have an end tag but no opening tag: the code in them is never run.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { cell, collectRun } from "./scripted-agents.ts"

const thought = (code: string, more = "No, that is too much.") => `Maybe this:\n${cell(code)}${more}\n</think>\n\n`

describe("an agent whose model writes only the end of its thoughts", () => {
  test("runs the code after the thought", async () => {
    const rows = [1, 2, 3]
    const model = scriptedModel([`${thought("rows.pop()")}${cell("rows.length")}`, `${thought("rows.pop()")}Three.`])
    const { events, result } = await collectRun(createAgent({ model, runtime: jsRuntime({ rows }) }).run("How many?"))
    assert.equal(rows.length, 3)
    assert.equal(events.filter(({ type }) => type === "code-end").length, 1)
    assert.match(result.output, /<\/think>\s+Three\.$/)
  })

  test("runs no code of a long thought, once the model has shown that it writes thoughts this way", async () => {
    const rows = [1, 2, 3]
    const long = "Let me think about it once more. ".repeat(200)
    const model = scriptedModel([
      `The rows are there.\n</think>\n${cell("rows.length")}`,
      `${thought("rows.pop()", long)}Three.`,
    ])
    await createAgent({ model, runtime: jsRuntime({ rows }) }).run("How many?")
    assert.equal(rows.length, 3)
  })

  test("is asked for an answer if it wrote only a thought", async () => {
    const rows = [1, 2, 3]
    const model = scriptedModel([thought("rows.pop()"), "Three."])
    const { output } = await createAgent({ model, runtime: jsRuntime({ rows }) }).run("How many?")
    assert.deepEqual([rows.length, output, model.requests.length], [3, "Three.", 2])
  })

  test("runs code of a later answer without a thought", async () => {
    const rows = [1, 2, 3]
    const model = scriptedModel([`Count.\n</think>\n${cell("rows.length")}`, cell("rows.pop()"), "Done."])
    await createAgent({ model, runtime: jsRuntime({ rows }) }).run("Count, then remove one.")
    assert.equal(rows.length, 2)
  })
})
