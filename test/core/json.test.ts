import assert from "node:assert/strict"
import { test } from "node:test"
import { copyJson, type Json } from "../../src/core/json.ts"
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
