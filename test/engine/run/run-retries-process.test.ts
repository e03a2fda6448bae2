// test lane: durable
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { createAgent } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { memoryStore } from "karst/stores"

const isLinux = process.platform === "linux"

test("a run whose child process is killed while it starts is tried again", {
  skip: !isLinux && "by design",
}, async () => {
  let starts = 0
  const agent = createAgent({
    model: scriptedModel(["```ts\n1 + 1\n```", "Two."]),
    runtime() {
      const runtime = processRuntime({})
      if (++starts === 1) killChildren()
      return runtime
    },
  })
  await using engine = createEngine({ agents: { agent }, store: memoryStore(), retry: { firstDelayMs: 1 } })
  const { id } = await engine.submit("agent", "Add")
  const { status, output, error } = await engine.result(id)
  assert.deepEqual({ status, output, error }, { status: "done", output: "Two.", error: undefined })
  assert.equal(starts, 2)
})

/** Kills the child processes of this one as soon as there are some. */
async function killChildren(): Promise<void> {
  const read = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim()
  while (read() === "") await new Promise((resolve) => setImmediate(resolve))
  for (const child of read().split(" ")) process.kill(Number(child), "SIGKILL")
}
