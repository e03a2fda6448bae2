// test lane: durable, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { killAt } from "./chain.ts"
import { each, pairs } from "./choose.ts"
import { kinds } from "./kinds.ts"

// Everything is stored by writes, so a kill before and after each write covers every stored event and journal entry.
describe("a process killed at any write to SQLite", { concurrency: 2 }, () => {
  for (const kind of Object.keys(kinds)) {
    test(`${kind}: a fresh one finishes the run; what was complete is not done again, and nothing is lost`, {
      timeout: 240_000,
    }, async (context) => {
      let points = 0
      const kills = await killAt(kind, "sqlite", (all) => {
        points = all.length
        return each(all)
      })
      context.diagnostic(`${kind}: killed at ${kills} of ${points} points`)
      assert.equal(kills, points)
    })

    test(`${kind}: so it is when the one that goes on is killed as well`, { timeout: 240_000 }, async () => {
      assert.ok((await killAt(kind, "sqlite", pairs(3, kind))) >= 3)
    })
  }
})
