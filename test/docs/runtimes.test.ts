// The programs of docs/runtimes.md that need no other process, each run as it is shown there.

// #region bindings
import { classType, fn, variable } from "karst"
// #endregion

// #region execute
import { jsRuntime } from "karst"
import { safeRules } from "karst/rules"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "karst"
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { errorOf } from "../runtime/cell-results.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/runtimes.md", () => {
  test("runs cells on the same objects, and reads names that a cell made with a schema", async () => {
    const db = new Map<string, number>()
    const tasks = [{ done: false }, { done: true }, { done: false }]
    const addTask = () => tasks.push({ done: false })
    // #region execute
    const runtime = jsRuntime({ db, tasks, addTask }, { rules: safeRules() })
    const code = "const open = tasks.filter((task) => !task.done)\nopen.length"
    const execution = await runtime.execute(code) // { ok: true, value: 2, … }
    const same = await runtime.retrieve("tasks") // the same array, not a copy
    const open = await runtime.retrieve("open", z.array(z.object({ done: z.boolean() }))) // by a cell: with a schema
    // #endregion
    assert.ok(execution.ok)
    assert.equal(execution.value, 2)
    assert.equal(same, tasks)
    assert.deepEqual(open, [{ done: false }, { done: false }])
    assert.equal(errorOf(await runtime.execute("eval('1')")).kind, "security")
  })

  test("declares and guards bindings by their options", async () => {
    const prices = new Map([["pen", 2]])
    const rows = [{ city: "Bern" }, { city: "Basel" }, { city: "Chur" }]
    class Lamp {
      wiped = false
      /** Forgets everything. */
      wipe() {
        this.wiped = true
      }
    }
    const lamp = new Lamp()
    const addTask = (name: string) => name.length
    const exists = ({ id }: { id: number }) => id === 7
    const pay = (euros: number) => euros
    const today = () => "Monday"
    // #region bindings
    const runtime = jsRuntime({
      prices: variable(prices, "EUR per item"), // or { description, type: "Map<string, number>" }
      rows: variable(rows, { sample: 2 }), // the model sees the first two rows: see declarations.md
      lamp: variable(lamp, { guard: { wipe: { approve: true } } }), // wipe() passes the call gate: guarded-objects.md
      addTask: fn(addTask, { description: "Adds a task.", signature: "(name: string) => number" }),
      // Shown as types; inputs of calls are validated.
      exists: fn(exists, { input: z.object({ id: z.int() }), output: z.boolean() }),
      pay: fn(pay, { approve: true, maxCalls: 5, timeoutMs: 1000 }), // requests approval, and has limits
      today: fn(today, { sync: true }), // returns its value, not a Promise; no call gate; jsRuntime only
      Lamp: classType(Lamp, { description: "A lamp.", schema: true, doc: true }), // shows members and comments: default
    })
    // #endregion
    const declared = await runtime.describe()
    assert.match(declared, /\/\*\* EUR per item \*\/\ndeclare let prices: Map<string, number>/)
    assert.match(declared, /Bern[\s\S]*Basel/)
    assert.doesNotMatch(declared, /Chur/)
    assert.match(declared, /\/\*\* Adds a task\. \*\/\ndeclare function addTask\(name: string\): Promise<number>/)
    assert.match(declared, /declare function exists\(options: \{ id: number \}\): Promise<boolean>/)
    assert.match(declared, /declare function today\(\): (?!Promise)/)
    assert.match(
      declared,
      /\/\*\* A lamp\. \*\/\ndeclare class Lamp \{[\s\S]*\/\*\* Forgets everything\. \*\/\n\s+wipe\(\)/,
    )

    const asked: string[] = []
    const code = `const results = [today(), await exists({ id: 7 }), await exists({ id: "7" }).catch(() => "invalid")]
await lamp.wipe()
for (let i = 0; i < 6; i++) results.push(await pay(i).catch((error) => error.name))
finish(results.join(" "))`
    const agent = createAgent({
      model: scriptedModel([cell(code)]),
      runtime,
      approver: ({ binding }) => Boolean(asked.push(binding)),
    })
    assert.equal((await agent.run("Do it")).output, "Monday true invalid 0 1 2 3 4 CallLimitReached")
    assert.deepEqual(asked, ["lamp", ...Array<string>(5).fill("pay")])
    assert.ok(lamp.wiped)
  })
})
