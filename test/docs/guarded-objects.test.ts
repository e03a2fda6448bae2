// The program of docs/guarded-objects.md, run as it is shown there.

// #region guard
import { jsRuntime, variable } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { cellValue } from "../runtime/cell-results.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/guarded-objects.md", () => {
  test("waits for an answer before a guarded method, limits another, and reads a field as it is", async () => {
    const done: string[] = []
    class Database {
      path = "orders.db"
      exec(sql: string) {
        done.push(sql)
      }
      async query(sql: string) {
        if (sql === "endless") await new Promise(() => {})
        return [sql]
      }
    }
    const db = new Database()
    // #region guard
    const runtime = jsRuntime({
      db: variable(db, { guard: { exec: { approve: true }, query: { maxCalls: 50, timeoutMs: 5_000 } } }),
    })
    // in a cell: await db.exec("delete from orders") waits for an answer; db.path is a plain read
    // #endregion
    const model = scriptedModel([
      cell(`const path = db.path
        await db.exec("delete from orders")`),
      cell(`for (let i = 0; i < 50; i++) await db.query("select 1")
        const tooMany = await db.query("select 1").catch((error) => error.name)`),
      "Done.",
    ])
    const agent = createAgent({
      model,
      runtime,
      approver: (call) => {
        done.push(`asked: ${call.args[0]}`)
        return true
      },
    })
    assert.equal((await agent.run("Clean up")).status, "done")
    assert.deepEqual(done, ["asked: delete from orders", "delete from orders"])
    assert.equal(await cellValue(runtime, "path"), "orders.db")
    assert.equal(await cellValue(runtime, "tooMany"), "CallLimitReached")
    assert.equal(await runtime.retrieve("db"), db)
  })
})
