// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { toAtif } from "../../src/sessions/atif.ts"
import { cell } from "./session-fixtures.ts"

describe("the Agent Trajectory Interchange Format", () => {
  test("has a step for each message, and results with the step that asked for them", async () => {
    const usage = { input: 10, output: 5, cacheRead: 4, complete: true }
    const model = scriptedModel([`Let me see.\n${cell("1 + 1")}`, "Two."], { usage, id: "test/model" })
    await using session = await createAgent({ model, name: "adder" }).session()
    await session.send("1 + 1?")
    const atif = toAtif(session.trajectory(), { version: "1.0.0" })
    assert.equal(atif.schema_version, "ATIF-v1.4")
    assert.equal(atif.session_id, session.id)
    assert.deepEqual(atif.agent, { name: "adder", version: "1.0.0", model_name: "test/model" })
    assert.deepEqual(
      atif.steps.map(({ step_id, source }) => [step_id, source]),
      [
        [1, "system"],
        [2, "user"],
        [3, "agent"],
        [4, "agent"],
      ],
    )
    const [, user, work, answer] = atif.steps
    assert.equal(user?.message, "1 + 1?")
    assert.equal(work?.message, "Let me see.")
    const [call] = work?.tool_calls ?? []
    assert.deepEqual(call?.arguments, { language: "ts", code: "1 + 1\n" })
    assert.deepEqual(work?.observation, {
      results: [{ source_call_id: call?.tool_call_id, content: "<output>\n2\n</output>" }],
    })
    assert.deepEqual(answer?.metrics, { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4 })
    assert.equal(answer?.tool_calls, undefined)
    assert.deepEqual(atif.final_metrics, {
      total_prompt_tokens: 20,
      total_completion_tokens: 10,
      total_cached_tokens: 8,
      total_steps: 4,
    })
  })
})
