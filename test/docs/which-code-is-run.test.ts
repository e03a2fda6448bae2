// The answer and the cell of docs/which-code-is-run.md, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

const orders = [
  { id: "a7", isOpen: true },
  { id: "a8", isOpen: false },
  { id: "a9", isOpen: true },
]

describe("docs/which-code-is-run.md", () => {
  test("shows an answer whose block is run", async () => {
    const answer = await readFile(join(import.meta.dirname, "which-code-is-run/answer.md"), "utf8")
    const model = scriptedModel([`${answer}\nThere are seventy of them.`, "Two are open."])
    const { trajectory } = await createAgent({ model, runtime: jsRuntime({ orders }) }).run("How many are open?")
    const ends = trajectory.events.filter((event) => event.type === "code-end")
    assert.deepEqual(
      ends.map(({ text }) => text),
      ["<output>\n2\n</output>"],
    )
    assert.ok(!JSON.stringify(model.requests.at(-1)?.messages).includes("seventy"), "what follows the block is dropped")
  })

  test("shows a cell that ends the run with its text", async () => {
    const cell = String.raw`
      // #region finish
      finish(orders.filter((order) => order.isOpen).map(({ id }) => id).join("\n"))
      // #endregion
    `
    const agent = createAgent({ model: scriptedModel([`\`\`\`ts\n${cell}\n\`\`\``]), runtime: jsRuntime({ orders }) })
    const { output, completion } = await agent.run("List the open orders")
    assert.deepEqual({ output, completion }, { output: "a7\na9", completion: { by: "answer" } })
  })
})
