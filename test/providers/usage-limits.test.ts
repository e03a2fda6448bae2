// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AbortError, ConfigError, messageText } from "karst"
import { type Clock, claude, codex, fallback } from "karst/providers"
import { environmentDefaults } from "../../src/providers/environment-defaults.ts"
import { eventsOfType, fakeCliMachine } from "./cli-machines.ts"

/** A clock whose sleeps return at once and advance the time. */
function fastClock(): Clock & { slept: number[] } {
  let ahead = 0
  const slept: number[] = []
  return {
    slept,
    now: () => Date.now() + ahead,
    async sleep(ms) {
      slept.push(ms)
      ahead += ms
    },
  }
}

describe("a limit of the account", () => {
  test("is waited for until it is over, with events meanwhile, and what was asked is asked again", async () => {
    await using place = await fakeCliMachine()
    const clock = fastClock()
    const result = await claude({ ...place.options, autoWait: { clock } }).run("limit once say hello")
    assert.deepEqual([result.status, result.output], ["done", "hello 2"])
    const waits = eventsOfType(result.trajectory.events, "limit-waiting")
    assert.equal(waits.length, clock.slept.length)
    assert.ok(waits.length >= 12 && clock.slept.every((ms) => ms <= 300_000), "an hour, in pieces")
    const hour = clock.slept.reduce((sum, ms) => sum + ms, 0) / 3_600_000
    assert.ok(hour > 0.9 && hour <= 1, `${hour} hours`)
    assert.match(waits[0]?.reason ?? "", /hit your limit/)
    assert.equal(result.usage.input, 20, "both turns count")
    assert.equal(result.trajectory.usageLimited, undefined)
  })

  test("lets the same session go on with a short prompt, where something was done", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "worked-limit once")
    const result = await claude({ ...place.options, autoWait: { clock: fastClock() } }).run("tool Read say hello")
    assert.equal(result.status, "done")
    const [[first, second] = []] = await place.heard("claude")
    assert.equal(first, "tool Read say hello")
    assert.match(second ?? "", /^The usage limit is over\. Go on/)
    const [steered] = eventsOfType(result.trajectory.events, "prompt-steered")
    assert.equal(steered && messageText(steered.message), second)
  })

  test("is a failure with the time it is over where nobody shall wait, and is noted in the record", async () => {
    await using place = await fakeCliMachine()
    const { status, error, trajectory } = await claude({ ...place.options, autoWait: false }).run("limit").settled
    assert.deepEqual([status, error?.code, trajectory.usageLimited], ["failed", "rate-limited", true])
    await using session = await claude(place.options).session()
    await session.send("limit").settled
    assert.equal(session.trajectory().usageLimited, true)
    await session.send("say x")
    assert.equal(session.trajectory().usageLimited, undefined)
  })

  test("that is over too late is not waited for", async () => {
    await using place = await fakeCliMachine()
    const clock = fastClock()
    const result = await claude({ ...place.options, autoWait: { clock, maxWaitMs: 60_000 } }).run("limit").settled
    assert.deepEqual([result.status, clock.slept], ["failed", []])
    assert.equal(eventsOfType(result.trajectory.events, "warning-raised")[0]?.code, "limit-too-far")
    assert.throws(() => claude({ autoWait: { maxWaitMs: -1 } }), ConfigError)
  })

  test("can be asked about before, and is never told by what a model says", async () => {
    await using place = await fakeCliMachine()
    const asked: string[] = []
    const accept = ({ provider, until }: { provider: string; until: number }) => {
      asked.push(provider)
      return until < 0
    }
    assert.equal(
      (await claude({ ...place.options, autoWait: { shouldWait: accept } }).run("limit").settled).status,
      "failed",
    )
    assert.deepEqual(asked, ["claude"])
    const said = await claude({ ...place.options, autoWait: { shouldWait: accept } }).run("say usage-limit-resets-3pm")
    assert.equal(said.status, "done")
    const codexSaid = await codex({ ...place.options, autoWait: { shouldWait: accept } }).run(
      "say usage-limit,-try-again-in-5-hours",
    )
    assert.deepEqual([codexSaid.status, asked.length], ["done", 1])
  })

  test("is waited for on the machine's own clock until somebody aborts", async () => {
    await using place = await fakeCliMachine()
    const run = claude({ ...place.options, autoWait: true }).run("limit")
    for await (const event of run) if (event.type === "limit-waiting") break
    run.abort("enough")
    await assert.rejects(Promise.resolve(run), AbortError)
    assert.deepEqual(await place.processes(), [])
  })

  test("does not use up the time of a run", async () => {
    await using place = await fakeCliMachine()
    const options = { ...place.options, autoWait: { clock: fastClock() }, limits: { timeMs: 30_000 } }
    assert.equal((await claude(options).run("limit once say hello")).output, "hello 2")
  })

  test("of all in a fallback is waited for with the one whose limit is over first", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "limit once")
    await place.tell("codex", "limit 600")
    const clock = fastClock()
    const agent = fallback(claude(place.options), codex(place.options), { autoWait: { clock } })
    // One hour, then ten.
    const result = await agent.run("say hello").settled
    assert.deepEqual([result.status, result.output.split(" ")[0]], ["done", "hello"])
    assert.deepEqual(
      eventsOfType(result.trajectory.events, "provider-changed").map(({ from, to }) => [from, to]),
      [
        ["claude", "codex"],
        ["codex", "claude"],
      ],
    )
  })

  test("of the last in a fallback is waited for there", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    await place.tell("codex", "limit once")
    const clock = fastClock()
    const agent = fallback(claude(place.options), codex(place.options), { autoWait: { clock } })
    const result = await agent.run("say hello")
    assert.equal(result.status, "done")
    assert.ok(eventsOfType(result.trajectory.events, "limit-waiting").length > 0)
  })

  test("is waited for unless the environment says otherwise", () => {
    const said = ["0", "false", "NO", "off", "1", "", "yes"].map((value) =>
      environmentDefaults({ KARST_AUTOWAIT: value }),
    )
    assert.deepEqual(
      said.map(({ autoWait }) => autoWait),
      [false, false, false, false, true, true, true],
    )
  })
})
