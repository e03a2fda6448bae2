// The programs of docs/models.md, each run as it is shown there.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { readFile, rename, writeFile } from "node:fs/promises"
import { describe, test } from "node:test"

// #region sources
import { openai } from "@ai-sdk/openai"
import { createAgent } from "karst"
import { resolveModel } from "karst/models"
// #endregion

// #region without
import { handModel, recordModel, replayModel, scriptedModel } from "karst/models"
// #endregion

// #region own
import { messageText } from "karst"
import type { Model } from "karst/models"
// #endregion

import { jsRuntime } from "karst"
import { until } from "../waiting.ts"
import { modelServices, setVariables, workIn } from "./surroundings.ts"

describe("an agent's model", () => {
  test("is an AI SDK model, an id that is resolved at first use, or a resolved model with a price", async (t) => {
    const usage = { input: 1_000_000, output: 100_000 }
    const { asked } = await modelServices(t, { text: ["One."] }, { text: ["Two."] }, { text: ["Three."], usage })
    setVariables(t, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: undefined })
    // #region sources
    const fromSdk = createAgent({ model: openai("gpt-5.2") }) // an AI SDK language model (specification V4 or V3)
    const byId = createAgent({ model: "anthropic/claude-sonnet-4-5" }) // an id, resolved at first use
    const resolved = await resolveModel("openai/gpt-5.2", { price: { input: 1.25, output: 10 } })
    const priced = createAgent({ model: resolved })
    // #endregion
    assert.equal((await fromSdk.run("Hi")).output, "One.")
    await assert.rejects(Promise.resolve(byId.run("Hi")), /needs an API key.*ANTHROPIC_API_KEY/)
    process.env.ANTHROPIC_API_KEY = "k"
    assert.equal((await byId.run("Hi")).output, "Two.")
    const result = await priced.run("Hi")
    assert.deepEqual([result.output, result.usage.costUsd], ["Three.", 2.25])
    assert.deepEqual(asked, [
      "https://api.openai.com/v1/responses",
      "https://api.anthropic.com/v1/messages",
      "https://api.openai.com/v1/responses",
    ])
  })

  test("with several endpoints is asked at the next one if one fails, and where it answered last", async (t) => {
    const { asked, requests } = await modelServices(
      t,
      { status: 503 },
      { status: 401 },
      { text: ["Hello."] },
      { text: ["Again."] },
    )
    setVariables(t, { OPENAI_KEY_1: "k1", OPENAI_KEY_2: "k2", MIRROR_KEY: "k3" })
    const { model } = await import("./models/endpoints.ts")
    const agent = createAgent({ model })
    const first = await agent.run("Hi")
    assert.equal(first.output, "Hello.")
    const warnings = first.trajectory.events.filter(({ type }) => type === "warning-raised")
    assert.match(JSON.stringify(warnings), /endpoint-changed/)
    assert.equal((await agent.run("And?")).output, "Again.")
    assert.deepEqual(
      requests.map(({ headers }) => headers.authorization),
      ["Bearer k1", "Bearer k2", "Bearer k3", "Bearer k3"],
    )
    assert.equal(asked.at(-1), "https://mirror.example/v1/chat/completions")
  })

  test("can be scripted, recorded, replayed and played by hand", async (t) => {
    await workIn(t)
    const model = scriptedModel(["Recorded."])
    // #region without
    // returns the given answers
    const scripted = scriptedModel(["Let me look.\n```ts\nlight.brightness\n```\n", "It is at 20 %."])

    const recorded = recordModel(model, "run.jsonl") // records every call in a new file
    await createAgent({ model: recorded }).run("How bright is the light?")
    const replayed = replayModel("run.jsonl", { delayMs: 20 }) // returns the recorded answers

    const hand = handModel({ dir: "hand" }) // answers that a person writes
    // #endregion
    const light = { brightness: 20 }
    const agent = createAgent({ model: scripted, runtime: jsRuntime({ light }) })
    const result = await agent.run("How bright is the light?")
    assert.equal(result.output, "It is at 20 %.")
    assert.match(JSON.stringify(scripted.requests.at(-1)?.messages), /20/)
    assert.equal((await createAgent({ model: replayed }).run("How bright is the light?")).output, "Recorded.")
    const run = createAgent({ model: hand }).run("How bright is the light?")
    await until(() => existsSync("hand/0001-request.md"))
    assert.match(await readFile("hand/0001-request.md", "utf8"), /How bright is the light\?/)
    await writeFile("hand/part", "It is dark.")
    await rename("hand/part", "hand/0001-answer.md")
    assert.equal((await run).output, "It is dark.")
  })

  test("can be an object of your own with one method", async () => {
    // #region own
    const echo: Model = {
      id: "example/echo",
      async *stream({ messages }) {
        const prompt = messages.findLast((message) => message.role === "user")
        yield { type: "text", text: prompt ? messageText(prompt) : "" }
        yield { type: "finish", reason: "stop", usage: { complete: false } }
      },
    }
    // #endregion
    assert.match((await createAgent({ model: echo }).run("Is anybody there?")).output, /Is anybody there\?/)
    let asked = 0
    const cutOff: Model = {
      id: "example/cut-off",
      async *stream() {
        asked += 1
        yield { type: "text", text: "Half" }
        if (asked === 2) yield { type: "finish", reason: "stop", usage: { complete: false } }
      },
    }
    assert.equal((await createAgent({ model: cutOff }).run("Hi")).output, "HalfHalf")
  })
})
