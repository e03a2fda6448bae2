import assert from "node:assert/strict"
import { test } from "node:test"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { createUndoImage } from "../../../src/runtime/snapshot/undo.ts"
import fc from "../../property.ts"
import { build, contentsOf, mutateGraph, plans } from "./random-graphs.ts"

test("whatever is done to a heap, its image brings back every object with what it held, in order", () => {
  fc.assert(
    fc.property(plans, plans, (plan, changes) => {
      const nodes = build(plan)
      const scope: Record<string, unknown> = { first: nodes[0], all: nodes, count: nodes.length }
      const before = contentsOf(Object.values(scope))
      const image = createUndoImage(scope)
      mutateGraph(nodes, changes)
      nodes.length = 0
      delete scope.first
      scope.count = 0
      scope.more = {}
      assert.deepEqual(image.restore(), [])
      assert.deepEqual(Object.keys(scope), ["first", "all", "count"])
      assertSame(contentsOf(Object.values(scope)), before)
    }),
    { numRuns: 300 },
  )
})

test("a transaction that does anything and then throws leaves the same objects with the same contents", async () => {
  await fc.assert(
    fc.asyncProperty(plans, plans, async (plan, changes) => {
      const nodes = build(plan)
      const before = contentsOf([nodes])
      await using runtime = jsRuntime({ nodes, change: fn(() => mutateGraph(nodes, changes), { sync: true }) })
      const execution = await runtime.execute("change(); nodes.length = 0; nodes = 1; throw new Error('no')", {
        transaction: true,
      })
      assert.equal(execution.ok, false)
      assert.equal(await runtime.retrieve("nodes"), nodes)
      assertSame(contentsOf([nodes]), before)
    }),
    { numRuns: 60 },
  )
})

function assertSame(after: Map<object, unknown[]>, before: Map<object, unknown[]>): void {
  assert.equal(after.size, before.size)
  for (const [object, held] of before) {
    const now = after.get(object)
    assert.equal(now?.length, held.length)
    // Compares by identity: an equal object is not enough.
    for (const [at, part] of held.entries()) assert.ok(Object.is(now?.[at], part), `${String(held[0])} at ${at}`)
  }
}
