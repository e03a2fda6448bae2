// test lane: runtimes, long
// The programs of docs/runtimes.md that need another process, each run as it is shown there.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
// #region process
import { processRuntime } from "karst/process"
// #endregion
// #region python
import { pythonRuntime, table } from "karst/python"
// #endregion
import { z } from "zod"
import { cellValue, errorOf } from "../runtime/cell-results.ts"
import { requires } from "../system.ts"

describe("docs/runtimes.md", () => {
  test("runs cells in a child process, which may crash", async () => {
    class Database {
      path = "orders.db"
      prepare(sql: string) {
        return `prepared ${sql}`
      }
    }
    const db = new Database()
    const orders = [1, 2]
    // #region process
    const limits = { heapBytes: 256 * 2 ** 20, memoryBytes: 512 * 2 ** 20 }
    await using runtime = processRuntime({ db, orders }, { isolation: "auto", limits })
    // #endregion
    assert.equal(await cellValue(runtime, "await db.prepare('select 1')"), "prepared select 1")
    assert.equal(await cellValue(runtime, "db.path = 'other.db'\nawait db.path"), "other.db")
    assert.equal(db.path, "other.db")
    assert.equal(await cellValue(runtime, "orders.push(3)"), 3)
    assert.deepEqual(orders, [1, 2])
    assert.equal(errorOf(await runtime.execute("process.kill(process.pid, 'SIGKILL')")).kind, "throw")
    assert.equal(
      errorOf(await runtime.execute("const kept = []\nfor (;;) kept.push(Array(1e6).fill(kept.length))")).kind,
      "memory",
    )
    assert.deepEqual(await cellValue(runtime, "orders"), [1, 2])
  })

  test("runs cells in Python", { skip: requires("python", "pandas") }, async () => {
    const records = [
      { month: "May", amount: 10 },
      { month: "June", amount: 20 },
      { month: "May", amount: 15 },
    ]
    // #region python
    await using runtime = pythonRuntime({ sales: table(records) })
    await runtime.execute("best = sales.groupby('month').amount.sum().idxmax()")
    // #endregion
    assert.equal(await runtime.retrieve("best", z.string()), "May")
  })
})
