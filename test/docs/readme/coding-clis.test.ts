// test lane: clis, long
// The fourth of the five ways in README.md, run as it is shown there.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
// #region program
import { jsRuntime, variable } from "karst"
import { claude, codex, fallback } from "karst/providers"
// #endregion
import { createPlannedCliMachine } from "../../providers/planned-clis.ts"
import { setVariables } from "../surroundings.ts"

const orders = [{ id: "a7", bills: 2 }]
const work = [
  { tool: "run", input: { code: "report = `billed twice: ${orders.filter(({ bills }) => bills > 1)[0].id}`" } },
  "It is in `report`.",
]

describe("README.md shows two coding CLIs on live objects", () => {
  for (const [title, installed, plan] of [
    ["Claude Code does the work", ["claude", "codex"], { "claude: Find": work }],
    ["Codex does it if Claude Code is missing", ["codex"], { "codex: Find": work }],
    [
      "Codex does it if Claude Code fails",
      ["claude", "codex"],
      { "claude: Find": [{ fail: 401 }], "codex: Find": work },
    ],
  ] as const) {
    test(title, async (t) => {
      await using machine = await createPlannedCliMachine(plan, [...installed])
      setVariables(t, machine.env)
      const { cwd } = machine
      // #region program
      const runtime = jsRuntime({ orders, report: variable("") })
      const coder = fallback(claude({ runtime, cwd }), codex({ runtime, cwd })) // Codex if Claude Code is missing or fails
      await coder.run("Find the orders that were billed twice and put a summary into `report`")
      const report = await runtime.retrieve("report")
      // #endregion
      assert.equal(report, "billed twice: a7")
    })
  }
})
