import assert from "node:assert/strict"
import { test } from "node:test"
import { asJson, copyJson, type Json } from "../../src/core/json.ts"
import fc from "../property.ts"

test("a copy of data is the same and shares nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (given) => {
      const value = given as Json
      const before = JSON.stringify(value)
      const copy = copyJson(value)
      assert.equal(JSON.stringify(copy), before)
      spoil(copy)
      assert.equal(JSON.stringify(value), before)
    }),
  )
  const odd = JSON.parse('{"__proto__": {"a": [1]}}')
  assert.equal(JSON.stringify(copyJson(odd)), '{"__proto__":{"a":[1]}}')
})

// Changes every member that can be changed.
function spoil(value: Json): void {
  if (typeof value !== "object" || value === null) return
  for (const part of Object.values(value)) spoil(part)
  if (Array.isArray(value)) value.push("spoilt")
  else value.spoilt = true
}

test("asJson accepts records of plain data, and the compiler refuses functions, instances, Maps and Dates in them", () => {
  interface Row {
    id: number
    tags: readonly string[]
    note?: string | undefined
    input: unknown
  }
  const row: Row = { id: 1, tags: ["a"], input: { b: null } }
  assert.equal(asJson(row), row)
  assert.deepEqual([row].map(asJson), [row])
  const refused = [
    // @ts-expect-error: a function is not JSON.
    asJson({ run: () => 1 }),
    // @ts-expect-error: a Date is not JSON.
    asJson({ at: new Date(0) }),
    // @ts-expect-error: a Map is not JSON.
    asJson({ rows: [new Map<string, number>()] }),
    // @ts-expect-error: a bigint is not JSON.
    asJson({ size: 1n }),
  ]
  assert.equal(refused.length, 4)
})
