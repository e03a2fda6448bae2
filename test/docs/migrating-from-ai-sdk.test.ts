// The programs of docs/migrating-from-ai-sdk.md that are Karst's, each run as it is shown there.

// #region program
import { createAgent, jsRuntime, tool } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { openai } from "@ai-sdk/openai"
import { tool as aiTool } from "@ai-sdk/provider-utils"
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { modelServices, setVariables } from "./surroundings.ts"

const orders = { find: (id: number) => (id === 7 ? "two lamps" : undefined) }

describe("docs/migrating-from-ai-sdk.md", () => {
  test("shows the same tool in Karst, and the same model with code instead", async (t) => {
    const description = "Finds an order."
    setVariables(t, { OPENAI_API_KEY: "a-key" })
    const { requests } = await modelServices(
      t,
      { toolCalls: [{ id: "call_1", name: "look_up", arguments: '{"id":7}' }], finish: "tool-calls" },
      { text: ["Two lamps."] },
      { text: ["```ts\norders.find(7)\n```"] },
      { text: ["It was two lamps."] },
    )
    // #region program
    // Karst, with the same tool
    const agent = createAgent({
      model: openai("gpt-5.2"),
      tools: [
        tool({ name: "look_up", description, input: z.object({ id: z.int() }), run: ({ id }) => orders.find(id) }),
      ],
      limits: { cycles: 10 },
    })
    const { output, cycles } = await agent.run("What was in order 7?")

    // Karst, with code instead of tools
    const coder = createAgent({ model: openai("gpt-5.2"), runtime: jsRuntime({ orders }) })
    const result = await coder.run("What was in order 7?")
    // #endregion
    assert.deepEqual([output, cycles, result.output], ["Two lamps.", 2, "It was two lamps."])
    assert.match(JSON.stringify(requests[1]?.body), /two lamps/)
    assert.match(JSON.stringify(requests[3]?.body), /two lamps/)
  })

  test("shows an agent of Karst as a tool of the AI SDK", async () => {
    const analyst = createAgent({ model: scriptedModel(["There are 3 open orders."]) })
    const tool = aiTool
    // #region agent-as-tool
    const analyse = tool({
      description: "Analyses the orders.",
      inputSchema: z.object({ question: z.string() }),
      execute: async ({ question }) => (await analyst.run(question)).output,
    })
    // #endregion
    const called = await analyse.execute?.(
      { question: "How many are open?" },
      { toolCallId: "1", messages: [], context: {} },
    )
    assert.equal(called, "There are 3 open orders.")
  })
})
