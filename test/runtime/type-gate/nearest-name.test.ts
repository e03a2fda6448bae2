// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { nearestName } from "../../../src/runtime/type-gate/nearest-name.ts"

test("a letter missing, added, wrong or swapped is seen through", () => {
  for (const misspelt of ["row", "rowss", "rowz", "rosw", "ROWS"]) {
    assert.equal(nearestName(misspelt, ["orders", "rows"]), "rows", misspelt)
  }
})

test("the nearest of several names is meant, and long names may have two mistakes", () => {
  assert.equal(nearestName("fetchOrder", ["fetchUsers", "fetchOrders"]), "fetchOrders")
  assert.equal(nearestName("custoemrs", ["customers"]), "customers")
  assert.equal(nearestName("custmrs", ["customers"]), "customers")
})

test("a name that is quite another, or too short to tell, is nobody's", () => {
  assert.equal(nearestName("total", ["rows", "orders"]), undefined)
  assert.equal(nearestName("x", ["y", "xs"]), undefined)
  assert.equal(nearestName("print", []), undefined)
})
