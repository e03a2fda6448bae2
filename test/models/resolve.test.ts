import assert from "node:assert/strict"
import { test } from "node:test"
import { createOpenAI } from "@ai-sdk/openai"
import { ConfigError, MissingPackageError, ModelError } from "../../src/core/errors.ts"
import { userMessage } from "../../src/core/message.ts"
import { compatibleServices } from "../../src/models/compatible-services.ts"
import { resolveModel } from "../../src/models/resolve.ts"
import { modelServer } from "../fixtures/model-server.ts"
import { collect, failing, textOf } from "./helpers.ts"

const request = { system: "Be brief.", messages: [userMessage("hi")] }
const answer = { text: ["hello"], usage: { input: 10, output: 5 } }

test("openai-compatible:<base URL>#<model> needs no key and no table", async () => {
  await using server = await modelServer(answer)
  const model = await resolveModel(`openai-compatible:${server.url}/v1#org/stone-1`, { env: {} })
  assert.equal(textOf(await collect(model.stream(request))), "hello")
  const received = server.requests[0]
  assert.equal(received?.path, "/v1/chat/completions")
  assert.equal(received?.body.model, "org/stone-1")
  assert.deepEqual(received?.body.stream_options, { include_usage: true })
  assert.equal(received?.headers.authorization, undefined)
})

test("openai-compatible takes a key from its own variable", async () => {
  await using server = await modelServer(answer)
  const env = { OPENAI_COMPATIBLE_API_KEY: "own" }
  await collect((await resolveModel(`openai-compatible:${server.url}#m`, { env })).stream(request))
  assert.equal(server.requests[0]?.headers.authorization, "Bearer own")
})

test("a service of the table gets its key from the environment", async () => {
  await using server = await modelServer(answer)
  const env = { GROQ_API_KEY: "from-the-environment" }
  const model = await resolveModel("groq/llama/stone-1", { baseURL: `${server.url}/v1`, env })
  assert.equal(model.id, "groq/llama/stone-1")
  await collect(model.stream(request))
  assert.equal(server.requests[0]?.headers.authorization, "Bearer from-the-environment")
  assert.equal(server.requests[0]?.body.model, "llama/stone-1")
})

test("a key given goes before the environment's, and headers go along", async () => {
  await using server = await modelServer(answer)
  const model = await resolveModel("groq/stone-1", {
    baseURL: `${server.url}/v1`,
    apiKey: "given",
    headers: { "x-team": "karst" },
    env: { GROQ_API_KEY: "from-the-environment" },
  })
  await collect(model.stream(request))
  const headers = server.requests[0]?.headers
  assert.deepEqual([headers?.authorization, headers?.["x-team"]], ["Bearer given", "karst"])
})

test("a second key variable is as good as the first", async () => {
  await using server = await modelServer(answer)
  const env = { DEEPINFRA_TOKEN: "second" }
  await collect((await resolveModel("deepinfra/stone-1", { baseURL: server.url, env })).stream(request))
  assert.equal(server.requests[0]?.headers.authorization, "Bearer second")
})

test("Mistral is not asked for usage it would refuse to be asked for", async () => {
  await using server = await modelServer(answer)
  const model = await resolveModel("mistral/stone-1", { baseURL: server.url, env: { MISTRAL_API_KEY: "k" } })
  await collect(model.stream(request))
  assert.equal(server.requests[0]?.body.stream_options, undefined)
})

const packaged = [
  ["openai/gpt-5.2", "OPENAI_API_KEY", "authorization", "/v1/responses"],
  ["anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY", "x-api-key", "/v1/messages"],
  [
    "google/gemini-2.5-flash",
    "GEMINI_API_KEY",
    "x-goog-api-key",
    "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
  ],
] as const

for (const [id, variable, header, path] of packaged) {
  test(`${id} comes from its installed package, with the key in ${variable}`, async () => {
    await using server = await modelServer(answer)
    const model = await resolveModel(id, { baseURL: `${server.url}/v1`, env: { [variable]: "the-key" } })
    assert.equal(model.id, id)
    assert.ok(model.price && model.contextWindow)
    const parts = await collect(model.stream(request))
    assert.equal(textOf(parts), "hello")
    const last = parts.at(-1)
    assert.ok(last?.type === "finish" && (last.usage.costUsd ?? 0) > 0)
    assert.equal(server.requests[0]?.path, path)
    assert.match(String(server.requests[0]?.headers[header]), /the-key/)
  })

  test(`${id} without a key names the variable to set`, async () => {
    await assert.rejects(resolveModel(id, { env: {} }), (error) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.code, "missing-key")
      assert.match(error.message, new RegExp(`"${id}" needs an API key`))
      assert.match(error.message, new RegExp(`${variable}.* pass apiKey`))
      return true
    })
  })
}

test("every service that needs a key says which one when it is missing", async () => {
  for (const [name, service] of Object.entries(compatibleServices)) {
    if (service.keys.length === 0) continue
    await assert.rejects(resolveModel(`${name}/m`, { env: {} }), new RegExp(String(service.keys[0])))
  }
})

test("a credential in one's own headers is enough", async () => {
  await using server = await modelServer(answer)
  const headers = { Authorization: "Bearer mine" }
  await collect((await resolveModel("groq/stone-1", { baseURL: server.url, headers, env: {} })).stream(request))
  assert.equal(server.requests[0]?.headers.authorization, "Bearer mine")
})

test("a package that is not installed is named with the command that installs it", async () => {
  await assert.rejects(resolveModel("cohere/command-a", { env: {} }), (error) => {
    assert.ok(error instanceof MissingPackageError)
    assert.match(error.message, /@ai-sdk\/cohere.*"cohere\/command-a".*npm install @ai-sdk\/cohere/)
    return true
  })
})

test("a misspelt provider gets the near names, an unknown one the list", async () => {
  await assert.rejects(
    resolveModel("antropic/claude", { env: {} }),
    /Unknown provider "antropic".*Did you mean anthropic\?/,
  )
  await assert.rejects(resolveModel("gorq/llama", { env: {} }), /Did you mean groq\?/)
  await assert.rejects(
    resolveModel("basalt/large", { env: {} }),
    /Known: .*anthropic.*ollama.*Or install its AI SDK package: npm install @ai-sdk\/basalt/,
  )
})

test("names that could leave the package folder are refused", async () => {
  for (const id of ["../evil/m", "constructor/m", "__proto__/m"]) {
    await assert.rejects(resolveModel(id, { env: {} }), ConfigError)
  }
})

test("an id without a provider says how to write it", async () => {
  await assert.rejects(resolveModel("gpt-5.2"), /"gpt-5.2" is not a model id.*"openai\/gpt-5.2"/)
  await assert.rejects(resolveModel("claude-sonnet-4-5"), /"anthropic\/claude-sonnet-4-5"/)
  await assert.rejects(resolveModel(""), /provider\/model/)
  await assert.rejects(resolveModel("openai/"), /provider\/model/)
})

test("a base URL that is none is refused", async () => {
  await assert.rejects(resolveModel("openai-compatible:localhost:8080/v1#m"), /"localhost:8080\/v1" is not a base URL/)
  await assert.rejects(
    resolveModel("openai/gpt-5.2", { baseURL: "https://", apiKey: "k" }),
    /"https:\/\/" is not a base URL/,
  )
})

test("a base URL with a password is refused without showing it", async () => {
  for (const [id, baseURL] of [
    ["openai-compatible:https://ada:s3cret@host/v1#m", undefined],
    ["openai/gpt-5", "https://s3cret@host/v1"],
    ["openai-compatible:ftp://ada:s3cret@host/v1#m", undefined],
  ] as const) {
    await assert.rejects(resolveModel(id, { baseURL, apiKey: "k" }), (error: Error) => {
      assert.ok(error instanceof ConfigError)
      assert.doesNotMatch(error.message, /s3cret/)
      assert.match(error.message, /base URL/)
      return true
    })
  }
})

test("a ready provider is used, as a function or by its languageModel method", async () => {
  await using server = await modelServer(answer, answer)
  const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "k" })
  assert.equal(
    textOf(await collect((await resolveModel("mine/gpt-5.2", { provider, env: {} })).stream(request))),
    "hello",
  )
  const languageModel = (name: string) => provider.chat(name)
  await collect((await resolveModel("gpt-5.2", { provider: { languageModel }, env: {} })).stream(request))
  assert.deepEqual(
    server.requests.map(({ path, body }) => [path, body.model]),
    [
      ["/v1/responses", "gpt-5.2"],
      ["/v1/chat/completions", "gpt-5.2"],
    ],
  )
})

test("a fetch of one's own is used", async () => {
  const urls: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    urls.push(String(input))
    return new Response("no", { status: 404 })
  }
  const model = await resolveModel("ollama/stone-1", { fetch, env: {} })
  const { error } = await failing(model.stream(request))
  assert.deepEqual(urls, ["http://127.0.0.1:11434/v1/chat/completions"])
  assert.equal(error instanceof ModelError && error.code, "not-found")
})

test("a resolved model tries again by itself", async () => {
  await using server = await modelServer({ status: 503 }, { status: 429, headers: { "retry-after": "3" } }, answer)
  const delays: number[] = []
  const sleep = async (ms: number) => {
    delays.push(ms)
  }
  const model = await resolveModel(`openai-compatible:${server.url}#m`, { retry: { sleep, random: () => 0 } })
  assert.equal(textOf(await collect(model.stream(request))), "hello")
  assert.deepEqual(delays, [500, 3000])
})

test("a resolved model gives up on silence, later on one's own machine, which may have to load a model", async () => {
  const waited: number[] = []
  const schedule = (callback: () => void, ms: number) => {
    waited.push(ms)
    queueMicrotask(callback)
    return () => {}
  }
  const fetch = () => new Promise<Response>(() => {})
  for (const id of ["groq/stone-1", "ollama/stone-1"]) {
    const model = await resolveModel(id, { retry: false, timeouts: { schedule }, fetch, apiKey: "k" })
    const { error } = await failing(model.stream(request))
    assert.equal(error instanceof ModelError && error.code, "timeout")
  }
  assert.deepEqual(waited, [60_000, 300_000])
})

test("the key never shows in an error of the service", async () => {
  const apiKey = "plain-looking-secret"
  await using server = await modelServer({ status: 401, body: { error: { message: `Bad key ${apiKey}` } } })
  const model = await resolveModel("groq/stone-1", { baseURL: server.url, apiKey })
  const { error } = await failing(model.stream(request))
  assert.match(String(error), /Bad key \[key\]/)
})

test("price and window may be given", async () => {
  const model = await resolveModel("ollama/stone-1", { price: { input: 0, output: 0 }, contextWindow: 32_768, env: {} })
  assert.deepEqual([model.price, model.contextWindow], [{ input: 0, output: 0 }, 32_768])
})
