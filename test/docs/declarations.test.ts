// The program and the declaration of docs/declarations.md, each as it is shown there.

// #region types
import { jsRuntime } from "karst"
// #endregion

import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { variable } from "karst"
import { passengers } from "./declarations/passengers.ts"

const db = { orders: async (customer: string): Promise<Order[]> => [{ id: customer.length, open: true }] }

// #region types
interface Order {
  id: number
  open: boolean
}

/** Finds the orders of a customer. */
async function ordersOf(customer: string): Promise<Order[]> {
  return db.orders(customer)
}
// #endregion

describe("docs/declarations.md", () => {
  test("declares a function with its comment and its types", async (t) => {
    const log = t.mock.method(console, "log", () => {})
    // #region types
    const runtime = jsRuntime({ ordersOf })
    console.log(await runtime.describe()) // the function with its comment and its types, and `Order`
    // #endregion
    const printed = String(log.mock.calls[0]?.arguments[0])
    assert.match(
      printed,
      /\/\*\* Finds the orders of a customer\. \*\/\n.*ordersOf\(customer: string\): Promise<Order\[\]>/,
    )
    assert.match(printed, /interface Order \{\s*id: number;?\s*open: boolean;?\s*\}/)
  })

  test("declares a table with its columns and the cells that differ", async () => {
    const runtime = jsRuntime({ rows: variable(passengers, "The passengers") })
    const shown = await readFile(join(import.meta.dirname, "declarations/typescript.txt"), "utf8")
    assert.equal(`${await runtime.describe()}\n`, shown)
  })
})
