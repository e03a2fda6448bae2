// test lane: clis, long
// The program with a coding CLI in docs/sessions.md, run as it is shown there.
import assert from "node:assert/strict"
import { mkdir } from "node:fs/promises"
import { test } from "node:test"
// #region cli
import { claude } from "karst/providers"
// #endregion
import { createPlannedCliMachine } from "../providers/planned-clis.ts"

test("a session with Claude Code is resumed by its handle", async (t) => {
  await using machine = await createPlannedCliMachine({
    "Find the slow": ["It is the join."],
    "What did I ask": ["You asked: {first}"],
  })
  const [cwd, env] = [process.cwd(), { ...process.env }]
  Object.assign(process.env, machine.env)
  process.chdir(machine.cwd)
  t.after(() => {
    process.chdir(cwd)
    Object.assign(process.env, env)
  })
  await mkdir("project")
  // #region cli
  // or codex, opencode, gemini, fallback
  await using session = await claude({ cwd: "./project" }).session({ archive: ".karst" })
  await session.send("Find the slow query")
  const handle = session.handle // after the first send: the CLI, its own key, its folder, the archive
  await using again = await claude().session({ resume: handle })
  // #endregion
  assert.equal((await again.send("What did I ask?")).output, "You asked: Find the slow query")
  assert.equal(again.trajectory().runs.length, 2)
})
