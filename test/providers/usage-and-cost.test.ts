// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { acp, claude, codex, fallback, gemini, opencode } from "karst/providers"
import { toAtif } from "karst/sessions"
import { requires } from "../system.ts"
import { claudeMachine, codexMachine, eventsOfType, fakeCliMachine } from "./cli-machines.ts"

describe("limits on tokens and cost", () => {
  test("are refused where a CLI reports no figures while it works", () => {
    const refused = (make: () => unknown, message: RegExp) => assert.throws(make, { name: "ConfigError", message })
    refused(() => gemini({ limits: { tokens: 100 } }), /limits\.tokens: Gemini CLI .*limits\.cycles/)
    refused(() => gemini({ limits: { costUsd: 1 } }), /limits\.costUsd: Gemini CLI/)
    refused(() => acp({ command: "any", limits: { uncachedTokens: 100 } }), /limits\.uncachedTokens/)
    refused(() => opencode({ protocol: "acp", limits: { tokens: 100 } }), /limits\.tokens/)
    refused(() => codex({ limits: { costUsd: 1 } }), /limits\.costUsd: Codex .*price/)
    refused(() => codex({ model: "nobody-knows", limits: { costUsd: 1 } }), /price/)
    refused(() => codex().with({ limits: { costUsd: 1 } }), /price/)
  })

  test("are taken where it does, or where the price is given", () => {
    const limits = { tokens: 100, costUsd: 1 }
    claude({ limits })
    opencode({ limits })
    codex({ limits, price: { input: 1, output: 10 } })
    codex({ limits, model: "gpt-5.4-mini" })
    for (const name of ["own", "openai/own"]) {
      const prices = { [name]: { input: 1, output: 10 } }
      codex({ limits, model: "own", prices })
      codex({ model: "own", prices }).with({ limits })
      assert.throws(() => codex({ limits, model: "other", prices }), /limits\.costUsd: Codex .*prices/)
    }
    assert.throws(() => claude({ prices: { own: { input: 1 } } } as object), /prices\.own` lacks `output`/)
    assert.throws(() => codex({ price: { output: 1 } } as object), /price` lacks `input`/)
  })

  test("have the cost of tokens by the given prices, if the CLI reports none", async () => {
    await using place = await fakeCliMachine()
    const prices = { "openai/own": { input: 1000, output: 0 } }
    const unpriced = await codex({ ...place.options, model: "own" }).run("say hello")
    assert.equal(unpriced.usage.costUsd, undefined)
    const { usage } = await codex({ ...place.options, model: "own", prices }).run("say hello")
    assert.equal(usage.costUsd, ((usage.input ?? 0) * 1000) / 1e6)
    // The CLI's own figure has precedence.
    const reported = await claude({ ...place.options, prices: { "fake-1": { input: 1000, output: 0 } } }).run(
      "say hello",
    )
    assert.equal(reported.usage.costUsd, 0.01)
  })

  const commands = [1, 2, 3, 4].map((n) => `[[tool:exec_command ${JSON.stringify({ cmd: `echo ${n}` })}]]`).join(" ")

  test("stop Codex between two answers", { skip: requires("codex") }, async () => {
    await using place = await codexMachine()
    const byTokens = await codex({ ...place.options, limits: { tokens: 150 } }).run(commands)
    assert.deepEqual([byTokens.status, byTokens.reason], ["stopped", "tokens"])
    assert.ok(byTokens.cycles < 5, `${byTokens.cycles} answers`)
    const price = { input: 1000, output: 1000 }
    const byCost = await codex({ ...place.options, price, limits: { costUsd: 0.15 } }).run(commands)
    assert.deepEqual([byCost.status, byCost.reason], ["stopped", "cost"])
  })

  test("stop Claude Code between two answers", { skip: requires("claude") }, async () => {
    await using place = await claudeMachine()
    const calls = [1, 2, 3].map((n) => `[[tool:Bash {"command":"echo ${n}","description":"x"}]]`).join(" ")
    const { status, reason, cycles } = await claude({ ...place.options, limits: { tokens: 150 } }).run(calls)
    assert.deepEqual([status, reason, cycles], ["stopped", "tokens", 2])
  })
})

describe("the record of a run with a coding CLI", () => {
  test("names the model and the provider that answered", async () => {
    await using place = await fakeCliMachine()
    const { trajectory } = await claude(place.options).run("say hello")
    const [run] = trajectory.runs
    assert.deepEqual([run?.model, run?.provider], ["fake-1", "claude"])
    const atif = toAtif(trajectory)
    assert.equal(atif.agent.model_name, "fake-1")
    const answer = atif.steps.find((step) => step.source === "agent")
    assert.deepEqual([answer?.model_name, answer?.extra], ["fake-1", { provider: "claude" }])
    assert.deepEqual(answer?.metrics, {
      prompt_tokens: 10,
      completion_tokens: 2,
      cached_tokens: 0,
      cost_usd: 0.01,
    })
  })

  test("names the one that a fallback came to", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 401")
    const { trajectory } = await fallback(claude(place.options), codex(place.options)).run("say hello")
    assert.equal(trajectory.runs[0]?.provider, "codex")
    assert.equal(toAtif(trajectory).steps.at(-1)?.extra?.provider, "codex")
  })

  test("has the tokens of each answer of Claude Code", { skip: requires("claude") }, async () => {
    await using place = await claudeMachine()
    const { trajectory, usage } = await claude(place.options).run('[[tool:Bash {"command":"true","description":"x"}]]')
    const tokens = eventsOfType(trajectory.events, "cycle-end").map((event) => [event.usage.input, event.usage.output])
    assert.deepEqual(tokens, [
      [100, 20],
      [100, 20],
    ])
    const metrics = toAtif(trajectory).steps.flatMap(({ metrics }) => metrics?.prompt_tokens ?? [])
    assert.equal(
      metrics.reduce((sum, each) => sum + each, 0),
      usage.input,
    )
  })

  test("has an incomplete cost where one of several reports none", async () => {
    await using place = await fakeCliMachine()
    await place.tell("claude", "fail 500")
    const { usage } = await fallback(claude(place.options), codex(place.options)).run("say hello")
    assert.equal(usage.costUsd, 0.01)
    assert.equal(usage.complete, false)
  })
})
