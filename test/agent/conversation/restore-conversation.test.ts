import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { resolveConfig } from "../../../src/agent/agent-config.ts"
import { lostObjectsText } from "../../../src/agent/conversation/lost-objects.ts"
import { headOf, restoreConversation } from "../../../src/agent/conversation/restore-conversation.ts"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { Runtime } from "../../../src/runtime/runtime.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
const model = scriptedModel([])

describe("a conversation that is brought back", () => {
  test("has the messages its events tell, and the objects of its snapshot", async () => {
    const runtime = jsRuntime()
    const { trajectory, messages } = await worked(runtime, "const rows = [1, 2]; const twice = (n: number) => n * 2")
    const snapshot = await runtime.snapshot()
    const restored = await restoreConversation({ events: trajectory.events, snapshot }, resolveConfig({ model }))
    assert.deepEqual(restored.messages, messages)
    assert.equal(restored.system, trajectory.system)
    assert.deepEqual(restored.lost, [])
    assert.deepEqual(await restored.runtime.retrieve("rows"), [1, 2])
    assert.equal(restored.ownsRuntime, true)
    assert.ok(restored.announcedNames.has("rows"))
    await restored.runtime.close()
  })

  test("names what is not there any more, and why", async () => {
    const { trajectory } = await worked(jsRuntime(), "const rows = [1, 2]; let gone = 1")
    const restored = await restoreConversation({ events: trajectory.events }, resolveConfig({ model }))
    assert.deepEqual(restored.lost, [
      { name: "rows", reason: "nothing of the runtime was kept" },
      { name: "gone", reason: "nothing of the runtime was kept" },
    ])
    assert.match(lostObjectsText(restored.lost), /- rows: nothing of the runtime was kept/)
    await restored.runtime.close()
  })

  test("goes on without its objects where the snapshot cannot be used", async () => {
    const runtime = jsRuntime()
    const { trajectory } = await worked(runtime, "const rows = [1, 2]")
    const snapshot = { ...(await runtime.snapshot()), hash: "another" }
    const restored = await restoreConversation({ events: trajectory.events, snapshot }, resolveConfig({ model }))
    assert.match(restored.lost[0]?.reason ?? "", /what was kept of the runtime cannot be used: /)
    await restored.runtime.close()
  })

  test("has what is not in its events from its head, which is plain JSON", async () => {
    const config = resolveConfig({ model })
    const first = await restoreConversation({ events: [] }, config)
    first.approved.push("wipe")
    first.steered.push("hurry")
    first.state.set("todos", ["a"])
    await first.artifacts.keep("_output", "text")
    first.announcedNames.add("df")
    first.memory = { failures: 1, skips: 2 }
    const head = JSON.parse(JSON.stringify(headOf(first)))
    const second = await restoreConversation({ events: [], head }, config)
    assert.deepEqual(headOf(second), headOf(first))
    await Promise.all([first.runtime.close(), second.runtime.close()])
  })

  test("keeps the prompt that was frozen, not one that a single run had", async () => {
    const session = await createAgent({ model: scriptedModel(["a", "b", "c"]) }).session()
    await session.send("x")
    await session.send("y", { instructions: "Answer in verse." })
    const { events } = await session.close()
    const restored = await restoreConversation({ events }, resolveConfig({ model }))
    assert.doesNotMatch(restored.system ?? "", /verse/)
    await restored.runtime.close()
  })

  test("closes the runtime it made when it cannot be brought back", async () => {
    let closed = 0
    const broken = (): Runtime => {
      const runtime = jsRuntime()
      const close = async () => {
        closed++
        await runtime.close()
      }
      return { ...runtime, close, names: () => Promise.reject(new Error("gone")) }
    }
    await assert.rejects(restoreConversation({ events: [] }, resolveConfig({ model, runtime: broken })), /gone/)
    assert.equal(closed, 1)
  })
})

async function worked(runtime: Runtime, code: string) {
  return await createAgent({ model: scriptedModel([cell(code), "ok"]), runtime }).run("Work")
}
