// test lane: clis, long
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { claude } from "karst/providers"
import { findCli, testedVersions } from "../../../scripts/clis.ts"
import { requires } from "../../system.ts"
import { claudeMachine, eventsOfType } from "../cli-machines.ts"
import { resumeInChild } from "../resume-in-child.ts"

const command = (input: object) => `[[tool:Bash ${JSON.stringify({ description: "a job", ...input })}]]`
const agent = (prompt: string) => {
  const task = { description: "look", prompt, subagent_type: "general-purpose", run_in_background: true }
  // The brackets of the inner directive must not end the outer one.
  return `[[tool:Task ${JSON.stringify(task).replaceAll("]]", "\\u005d\\u005d")}]]`
}

function missing(version: string): string | undefined {
  if (findCli("claude", version) !== undefined) return undefined
  return requires("claude") ?? `claude ${version} is not installed: KARST_REQUIRE_ALL=1 npm test installs it`
}

for (const version of testedVersions("claude")) {
  describe(`Claude Code ${version}`, { skip: missing(version) }, () => {
    test("reports the cost and the tokens of each turn of a session, and not of those before it", async () => {
      await using place = await claudeMachine(version)
      await using session = await claude(place.options).session()
      const first = await session.send("hello")
      const costUsd = first.usage.costUsd ?? 0
      assert.ok(costUsd > 0)
      for (const prompt of ["hello", "hello"]) {
        const { usage } = await session.send(prompt)
        assert.ok(Math.abs((usage.costUsd ?? 0) - costUsd) < 1e-9, `${usage.costUsd} is not ${costUsd}`)
        assert.deepEqual([usage.input, usage.output, usage.complete], [100, 20, true])
      }
      await using fork = await session.fork?.()
      const forked = await fork?.send("hello")
      assert.ok(Math.abs((forked?.usage.costUsd ?? 0) - costUsd) < 1e-9, "a fork does not pay for its past")
      const total = (await session.trajectory()).usage.costUsd ?? 0
      assert.ok(Math.abs(total - 3 * costUsd) < 1e-9)
    })

    test("reports the cost of its own turn alone where another process began the session", async () => {
      await using place = await claudeMachine(version)
      const session = await claude(place.options).session()
      const { usage } = await session.send("hello")
      const { handle } = session
      await session.close()
      await resumeInChild("claude", place, { resume: handle }, "hello")
      await using resumed = await claude(place.options).session({ resume: handle })
      const again = await resumed.send("hello")
      assert.ok(Math.abs((again.usage.costUsd ?? 0) - (usage.costUsd ?? 0)) < 1e-9)
    })

    test("waits for a command that it runs in the background", async () => {
      await using place = await claudeMachine(version)
      const job = command({ command: "sleep 4; echo finished > job.txt", run_in_background: true })
      const { status, cycles, trajectory, usage } = await claude(place.options).run(job)
      assert.equal(status, "done")
      assert.equal(await readFile(join(place.cwd, "job.txt"), "utf8"), "finished\n")
      assert.equal(cycles, 3, "the model is asked again when the job has ended")
      assert.equal(usage.input, 300)
      assert.deepEqual(
        eventsOfType(trajectory.events, "warning-raised").map(({ code }) => code),
        ["background-running"],
      )
      assert.deepEqual(await place.processes(), [])
    })

    test("waits for an agent that it runs in the background, and tells what it does as a run within the run", async () => {
      await using place = await claudeMachine(version)
      const { trajectory, usage } = await claude(place.options).run(agent(command({ command: "sleep 3; echo deep" })))
      const [start] = eventsOfType(trajectory.events, "run-start").filter((event) => event.parent !== undefined)
      const [call] = eventsOfType(trajectory.events, "tool-start")
      assert.deepEqual([start?.agent, start?.metadata.call], ["general-purpose", call?.id])
      const inner = eventsOfType(trajectory.events, "tool-end").filter((event) => event.run === start?.run)
      assert.deepEqual(
        inner.map(({ name, text }) => [name, text]),
        [["Bash", "deep"]],
      )
      const ends = eventsOfType(trajectory.events, "run-end").filter((event) => event.parent !== undefined)
      assert.deepEqual(
        ends.map(({ run, status }) => [run, status]),
        [[start?.run, "done"]],
      )
      assert.equal(usage.input, 500, "the tokens of the agent count")
      assert.deepEqual(await place.processes(), [])
    })

    test("ends a background command that takes longer than it may, and says so", async () => {
      await using place = await claudeMachine(version)
      const job = command({ command: "sleep 300", run_in_background: true })
      const { status, trajectory } = await claude({ ...place.options, backgroundTimeoutMs: 500 }).run(job)
      assert.equal(status, "done")
      const [, ended] = eventsOfType(trajectory.events, "warning-raised")
      assert.equal(ended?.code, "background-ended")
      assert.match(ended?.message ?? "", /"a job".*backgroundTimeoutMs/)
      assert.deepEqual(await place.processes(), [])
    })

    test("gives what a slash command says as the result", async () => {
      await using place = await claudeMachine(version)
      const { status, output, messages } = await claude(place.options).run("/context")
      assert.equal(status, "done")
      assert.match(output, /Context Usage/)
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant"],
      )
      // This request counts tokens and asks no model.
      const asked = place.model.requests.filter(({ path }) => !path.includes("count_tokens"))
      assert.deepEqual(
        asked.map(({ path }) => path),
        [],
      )
    })

    test("ends as a time-out where a turn takes too long, also while it waits", async () => {
      await using place = await claudeMachine(version)
      for (const prompt of ["[[hang]]", command({ command: "sleep 300", run_in_background: true })]) {
        const { status, error } = await claude({ ...place.options, timeoutMs: 6000 }).run(prompt).settled
        assert.deepEqual([status, error?.code], ["failed", "timeout"], error?.message)
        assert.deepEqual(await place.processes(), [])
      }
    })
  })
}
