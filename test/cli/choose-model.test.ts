import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import { chooseModel } from "../../src/cli/run/choose-model.ts"
import { type Config, loadConfig } from "../../src/config.ts"

describe("the model of a command", () => {
  const before = { ...process.env }
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (/_(?:KEY|TOKEN)$/.test(name)) delete process.env[name]
  })
  afterEach(() => {
    process.env = { ...before }
  })

  const chosen = async (requested?: string, config: Config = {}) =>
    (await chooseModel(requested, await loadConfig({ config, env: {} }), undefined)).id

  test("is that of the first provider whose key is in the environment", async () => {
    process.env.MISTRAL_API_KEY = "k"
    assert.match(await chosen(), /^mistral\//)
    process.env.ANTHROPIC_API_KEY = "k"
    assert.match(await chosen(), /^anthropic/)
    process.env.OPENAI_API_KEY = "k"
    assert.match(await chosen(), /^openai/)
  })

  test("must be named if the provider whose key is set has no default model", async () => {
    process.env.GROQ_API_KEY = "k"
    await assert.rejects(chosen(), /GROQ_API_KEY is set, but .*Name one: --model groq\/<model>/)
    delete process.env.GROQ_API_KEY
    await assert.rejects(chosen(), /no provider's key is in the environment/)
  })

  test("is the configuration's before that, and the one that was named before both", async () => {
    process.env.OPENAI_API_KEY = "k"
    process.env.MISTRAL_API_KEY = "k"
    const config = { model: "mistral/mistral-large-2512" }
    assert.match(await chosen(undefined, config), /^mistral\//)
    assert.match(await chosen("openai/gpt-5.2", config), /^openai/)
  })
})
