// The programs of docs/undo-and-snapshots.md, each run as it is shown there.

// #region transactions
import { createAgent } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { cellValue, errorOf } from "../runtime/cell-results.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/undo-and-snapshots.md", () => {
  test("rolls back a cell that throws or fails its check, also in an agent", async () => {
    const ada = { balance: 100 }
    const accounts = [ada, { balance: 50 }]
    const total = () => accounts.reduce((sum, { balance }) => sum + balance, 0)
    const runtime = jsRuntime({ accounts })
    const model = scriptedModel([cell("accounts[0].balance = 0\naccounts[2].balance = 100"), "A typo."])
    async function showTransactions(code: string) {
      // #region transactions
      const execution = await runtime.execute(code, { transaction: { check: () => total() === 150 } })
      const agent = createAgent({ model, runtime, transaction: true })
      // #endregion
      return { execution, agent }
    }
    const { execution, agent } = await showTransactions("accounts[0].balance = 70\naccounts.pop()")
    assert.match(errorOf(execution).message, /check/)
    assert.deepEqual(accounts, [{ balance: 100 }, { balance: 50 }])

    const kept = await showTransactions("accounts[0].balance -= 30\naccounts[1].balance += 30")
    assert.deepEqual(accounts, [{ balance: 70 }, { balance: 80 }])
    assert.ok(kept.execution.ok)
    await kept.execution.undo?.()
    assert.deepEqual(accounts, [{ balance: 100 }, { balance: 50 }])

    assert.equal((await agent.run("Move 100")).status, "done")
    assert.deepEqual(accounts, [{ balance: 100 }, { balance: 50 }])
    assert.equal(accounts[0], ada)
  })

  test("stores the names of a runtime, and restores them in it or in another one", async () => {
    async function takeAndRestore(runtime: Runtime, other: Runtime) {
      // #region snapshots
      const taken = await runtime.snapshot?.() // `data` (bytes), and `lost`: the names that could not be stored
      if (taken) await other.restore?.(taken) // the same runtime, or another one
      // #endregion
      return taken
    }
    const runtime = jsRuntime({})
    await runtime.execute("const orders = [1, 2]\nconst double = (n) => n * 2")
    await runtime.execute("class Safe { #code = 1 }\nconst safe = new Safe()")
    const other = jsRuntime({})
    const taken = await takeAndRestore(runtime, other)
    assert.ok(taken && taken.data.length > 0)
    assert.deepEqual(
      taken.lost.map(({ name }) => name),
      ["safe"],
    )
    await takeAndRestore(runtime, runtime)
    for (const each of [runtime, other])
      assert.deepEqual(await cellValue(each, "orders.map((order) => double(order))"), [2, 4])
    await runtime.execute("orders.length = 0")
    await runtime.restore?.(taken)
    assert.equal(await cellValue(runtime, "orders.length"), 2)
  })
})
