// test lane: durable
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type Bindings, createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { sqliteStore } from "karst/stores"
import { requires } from "../../system.ts"

const runtimes = [
  { name: "jsRuntime", tag: "ts", open: (bindings: Bindings) => jsRuntime(bindings) },
  { name: "processRuntime", tag: "ts", open: (bindings: Bindings) => processRuntime(bindings) },
  {
    name: "pythonRuntime",
    tag: "python",
    skip: requires("python"),
    open: (bindings: Bindings) => pythonRuntime(bindings),
  },
]

describe("finish(text) in a cell of a durable run in SQLite", () => {
  for (const { name, tag, skip, open } of runtimes) {
    test(`${name}: a cell that waits for approval ends the run later, in another engine, once`, { skip }, async () => {
      const folder = mkdtempSync(join(tmpdir(), "karst-finish-"))
      try {
        const sent: string[] = []
        const wait = tag === "ts" ? "await " : ""
        const code = `finish("Sent: " + "x".repeat(3))\n${wait}send("hi")`
        const cell = tag === "ts" ? code : code.replace(`"x".repeat(3)`, `"x" * 3`)
        const model = scriptedModel([`\`\`\`${tag}\n${cell}\n\`\`\``, "As I said."])
        const agent = createAgent({
          model,
          runtime: () => open({ send: fn((text: string) => sent.push(text), { approve: true }) }),
        })
        const path = join(folder, "karst.db")
        const work = async <T>(body: (engine: ReturnType<typeof createEngine>) => Promise<T>): Promise<T> => {
          await using store = sqliteStore(path)
          await using engine = createEngine({ agents: { agent }, store, holdMs: 0 })
          return await body(engine)
        }
        const { id, pending } = await work(async (engine) => {
          const { id } = await engine.submit("agent", "Send it", { session: "s1" })
          return { id, pending: (await engine.result(id)).pending }
        })
        assert.equal(pending?.kind, "approval")
        const result = await work(async (engine) => {
          await engine.approve(id, pending?.id ?? "", "allow")
          return await engine.result(id)
        })
        assert.deepEqual([result.status, result.output, sent], ["done", "Sent: xxx", ["hi"]])
        // A third engine reads the same result, and the next run of the session knows the answer.
        await work(async (engine) => {
          assert.equal((await engine.result(id)).output, "Sent: xxx")
          const next = await engine.submit("agent", "What did you say?", { session: "s1" })
          assert.equal((await engine.result(next.id)).output, "As I said.")
          const answers = (await Array.fromAsync(engine.watch(id))).filter(
            (event) => event.type === "message-end" && event.finish === "cell",
          )
          assert.equal(answers.length, 1)
        })
        const told = model.requests.at(-1)?.messages.map(messageText) ?? []
        assert.equal(told.filter((text) => text === "Sent: xxx").length, 1)
        assert.equal(model.requests.length, 2)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  }
})
