// The snippet of docs/errors.md, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region catch
import { AgentError } from "karst"
// #endregion
import { type CodeAgent, createAgent, ModelError } from "../../src/index.ts"
import { scriptedModel } from "../../src/models.ts"

async function addUp(agent: CodeAgent): Promise<void> {
  // #region catch
  try {
    await agent.run("Add up the sales")
  } catch (error) {
    if (error instanceof AgentError && error.retryable) console.log("try again later:", error.code)
    else throw error
  }
  // #endregion
}

test("docs/errors.md shows a catch for errors that may be over later; others are thrown on", async (t) => {
  const logged = t.mock.method(console, "log", () => {})
  const limited = new ModelError("Too many requests.", { code: "rate-limited", retryable: true })
  await addUp(createAgent({ model: scriptedModel([limited]) }))
  assert.deepEqual(logged.mock.calls[0]?.arguments, ["try again later:", "rate-limited"])

  const thrown = new ModelError("No such key.", { code: "authentication" })
  await assert.rejects(addUp(createAgent({ model: scriptedModel([thrown]) })), { code: "authentication" })
  // Reaching a limit is a status.
  await addUp(createAgent({ model: scriptedModel(() => "```ts\n1\n```"), limits: { cycles: 1 } }))
  assert.equal(logged.mock.callCount(), 1)
})
