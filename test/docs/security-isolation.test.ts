// test lane: runtimes, long
// The program of docs/security.md that needs a sandbox, run as it is shown there.

// #region isolation
import { createAgent, fn, variable } from "karst"
import { processRuntime } from "karst/process"
// #endregion

import assert from "node:assert/strict"
import { test } from "node:test"
import type { Approver } from "karst"
import { scriptedModel } from "karst/models"
import { listen } from "../server/loopback.ts"
import { requires } from "../system.ts"

test("docs/security.md confines cells and asks before calls", { skip: requires("bwrap") }, async () => {
  const done: string[] = []
  const wipe = (folder: string) => void done.push(`wipe ${folder}`)
  class Database {
    exec(sql: string) {
      done.push(sql)
    }
    count() {
      return 3
    }
  }
  const db = new Database()
  const askSomebody: Approver = ({ binding, method, args }) => {
    done.push(`asked ${binding}${method ? `.${method}` : ""} ${args[0]}`)
    return args[0] !== "home"
  }
  await using server = await listen((_request, response) => response.end("hello"))
  const code = `import { readFile } from "node:fs/promises"
await wipe("logs")
const refused = await wipe("home").catch((error) => error.name)
await db.exec("delete from orders")
const file = await readFile(${JSON.stringify(import.meta.filename)}).catch(() => "no file")
const answer = await fetch("${server.url}").catch(() => "no network")
finish([refused, await db.count(), file, answer, Object.keys(process.env).length].join(", "))`
  const model = scriptedModel([`\`\`\`ts\n${code}\n\`\`\``])
  // #region isolation
  const runtime = processRuntime(
    { wipe: fn(wipe, { approve: true }), db: variable(db, { guard: { exec: { approve: true } } }) },
    { isolation: "os", limits: { memoryBytes: 512 * 2 ** 20 } },
  )
  const approver: Approver = (call, signal) => askSomebody(call, signal)
  const agent = createAgent({ model, runtime, cellTimeoutMs: 30_000, approver })
  // #endregion
  await using _ = runtime
  const result = await agent.run("Clean up")
  assert.equal(result.output, "ApprovalDenied, 3, no file, no network, 0")
  assert.deepEqual(done, [
    "asked wipe logs",
    "wipe logs",
    "asked wipe home",
    "asked db.exec delete from orders",
    "delete from orders",
  ])
})
