import assert from "node:assert/strict"
import { test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import fc from "../../property.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { build, isSameGraph, plans } from "./random-graphs.ts"

test("any heap of plain values comes back from its snapshot with the same shape, aliases and cycles", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const nodes = build(plan)
      await using first = jsRuntime({ light: { on: true } })
      await using second = jsRuntime({ light: { on: true } })
      const [all, some] = [await first.keep("kept", nodes), await first.keep("kept", { again: nodes.at(-1) })]
      const snapshot = await first.snapshot?.()
      assert.deepEqual(snapshot?.lost, [])
      assert.deepEqual(snapshot && (await second.restore?.(snapshot)), [])
      const before = [nodes, { again: nodes.at(-1) }]
      assert.ok(isSameGraph([await retrieveAny(second, all), await retrieveAny(second, some)], before))
      assert.ok(isSameGraph([await retrieveAny(first, all), await retrieveAny(first, some)], before))
    }),
    { numRuns: 200 },
  )
})

test("a heap with things that cannot be kept comes back with undefined in their place, and the heap itself is untouched", async () => {
  const leaves = [() => 1, new WeakMap(), Symbol("x"), Promise.resolve(1)]
  await fc.assert(
    fc.asyncProperty(plans, fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }), async (plan, where) => {
      const [nodes, bare] = [build(plan), build(plan)]
      for (const [at, place] of where.entries()) {
        const key = `leaf ${at}`
        plant(nodes[place % nodes.length], key, leaves[place % leaves.length])
        plant(bare[place % bare.length], key, undefined)
      }
      await using first = jsRuntime()
      await using second = jsRuntime()
      const name = await first.keep("kept", nodes)
      const snapshot = await first.snapshot?.()
      assert.ok(snapshot)
      await second.restore?.(snapshot)
      assert.ok(isSameGraph(await second.retrieve(name), bare))
      const lost = new Set(snapshot.lost.map((each) => each.name))
      const planted = nodes.some((node) => where.some((_, at) => held(node, `leaf ${at}`)))
      assert.equal(lost.has(name), planted)
    }),
    { numRuns: 150 },
  )
})

function plant(node: object | undefined, key: string, value: unknown): void {
  if (node instanceof Map) node.set(key, value)
  else if (node && !(node instanceof Set) && !(node instanceof Date) && !ArrayBuffer.isView(node)) {
    Reflect.set(node, key, value)
  }
}

function held(node: object, key: string): boolean {
  return node instanceof Map ? node.has(key) : Object.hasOwn(node, key)
}
