// Alone in its file: the first snapshot of a process loads the module of snapshots.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

test("the first snapshot of a process does not contain what later cells made, and its first cell can be undone", async () => {
  const model = scriptedModel(["```ts\nlet n = 5\n```", "Set."])
  await using session = await createAgent({ model, runtime: () => jsRuntime() }).session({ keepSnapshots: 1 })
  await session.send("Set n.")
  const answer = session.messages().find(({ role }) => role === "assistant")
  await using earlier = await session.fork?.({ before: answer?.id ?? "" })
  assert.deepEqual(await earlier?.runtime?.names(), [])
})
