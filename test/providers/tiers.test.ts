// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { claude } from "karst/providers"
import { knownProviders } from "../../src/providers/coding-agent.ts"
import { tierModel } from "../../src/providers/tiers.ts"

const provider = (name: string) => knownProviders.find((each) => each.name === name) ?? assert.fail(name)

describe("the model of a tier", () => {
  test("is that of the CLI's variable, else of the settings, else the CLI's usual one", () => {
    const settings = { claude: { fast: "sonnet" } }
    const env = { ANTHROPIC_SMALL_FAST_MODEL: "haiku-9" }
    assert.deepEqual(tierModel(provider("claude"), "fast", settings, env), {
      id: "haiku-9",
      source: "environment",
      variable: "ANTHROPIC_SMALL_FAST_MODEL",
    })
    assert.deepEqual(tierModel(provider("claude"), "fast", settings, {}), { id: "sonnet", source: "setting" })
    assert.deepEqual(tierModel(provider("claude"), "fast", {}, {}), { id: "haiku", source: "default" })
    assert.deepEqual(tierModel(provider("claude"), "strongest", settings, env), { id: "opus", source: "default" })
  })

  test("counts an empty variable as absent, and a variable with the usual model as set", () => {
    const settings = { claude: { fast: "sonnet" } }
    const empty = { ANTHROPIC_SMALL_FAST_MODEL: "" }
    assert.equal(tierModel(provider("claude"), "fast", settings, empty).id, "sonnet")
    const usual = { ANTHROPIC_SMALL_FAST_MODEL: "haiku" }
    assert.equal(tierModel(provider("claude"), "fast", settings, usual).source, "environment")
  })

  test("is the CLI's own if nothing names one, and belongs to one CLI", () => {
    const settings = { claude: { strongest: "opus-9" } }
    assert.equal(tierModel(provider("codex"), "strongest", settings, {}).id, undefined)
    assert.equal(tierModel(provider("opencode"), "fast", {}, { OPENCODE_SMALL_FAST_MODEL: "a/b" }).id, "a/b")
  })

  test("in options is checked", () => {
    assert.throws(() => claude({ tiers: { claude: { fastest: "x" } } as never }), /`tiers\.claude\.fastest`|fastest/)
  })
})
