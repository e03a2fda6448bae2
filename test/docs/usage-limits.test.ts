// test lane: clis, long
// The programs of docs/usage-limits.md, each run as it is shown there, with a small program in the place of Claude Code.
import assert from "node:assert/strict"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"

// #region wait
import { claude } from "karst/providers"
// #endregion

import type { CliAgent } from "karst/providers"
import { eventsOfType, type FakeCliMachine, fakeCliMachine } from "../providers/cli-machines.ts"
import { setVariables, workIn } from "./surroundings.ts"

test("a run waits until the limit ends and then continues", async (t) => {
  const machine = await limitedMachine(t)
  // #region wait
  // At 14:10 the account is limited until 15:00. At 15:00 the run continues.
  const result = await claude({ cwd: "./project" }).run("Port the tests")
  // #endregion
  assert.deepEqual([result.status, result.output], ["done", "ported 2"])
  const waits = eventsOfType(result.trajectory.events, "limit-waiting")
  assert.deepEqual([waits.length, typeof waits[0]?.until, typeof waits[0]?.reason], [1, "number", "string"])
  assert.deepEqual((await machine.heard("claude")).flat(), ["Port the tests", "Port the tests"])
})

test("a run can fail at once, wait for a limited time, or ask you", async (t) => {
  const machine = await limitedMachine(t)
  // #region options
  // The run fails at once: code "rate-limited", error.retryAt.
  const never = claude({ autoWait: false })
  // One hour in total; a limit that ends later fails at once.
  const anHour = claude({ autoWait: { maxWaitMs: 3_600_000 } })
  // You decide, each time.
  const deadline = Date.now() + 30 * 60_000
  const untilDeadline = claude({ autoWait: { shouldWait: ({ until }) => until < deadline } })
  // #endregion
  const run = async (agent: CliAgent, limitSeconds: string) => {
    process.env.FAKE_LIMIT_SECONDS = limitSeconds
    await rm(join(machine.folder, ".fake-claude"), { recursive: true, force: true })
    const { status, error, trajectory } = await agent.run("Port the tests").settled
    const waits = eventsOfType(trajectory.events, "limit-waiting").length
    const warnings = eventsOfType(trajectory.events, "warning-raised").map(({ code }) => code)
    return { status, error, waits, warnings }
  }
  for (const agent of [anHour, untilDeadline]) {
    const { status, waits } = await run(agent, "0")
    assert.deepEqual([status, waits], ["done", 1])
  }
  for (const agent of [never, anHour, untilDeadline]) {
    const { status, error, waits, warnings } = await run(agent, "7200")
    assert.deepEqual([status, error?.code, waits], ["failed", "rate-limited", 0])
    assert.ok((error?.retryAt ?? 0) > Date.now())
    assert.equal(warnings.includes("limit-too-far"), agent === anHour)
  }
})

/** A machine on which the account of Claude Code is limited at the first prompt; the limit has just ended. */
async function limitedMachine(t: TestContext): Promise<FakeCliMachine> {
  await workIn(t, { "project/readme.md": "" })
  const machine = await fakeCliMachine()
  t.after(() => machine[Symbol.asyncDispose]())
  setVariables(t, {
    ...machine.options.env,
    FAKE_LIMIT_SECONDS: "0",
    KARST_AUTOWAIT: undefined,
    KARST_MODEL: undefined,
  })
  await machine.tell("claude", "limit once say ported")
  return machine
}
