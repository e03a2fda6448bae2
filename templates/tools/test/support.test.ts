// The first test replays a stored session: no model is asked and no tool is called. It fails if anything comes out
// differently than it was recorded. The second one runs the real tools with a scripted model.
import assert from "node:assert/strict"
import { test } from "node:test"
import { scriptedModel } from "karst/models"
import { assertReplays } from "karst/testing"
import { orders, support } from "../src/support.ts"

test("the agent looks an order up and answers", () => assertReplays(support, "test/recordings/order-7"))

test("a refund that nobody approves is not paid", async () => {
  const model = scriptedModel([
    [{ type: "tool-call", id: "1", name: "refund_order", input: { id: 7 } }],
    "It was not approved.",
  ])
  const result = await support.with({ model, approver: () => "deny" }).run("Refund order 7")
  assert.equal(result.status, "done")
  assert.equal(orders.get(7)?.status, "paid")
})
