// test lane: durable, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { killAt } from "./chain.ts"
import { some } from "./choose.ts"
import { kinds } from "./kinds.ts"

// A few points each; `crash-matrix.test.ts` has them all.
describe("a process killed at a write to SQLite", { concurrency: 2 }, () => {
  for (const kind of Object.keys(kinds)) {
    test(`${kind}: a fresh one finishes the run; what was complete is not done again, and nothing is lost`, {
      timeout: 240_000,
    }, async () => {
      assert.equal(await killAt(kind, "sqlite", some(3, kind)), 3)
    })
  }
})
