import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { isDeepStrictEqual } from "node:util"
import { deserialize, serialize } from "node:v8"
import { digestOf } from "../../../src/runtime/snapshot/data-digest.ts"
import fc from "../../property.ts"

describe("the digest of data", () => {
  test("is equal for equal data and different for different data", () => {
    const data = fc.anything({ withMap: true, withSet: true, withDate: true, withTypedArray: true, withBigInt: true })
    const property = fc.property(data, data, (one, other) => {
      assert.equal(digestOf(one), digestOf(structuredCloneOf(one)))
      if (digestOf(one) === digestOf(other)) assert.ok(isDeepStrictEqual(one, other))
    })
    fc.assert(property, { numRuns: 500 })
  })

  test("distinguishes values that JSON writes alike", () => {
    const values = [null, undefined, Number.NaN, Number.POSITIVE_INFINITY, 0, -0, 0n, "0", [0], ["0"], [[]], {}, [], ""]
    assert.equal(new Set(values.map(digestOf)).size, values.length)
    const sparse = [1]
    sparse[2] = 3
    assert.notEqual(digestOf(sparse), digestOf([1, undefined, 3]))
    assert.notEqual(digestOf({ a: 1, b: 2 }), digestOf({ b: 2, a: 1 }))
    assert.notEqual(digestOf(new Map([[1, 2]])), digestOf(new Set([1, 2])))
  })

  test("distinguishes one object in two places from two equal objects", () => {
    const row = { n: 1 }
    assert.notEqual(digestOf([row, row]), digestOf([{ n: 1 }, { n: 1 }]))
  })

  test("does not depend on how numbers are stored in memory", () => {
    const made = Array.from({ length: 100 }, (_, at) => ({ n: at * 1.5 }))
    const parsed = JSON.parse(JSON.stringify(made))
    assert.equal(digestOf(made), digestOf(parsed))
  })

  test("does not exist for values that are not data, and runs none of their code", () => {
    const withGetter = {
      get secret() {
        throw new Error("The getter ran.")
      },
    }
    const proxy = new Proxy({}, { ownKeys: () => assert.fail("The trap ran.") })
    for (const value of [withGetter, proxy, () => 1, new (class Own {})(), Symbol("own"), { [Symbol("key")]: 1 }]) {
      assert.equal(digestOf([value]), undefined)
    }
  })
})

// Keeps the order of keys and -0.
function structuredCloneOf(value: unknown): unknown {
  try {
    return deserialize(serialize(value))
  } catch {
    return value
  }
}
