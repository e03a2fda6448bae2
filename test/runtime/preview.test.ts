import assert from "node:assert/strict"
import { test } from "node:test"
import { inspect } from "node:util"
import { inspectShort, preview, sizeOf } from "../../src/runtime/preview.ts"

test("values are shown as a REPL shows them, strings quoted", () => {
  assert.equal(preview("it's"), `"it's"`)
  assert.equal(preview(42n), "42n")
  assert.equal(preview(null), "null")
  assert.equal(preview([1, [2, [3]]]), "[ 1, [ 2, [ 3 ] ] ]")
  assert.equal(preview(new Map([["a", { b: 1 }]])), "Map(1) { 'a' => { b: 1 } }")
  assert.equal(
    preview(function add() {}),
    "[Function: add]",
  )
})

test("long arrays and strings are cut and say how much is left", () => {
  assert.match(preview(Array(500).fill(1)), /400 more items/)
  assert.match(preview("x".repeat(20_000)), /10000 more characters/)
})

test("a product of wide levels is shown only as deep as it stays small", () => {
  const row = Array(100).fill(7)
  const cube = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => [...row]))
  const text = preview(cube)
  assert.match(text, /\[Array\]/)
  assert.ok(text.length < 100_000)
})

test("an object used as a dictionary is cut to its first keys", () => {
  const dictionary = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key${at}`, at]))
  const text = preview(dictionary)
  assert.match(text, /key99: 99/)
  assert.doesNotMatch(text, /key100\b/)
  assert.match(text, /900 more keys/)
})

test("cycles, getters and hostile objects are shown without running or breaking anything", () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  assert.match(preview(cycle), /Circular/)
  let ran = false
  const watched = {
    get secret() {
      ran = true
      return 1
    },
  }
  assert.match(preview(watched), /\[Getter\]/)
  assert.equal(ran, false)
  const hostile = {
    shown: 1,
    [inspect.custom]() {
      throw new Error("no")
    },
  }
  assert.match(preview(hostile), /shown: 1/)
  const trap = new Proxy({ a: 1 }, { get: () => assert.fail("asked"), ownKeys: () => assert.fail("asked") })
  assert.match(preview(trap), /a: 1/)
})

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
