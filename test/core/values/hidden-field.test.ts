import assert from "node:assert/strict"
import { test } from "node:test"
import { createHiddenField } from "../../../src/core/values/hidden-field.ts"

test("a hidden field is on the object and nowhere else", () => {
  const field = createHiddenField<number>()
  const other = createHiddenField<number>()
  const owner = { a: 1 }
  assert.equal(field.get(owner), undefined)
  field.set(owner, 1)
  field.set(owner, 2)
  assert.equal(field.get(owner), 2)
  assert.equal(other.get(owner), undefined)
  assert.equal(field.get({ ...owner }), undefined)
  assert.equal(JSON.stringify(owner), JSON.stringify({ a: 1 }))
  assert.deepEqual(owner, { a: 1 })
})
