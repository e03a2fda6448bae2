// test lane: clis, long
// The program of docs/recipes.md that needs coding CLIs, run as it is shown there.

// #region fallback
import { claude, codex, fallback } from "karst/providers"
// #endregion

import assert from "node:assert/strict"
import { test } from "node:test"
import { createPlannedCliMachine } from "../providers/planned-clis.ts"
import { setVariables } from "./surroundings.ts"

for (const [reason, installed] of [
  ["is missing", ["codex"]],
  ["fails", ["claude", "codex"]],
] as const) {
  test(`the recipe for two coding CLIs uses the second one if the first one ${reason}`, async (t) => {
    const plan = { "claude: Make": [{ fail: 401 }], "codex: Make": ["It passes now."] }
    await using machine = await createPlannedCliMachine(plan, [...installed])
    setVariables(t, machine.env)
    const { cwd } = machine
    // #region fallback
    const coder = fallback(claude({ cwd }), codex({ cwd }))
    const { output } = await coder.run("Make the failing test pass.", { limits: { timeMs: 20 * 60_000 } })
    // #endregion
    assert.equal(output, "It passes now.")
  })
}
