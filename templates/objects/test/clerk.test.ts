// Replays a stored session: no model is asked and no function is called, but the model's code runs again. The test fails
// if anything comes out differently than it was recorded.
import { test } from "node:test"
import { assertReplays } from "karst/testing"
import { clerk } from "../src/clerk.ts"

test("the clerk reminds the customers of overdue orders, and nobody else", () =>
  assertReplays(clerk, "test/recordings/overdue"))
