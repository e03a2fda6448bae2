// test lane: clis, long
import assert from "node:assert/strict"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { claude, codex, fallback } from "karst/providers"
import { requires } from "../../system.ts"
import { createCliMachine, eventsOfType } from "../cli-machines.ts"

const claudeBench = () =>
  createCliMachine("claude", async (model) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
  }))

const codexBench = () =>
  createCliMachine("codex", async (model, home) => {
    await mkdir(join(home, ".codex"))
    const name = ['model = "gpt-5.2"', 'model_provider = "loopback"', "[model_providers.loopback]", 'name = "loopback"']
    const wire = [`base_url = "${model.url}/v1"`, 'env_key = "LOOPBACK_KEY"', 'wire_api = "responses"']
    await writeFile(join(home, ".codex", "config.toml"), [...name, ...wire, "request_max_retries = 1"].join("\n"))
    return { LOOPBACK_KEY: "none" }
  })

describe("Claude Code and Codex together", { skip: requires("claude", "codex") }, () => {
  test("are a fallback that moves on from a service that cannot be reached, and a handle says with whom it is", async () => {
    await using first = await claudeBench()
    await using second = await codexBench()
    const nowhere = { ...first.options.env, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" }
    const agent = fallback(claude({ ...first.options, env: nowhere }), codex(second.options))
    await using session = await agent.session()
    const result = await session.send("hello")
    assert.equal(result.output, "pong: hello")
    const [change] = eventsOfType(result.trajectory.events, "provider-changed")
    assert.deepEqual([change?.from, change?.to], ["claude", "codex"])
    await using again = await agent.session({ resume: session.handle })
    assert.equal((await again.send("more")).output, "pong: more")
    assert.ok(JSON.stringify(second.model.requests.at(-1)?.body).includes("pong: hello"), "it knows what was said")
  })

  test("tell their health, live with no tools", async () => {
    await using first = await claudeBench()
    await using second = await codexBench()
    const [one, other] = await Promise.all([
      claude(first.options).checkHealth({ live: true }),
      codex(second.options).checkHealth({ live: true }),
    ])
    assert.deepEqual([one.live, one.auth?.state, other.live], [{ ok: true }, "ready", { ok: true }])
    assert.match(one.version ?? "", /^\d+\.\d+/)
    assert.match(other.version ?? "", /^\d+\.\d+/)
    assert.deepEqual([...(await first.processes()), ...(await second.processes())], [])
  })

  test("work for each other: the run of one belongs to the call of the other", async () => {
    await using first = await claudeBench()
    await using second = await codexBench()
    const helper = claude({ ...first.options, name: "helper", description: "Helps." })
    const boss = codex({ ...second.options, tools: [helper] })
    const result = await boss.run('[[tool:mcp__karst:helper {"prompt":"hello"}]]')
    const [end] = eventsOfType(result.trajectory.events, "tool-end")
    assert.deepEqual([end?.ok, end?.text], [true, "pong: hello"])
    const [child] = eventsOfType(result.trajectory.events, "run-start").filter(({ parent }) => parent !== undefined)
    assert.deepEqual([child?.agent, child?.parent, child?.metadata.call], ["helper", result.id, end?.id])
  })
})
