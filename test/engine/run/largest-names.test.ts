// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, fn, jsRuntime, type Runtime } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { memoryStore } from "karst/stores"
import { requires } from "../../system.ts"

const runtimes: { make(bindings: { pause: unknown }): Runtime; cells: string[]; skip?: string | undefined }[] = [
  ...[jsRuntime, processRuntime].map((make) => ({
    make,
    cells: ['let rows = [1, 2, 3], big = "x".repeat(5000)', "await pause()", "rows.length"],
  })),
  {
    make: pythonRuntime,
    cells: ["rows = [1, 2, 3]\nbig = 'x' * 5000", "pause()", "len(rows)"],
    skip: requires("python"),
  },
]

describe("of objects beyond maxSnapshotBytes", () => {
  for (const { make, cells, skip } of runtimes) {
    test(`${make.name}: only the largest are lost, and the model is told by name and reason`, { skip }, async () => {
      const store = memoryStore()
      const model = scriptedModel(({ messages }: ModelRequest) => {
        const code = cells[messages.filter(({ role }) => role === "assistant").length]
        return code === undefined ? "Done." : `\`\`\`${make === pythonRuntime ? "python" : "ts"}\n${code}\n\`\`\``
      })
      const agent = createAgent({ model, runtime: () => make({ pause: fn(async () => 1, { approve: true }) }) })
      const first = createEngine({ agents: { agent }, store, holdMs: 0, maxSnapshotBytes: 2000 })
      const { id } = await first.submit("agent", "Go")
      const { pending } = await first.result(id)
      await first.close()
      await using second = createEngine({ agents: { agent }, store, holdMs: 0, maxSnapshotBytes: 2000 })
      await second.approve(id, pending?.id ?? "", "allow")
      assert.equal((await second.result(id)).status, "done")
      const said = JSON.stringify(model.requests.at(-1)?.messages)
      assert.match(said, /- big: too large: of 5\d\d\d bytes, and a snapshot may have 2000/)
      assert.match(said, /<output>\\n3\\n<\/output>/)
    })
  }
})
