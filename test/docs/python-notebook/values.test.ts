// test lane: runtimes, long
// The snippet of docs/python-notebook.md about values, run as it is shown there.
import assert from "node:assert/strict"
import { test } from "node:test"
// #region program
import { fn } from "karst"
import { pythonRuntime, table } from "karst/python"
import { z } from "zod"
// #endregion
import { requires } from "../../system.ts"

const needs = { skip: requires("python", "pandas") }

test("docs/python-notebook.md shows a table and a function in Python, and a value back", needs, async () => {
  const records = [
    { month: "May", amount: 40 },
    { month: "June", amount: 25 },
    { month: "June", amount: 30 },
  ]
  const notified: string[] = []
  const notify = (month: string) => void notified.push(month)
  // #region program
  await using runtime = pythonRuntime({ sales: table(records), notify: fn(notify) }, { setup: "import pandas as pd" })
  await runtime.execute("best = sales.groupby('month').amount.sum().idxmax()\nnotify(best)")
  const best = await runtime.retrieve("best", z.string()) // a name of a cell or of `setup`: with a schema
  // #endregion
  assert.equal(best, "June")
  assert.deepEqual(notified, ["June"])
  assert.deepEqual(await runtime.execute("pd.__name__").then((cell) => cell.ok && cell.value), "pandas")
  await assert.rejects(runtime.retrieve("best", z.number()), { code: "invalid-value" })
})
