// The snippet of docs/tool-results.md, run as it is shown there.

// #region failure
import { toolFailure } from "karst"
// #endregion

import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, messageText, tool } from "karst"
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { call } from "../tools/delegate-case.ts"

test("docs/tool-results.md shows a tool whose result is JSON, or a failure with a code of its own", async () => {
  const orders = { find: async (id: number) => (id === 7 ? { item: "lamp" } : undefined) }
  const lookUp = tool({
    name: "look_up",
    description: "Finds an order.",
    input: z.object({ id: z.int() }),
    // #region failure
    run: async ({ id }) => (await orders.find(id)) ?? toolFailure("no-such-order", `There is no order ${id}.`),
    // #endregion
  })
  const model = scriptedModel([call("look_up", { id: 7 }), call("look_up", { id: 8 }), "A lamp."])
  const { trajectory } = await createAgent({ model, tools: [lookUp] }).run("What was in orders 7 and 8?")
  const ends = trajectory.events.filter((event) => event.type === "tool-end")
  assert.deepEqual(
    ends.map(({ ok, text, error }) => ({ ok, text, code: error?.code })),
    [
      { ok: true, text: '{"item":"lamp"}', code: undefined },
      { ok: false, text: "Error (no-such-order): There is no order 8.", code: "no-such-order" },
    ],
  )
  const seen = model.requests.at(-1)?.messages.map(messageText).join("\n") ?? ""
  assert.match(seen, /\{"item":"lamp"\}[\s\S]*There is no order 8\./)
})
