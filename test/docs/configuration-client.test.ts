// test lane: runtimes, long
// The programs and files of docs/configuration.md whose agents run code, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createLocalClient } from "karst/config"
import { testProject } from "../config/project-folder.ts"
import { requires } from "../system.ts"
import { configurationProject } from "./configuration-project.ts"
import { modelServices, workIn } from "./surroundings.ts"

describe("a client of the configuration", () => {
  test("asks the default agent and another one by its name, each on its model", {
    skip: requires("python"),
  }, async (t) => {
    await configurationProject(t)
    const { asked, requests } = await modelServices(
      t,
      { text: ["```python\nsorted([3, 9, 4])[1]\n```"] },
      { text: ["It is 4."] },
      { toolCalls: [{ id: "1", name: "read_file", arguments: '{"path":"decisions.md"}' }] },
      { text: ["To wait."] },
    )
    const printed = t.mock.method(console, "log", () => {})
    await import("./configuration/ask.ts")
    assert.deepEqual(
      printed.mock.calls.map((call) => call.arguments),
      [["It is 4."], ["To wait."]],
    )
    const [groq, openai] = ["https://api.groq.com/openai/v1/chat/completions", "https://api.openai.com/v1/responses"]
    assert.deepEqual(asked, [groq, groq, openai, openai])
    assert.deepEqual(
      requests.map(({ headers, body }) => [headers.authorization, body.model]),
      [
        ["Bearer groq-key", "llama-3.3-70b-versatile"],
        ["Bearer groq-key", "llama-3.3-70b-versatile"],
        ["Bearer openai-key", "gpt-5-mini"],
        ["Bearer openai-key", "gpt-5-mini"],
      ],
    )
    assert.match(JSON.stringify(requests[0]?.body), /Answer with numbers\./)
    assert.match(JSON.stringify(requests[3]?.body), /We decided to wait\./)
  })

  test("finds an agent in Markdown, with its model, instructions and limits", async (t) => {
    const endless = Array.from({ length: 6 }, () => ({ text: ["```ts\n1\n```"] }))
    const { requests } = await modelServices(t, { text: ["One, two, three."] }, ...endless)
    const { folder, env } = await testProject(t, {
      "project/karst.config.json": { models: { fast: "groq/small", slow: "groq/large" }, model: "slow" },
      "project/.karst/agents/reviewer.md": await readFile(
        join(import.meta.dirname, "configuration/reviewer.md"),
        "utf8",
      ),
    })
    await using client = await createLocalClient({ cwd: folder, env: { ...env, GROQ_API_KEY: "k" } })
    assert.deepEqual(client.diagnostics(), [])
    assert.deepEqual(
      client.agents().map(({ name, description }) => [name, description]),
      [["reviewer", "Reviews a text"]],
    )
    assert.equal(await client.ask("Review it"), "One, two, three.")
    const [request] = requests
    assert.deepEqual([request?.body.model, request?.body.temperature, request?.body.max_tokens], ["small", 0.2, 2000])
    assert.match(JSON.stringify(request?.body), /Name the three weakest sentences\./)
    assert.deepEqual([(await client.run("Go on")).status, requests.length], ["stopped", 6])
  })

  test("runs an agent that is defined for one run", async (t) => {
    await configurationProject(t)
    const { requests } = await modelServices(t, { text: ["In short: yes."] })
    const printed = t.mock.method(console, "log", () => {})
    await import("./configuration/inline.ts")
    assert.deepEqual(printed.mock.calls[0]?.arguments, ["In short: yes."])
    assert.deepEqual([requests.length, requests[0]?.body.model], [1, "gpt-5-mini"])
    assert.match(JSON.stringify(requests[0]?.body), /Be brief\.[\s\S]*Say it in one line\./)
  })

  test("uses the settings of vv-agent", async (t) => {
    const settings = `LLM_SETTINGS = {
    "endpoints": [
        {"id": "moon", "api_key": "sk-1", "api_base": "https://moon.example/v1"},
        {"id": "azure", "api_key": "k", "api_base": "https://host", "endpoint_type": "openai_azure"},
    ],
    "backends": {"moonshot": {"models": {"kimi-k2.5": {"id": "kimi-latest", "endpoints": ["moon"]}}}},
}
`
    await workIn(t, { "local_settings.py": settings })
    const { asked, requests } = await modelServices(t, { text: ["Kimi."] })
    const [printed, warned] = [t.mock.method(console, "log", () => {}), t.mock.method(console, "warn", () => {})]
    await import("./configuration/settings.ts")
    assert.deepEqual(printed.mock.calls[0]?.arguments, ["Kimi."])
    assert.match(String(warned.mock.calls[0]?.arguments), /"azure" is left out/)
    assert.deepEqual(asked, ["https://moon.example/v1/chat/completions"])
    assert.deepEqual([requests[0]?.headers.authorization, requests[0]?.body.model], ["Bearer sk-1", "kimi-latest"])
  })
})
