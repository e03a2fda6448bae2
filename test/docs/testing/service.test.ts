// The test of a service in docs/testing.md, run as it is shown there.
// #region service
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, fn, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { wipe, wiped } from "./disks.ts"

test("a disk is not wiped if the user refuses", async () => {
  const agent = createAgent({
    model: scriptedModel(["```ts\nawait wipe('disk 1')\n```", "It was not wiped."]),
    runtime: () => jsRuntime({ wipe: fn(wipe, { approve: true }) }),
  })
  await using session = await agent.session({ id: "ada", archive: memoryStore(), approver: "events" })
  const run = session.send("Wipe disk 1")
  for await (const event of run) {
    if (event.type !== "approval-requested") continue
    assert.equal(run.pendingCall(event.id), 'wipe("disk 1")')
    run.approve(event.id, "deny")
  }
  assert.equal((await run).output, "It was not wiped.")
  assert.deepEqual(wiped, [])
})
// #endregion
