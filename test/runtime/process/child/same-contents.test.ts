// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { haveSameContents } from "../../../../src/runtime/process/child/same-contents.ts"

/** An object with 2 ** levels paths to its innermost part. */
function diamond(levels: number, innermost: unknown = { n: 1 }): unknown {
  let made = innermost
  for (let level = 0; level < levels; level++) made = { left: made, right: [made], map: new Map([["a", made]]) }
  return made
}

describe("haveSameContents", () => {
  test("compares each pair of shared parts once", () => {
    assert.equal(haveSameContents(diamond(200), diamond(200)), true)
    assert.equal(haveSameContents(diamond(200), diamond(200, { n: 2 })), false)
  })

  test("knows values that contain themselves", () => {
    const loop = (n: number) => {
      const made: { n: number; self?: object } = { n }
      made.self = made
      return made
    }
    assert.equal(haveSameContents(loop(1), loop(1)), true)
    assert.equal(haveSameContents(loop(1), loop(2)), false)
  })

  test("tells apart what a cell can change", () => {
    const part = { n: 1 }
    const different: [unknown, unknown][] = [
      [
        [1, 2],
        [2, 1],
      ],
      [[1], [1, undefined]],
      [[undefined], new Array(1)],
      [{ a: undefined }, { b: undefined }],
      [{ a: 1 }, { a: 1, b: 1 }],
      [0, -0],
      [new Map([["a", 1]]), new Map([["a", 2]])],
      [new Set([1, 2]), new Set([1, 3])],
      [new Date(1), new Date(2)],
      [new Uint8Array([1]), new Uint8Array([2])],
      [/a/g, /a/i],
      [new Error("a"), new Error("b")],
      [Object.assign([1], { name: "a" }), [1]],
      [
        { a: part, b: part },
        { a: { n: 1 }, b: { n: 1 } },
      ],
    ]
    for (const [a, b] of different) assert.equal(haveSameContents(a, b), false)
    const same: [unknown, unknown][] = [
      [Number.NaN, Number.NaN],
      [
        { a: 1, b: [new Date(1)] },
        { b: [new Date(1)], a: 1 },
      ],
      [new Map([[{ k: 1 }, new Set(["x"])]]), new Map([[{ k: 1 }, new Set(["x"])]])],
      [new Float64Array([1, 2]), new Float64Array([1, 2])],
    ]
    for (const [a, b] of same) assert.equal(haveSameContents(a, b), true)
  })
})
