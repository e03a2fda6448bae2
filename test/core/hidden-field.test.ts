import assert from "node:assert/strict"
import { test } from "node:test"
import { hiddenField } from "../../src/core/hidden-field.ts"

test("a hidden field is on the object and nowhere else", () => {
  const field = hiddenField<number>()
  const other = hiddenField<number>()
  const owner = { a: 1 }
  assert.equal(field.of(owner), undefined)
  field.set(owner, 1)
  field.set(owner, 2)
  assert.equal(field.of(owner), 2)
  assert.equal(other.of(owner), undefined)
  assert.equal(field.of({ ...owner }), undefined)
  assert.equal(JSON.stringify(owner), JSON.stringify({ a: 1 }))
  assert.deepEqual(owner, { a: 1 })
})
