import assert from "node:assert/strict"
import { test } from "node:test"
import { inspectShort, sizeOf } from "../../src/runtime/preview.ts"

test("the short form is one short line", () => {
  assert.equal(inspectShort({ a: [1, 2], b: { c: { d: 1 } } }), "{ a: [ 1, 2 ], b: { c: [Object] } }")
  assert.ok(inspectShort("x".repeat(5000)).length < 1100)
})

test("size is length, count or bytes, where there is one", () => {
  assert.equal(sizeOf("abc"), 3)
  assert.equal(sizeOf([1, 2]), 2)
  assert.equal(sizeOf(new Set([1])), 1)
  assert.equal(sizeOf(new Float64Array(2)), 16)
  assert.equal(sizeOf({ a: 1 }), undefined)
})
