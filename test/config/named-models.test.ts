import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Config, createLocalClient } from "karst/config"
import { modelServer } from "../fixtures/model-server.ts"

/** Asks an agent that runs on the model of a configuration. */
async function ask(config: Config, env: Record<string, string> = {}): Promise<string> {
  await using client = await createLocalClient({ config: { agents: { ada: { runtime: "js" } }, ...config }, env })
  return client.ask("Hi")
}

describe("a named model", () => {
  test("has its base URL, and its key from the environment", async () => {
    await using server = await modelServer({ text: ["Hello."] })
    const models = {
      fast: { id: "groq/llama", baseURL: `${server.url}/v1`, apiKey: "${MY_KEY}", headers: { "x-team": "${TEAM}" } },
    }
    assert.equal(await ask({ model: "fast", models }, { MY_KEY: "k1", TEAM: "t1" }), "Hello.")
    const [request] = server.requests
    assert.equal(request?.headers.authorization, "Bearer k1")
    assert.equal(request?.headers["x-team"], "t1")
    assert.equal(request?.body.model, "llama")
  })

  test("with several endpoints asks the next one if one fails, each with its own key and id", async () => {
    await using first = await modelServer({ status: 503 }, { status: 503 })
    await using second = await modelServer({ text: ["Hello."] })
    const models = {
      fast: {
        id: "groq/llama",
        endpoints: [
          { baseURL: `${first.url}/v1`, apiKey: "${ONE}" },
          { id: "groq/llama-large", baseURL: `${second.url}/v1`, apiKey: "${TWO}" },
        ],
      },
    }
    assert.equal(await ask({ model: "fast", models }, { ONE: "k1", TWO: "k2" }), "Hello.")
    assert.equal(first.requests[0]?.headers.authorization, "Bearer k1")
    assert.equal(second.requests[0]?.headers.authorization, "Bearer k2")
    assert.equal(second.requests[0]?.body.model, "llama-large")
  })

  test("has the price of its definition", async () => {
    await using server = await modelServer({ text: ["Hello."] })
    const price = { input: 1_000_000, output: 0 }
    const models = { own: { id: `openai-compatible:${server.url}/v1#own`, price } }
    await using client = await createLocalClient({
      config: { model: "own", models, agents: { ada: { runtime: "js" } } },
      env: {},
    })
    const { usage } = await client.run("Hi", { limits: { costUsd: 1e9 } })
    assert.equal(usage.costUsd, usage.input)
  })

  test("whose variable is not set names the model and the variable", async () => {
    const models = { fast: { id: "groq/llama", apiKey: "${NO_SUCH_KEY}" } }
    await assert.rejects(ask({ model: "fast", models }), /The model "fast" needs the environment variable NO_SUCH_KEY/)
  })

  test("is found by its exact name only, and a near name is suggested", async () => {
    const models = { "kimi-k2.5": "moonshot/kimi-k2.5" }
    await assert.rejects(
      ask({ model: "kimi-k2", models }),
      /names the model "kimi-k2", which is neither .* nor an id\. Did you mean "kimi-k2\.5"\? There are: kimi-k2\.5/,
    )
  })

  test("can be an id, of which the key is looked up as usual", async () => {
    await assert.rejects(ask({ model: "groq/llama" }), /The model "groq\/llama" needs an API key.*GROQ_API_KEY/)
  })

  test("is asked for if no one names a model", async () => {
    await assert.rejects(ask({}), /The agent "ada" has no model\. Set `model` in the configuration, or KARST_MODEL/)
  })

  test("of a run replaces the model of the agent", async () => {
    await using server = await modelServer({ text: ["Hello."] })
    const models = { other: `openai-compatible:${server.url}/v1#other` }
    const config = { model: "groq/none", models, agents: { ada: { runtime: "js" as const } } }
    await using client = await createLocalClient({ config, env: {} })
    assert.equal(await client.ask("Hi", { model: "other" }), "Hello.")
  })
})
