// The programs and files of docs/configuration.md, each run as it is shown there. configuration-client.test.ts has those
// whose agents run code.
import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "node:test"
import { ConfigError } from "karst"
import { createLocalClient, loadConfig } from "karst/config"
import { configurationProject } from "./configuration-project.ts"
import { modelServices, setVariables } from "./surroundings.ts"

const shown = join(import.meta.dirname, "configuration")

describe("the configuration", () => {
  test("is printed with the origin of each value and without secrets, if it is trusted", async (t) => {
    const folder = await configurationProject(t)
    await assert.rejects(loadConfig(), (error) => error instanceof ConfigError && error.code === "untrusted-config")
    setVariables(t, { KARST_TRUST_CONFIG: "1", KARST_MAX_CYCLES: "7" })
    const printed = t.mock.method(console, "log", () => {})
    await import("./configuration/entries.ts")
    const rows = printed.mock.calls.map((call) => call.arguments)
    const file = join(folder, "karst.config.ts")
    assert.deepEqual(
      rows.find(([key]) => key === "model"),
      ["model", "fast", "project", file, 5],
    )
    assert.deepEqual(rows.find(([key]) => key === "limits.cycles")?.slice(0, 3), ["limits.cycles", 7, "environment"])
    const [, work] = rows.find(([key]) => key === "models.work") ?? []
    assert.deepEqual(work, { id: "groq/llama-3.3-70b-versatile", apiKey: "${WORK_GROQ_KEY}" })
  })

  test("of a model with several endpoints asks the next one if one fails", async (t) => {
    const { asked, requests } = await modelServices(
      t,
      { status: 503 },
      { status: 429 },
      { text: ["Hello."], usage: { input: 1_000_000, output: 1_000_000 } },
    )
    setVariables(t, { KARST_HOME: join(shown, "home"), MOONSHOT_KEY_1: "k1", MOONSHOT_KEY_2: "k2", OWN_KEY: "k3" })
    const config = join(shown, "endpoints/karst.config.ts")
    await using client = await createLocalClient({ config, agents: { helper: { model: "kimi", runtime: "js" } } })
    const { output, usage } = await client.run("Hi")
    assert.deepEqual([output, usage.costUsd], ["Hello.", 3.1])
    assert.deepEqual(asked, [
      "https://api.moonshot.ai/v1/chat/completions",
      "https://api.moonshot.ai/v1/chat/completions",
      "https://llm.example.com/v1/chat/completions",
    ])
    assert.deepEqual(
      requests.map(({ headers, body }) => [headers.authorization, body.model]),
      [1, 2, 3].map((number) => [`Bearer k${number}`, "kimi-k3"]),
    )
  })
})

test("loadAgents returns the agents for an engine", async (t) => {
  await configurationProject(t)
  await modelServices(t, { text: ["To wait."] })
  const printed = t.mock.method(console, "log", () => {})
  await import("./configuration/engine.ts")
  assert.deepEqual(printed.mock.calls[0]?.arguments, ["To wait."])
})
