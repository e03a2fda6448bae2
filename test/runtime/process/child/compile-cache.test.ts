// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { compileSampleCell } from "../../../../src/runtime/process/child/compile-cache.ts"

test("the cell that a child warms up with is one that can be compiled", () => {
  assert.doesNotThrow(compileSampleCell)
})
