// test lane: runtimes, long
// The program of docs/live-handles.md, run as it is shown there.

// #region order
import { processRuntime } from "karst/process"
// #endregion

import assert from "node:assert/strict"
import { test } from "node:test"
import { cellValue } from "../runtime/cell-results.ts"

test("docs/live-handles.md lets a cell in another process use an object of this one", async () => {
  // #region order
  class Order {
    customer = { name: "Ann" }
    items = ["pen"]
    add(item: string) {
      this.items.push(item)
    }
  }
  const order = new Order()
  await using runtime = processRuntime({ order })
  // #endregion
  const before = order.items
  // #region order
  const execution = await runtime.execute(`
    await order.customer.name          // "Ann": one await for the whole path
    await order.add("ink")             // changes your object
    const items = await order.items    // a copy
    items.push("paper")
    order.items = items                // written back; your array stays the same array
  `)
  // #endregion
  assert.ok(execution.ok)
  assert.deepEqual(order.items, ["pen", "ink", "paper"])
  assert.equal(order.items, before)
  assert.equal(await cellValue(runtime, "await order.customer.name"), "Ann")
  assert.equal(await cellValue(runtime, "items.push('pin')"), 4)
  assert.equal(order.items.length, 3)
})
