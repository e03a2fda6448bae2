// test lane: clis
import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ProviderError } from "karst"
import { claude } from "karst/providers"
import { loadSession, type Trajectory } from "karst/sessions"
import { eventsOfType, fakeCliMachine } from "./cli-machines.ts"

describe("a turn", () => {
  test("that ends without a word has not failed", async () => {
    await using place = await fakeCliMachine()
    const { status, output, trajectory } = await claude(place.options).run("silent")
    assert.deepEqual([status, output], ["done", ""])
    assert.ok(!("error" in (trajectory.runs[0] ?? {})))
  })

  test("that takes too long is a time-out, whatever the CLI says while it is ended", async () => {
    await using place = await fakeCliMachine()
    const { status, error } = await claude({ ...place.options, timeoutMs: 1500 }).run("last-words").settled
    assert.deepEqual([status, error?.code], ["failed", "timeout"])
  })

  test("that says what failures say has not failed", async () => {
    await using place = await fakeCliMachine()
    for (const words of ["API-Error:-500", "Request-timed-out", "You've-hit-your-limit-resets-3pm"]) {
      assert.equal((await claude({ ...place.options, autoWait: true }).run(`say ${words}`)).output, `${words} 1`)
    }
  })

  test("is sent as often as it may be, and then fails with what the CLI said", async () => {
    await using place = await fakeCliMachine()
    const run = claude({ ...place.options, maxRetries: 2 }).run("fail 500")
    await assert.rejects(Promise.resolve(run), (error) => {
      assert.ok(error instanceof ProviderError)
      assert.deepEqual([error.code, error.provider, error.retryable], ["server-error", "claude", true])
      assert.match(error.message, /API Error: 500/)
      return true
    })
    assert.deepEqual(
      (await place.heard("claude")).flat(),
      ["fail 500", "fail 500", "fail 500"],
      "the first time, and twice again",
    )
    const { trajectory, usage } = await run.settled
    assert.equal(trajectory.runs.length, 1, "one run, however often it was sent")
    assert.equal(usage.input, 30)
  })

  test("that a limit has ended is not sent again", async () => {
    await using place = await fakeCliMachine()
    const { error, trajectory } = await claude({ ...place.options, maxRetries: 2 }).run("limit").settled
    assert.deepEqual([error?.code, trajectory.usageLimited], ["rate-limited", true])
    assert.deepEqual((await place.heard("claude")).flat(), ["limit"])
  })

  test("that failed after some work keeps that, once, and says that it failed", async () => {
    await using place = await fakeCliMachine()
    const result = await claude({ ...place.options, maxRetries: 2 }).run("think tool Read break 500").settled
    assert.equal(result.status, "failed")
    assert.equal(eventsOfType(result.trajectory.events, "tool-end").length, 1)
    assert.equal(result.messages.filter(({ role }) => role === "result").length, 1)
    assert.equal(result.trajectory.runs[0]?.error?.code, "server-error")
  })
})

describe("the record of a session", () => {
  test("says which runs failed and why, only of those, and the same after it was stored", async () => {
    await using place = await fakeCliMachine()
    const archive = join(place.folder, "archive")
    const session = await claude(place.options).session({ archive })
    await session.send("say fine")
    await session.send("fail 500").settled
    await session.send("say fine")
    const record = await session.close()
    const failed = ({ runs }: Trajectory) =>
      runs.filter(({ status }) => status === "failed").map(({ error }) => error?.code)
    assert.deepEqual(failed(record), ["server-error"])
    assert.deepEqual(
      record.runs.map((run) => "error" in run),
      [false, true, false],
    )
    assert.deepEqual(failed((await loadSession(archive, session.id)).trajectory()), ["server-error"])
    assert.deepEqual(JSON.parse(JSON.stringify(record)), record)
    assert.equal(record.usageLimited, undefined, "the last run went well")
  })
})
