// The programs of docs/security.md that need no other process, each run as it is shown there.

// #region rules
import { attributeRule, functionRule, importRule, regexRule, safeRules } from "karst/rules"
// #endregion

// #region approver
import { jsRuntime } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Approver, createAgent, fn } from "karst"
import { scriptedModel } from "karst/models"
import { errorOf } from "../runtime/cell-results.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/security.md", () => {
  test("makes a call only after the approver has allowed it", async () => {
    const wiped: string[] = []
    const wipe = (folder: string) => void wiped.push(folder)
    const answers = [true, false, "allow", "deny", "always"] as const
    let asked = 0
    const askSomebody: Approver = async (_call, signal) => (signal.aborted ? "deny" : (answers[asked++] ?? "deny"))
    const model = scriptedModel([cell("for (const folder of 'abcdef') await wipe(folder).catch(() => {})"), "Done."])
    // #region approver
    const runtime = jsRuntime({ wipe: fn(wipe, { approve: true }) })
    // askSomebody() returns true, false, "allow", "deny" or "always".
    const agent = createAgent({ model, runtime, approver: (call, signal) => askSomebody(call, signal) })
    // #endregion
    assert.equal((await agent.run("Clean up")).status, "done")
    assert.deepEqual(wiped, ["a", "c", "e", "f"])
    assert.equal(asked, 5)

    const alone = createAgent({ model: scriptedModel([cell("await wipe('g')"), "Done."]), runtime })
    await alone.run("Clean up")
    assert.ok(!wiped.includes("g"), "without an approver the call is refused")
  })

  test("refuses a cell that violates a rule, and says where and why", async () => {
    const bindings = { user: { name: "Ada", password: "hunter2" }, download: (url: string) => url }
    // #region rules
    const runtime = jsRuntime(bindings, {
      rules: [
        ...safeRules(),
        importRule(["node:crypto"]), // refuses the module
        functionRule(["fetch"], { description: "use `download` instead" }),
        attributeRule(["password"]),
        regexRule(/rm\s+-rf/),
      ],
    })
    // #endregion
    const refused: Record<string, RegExp> = {
      'import { readFileSync } from "node:fs"': /node:fs/,
      'eval("1")': /eval/,
      'import { randomUUID } from "node:crypto"': /node:crypto/,
      'const get = fetch\nawait get("http://localhost")': /fetch.*use `download` instead/,
      "user.password": /password/,
      'const command = "rm -rf /"': /rm/,
    }
    for (const [code, reason] of Object.entries(refused)) {
      const error = errorOf(await runtime.execute(code))
      assert.equal(error.kind, "security", code)
      assert.match(error.message, reason)
      assert.match(error.message, /line 1|1:\d+/, error.message)
    }
    assert.ok((await runtime.execute("await download(user.name)")).ok)
  })
})
