import assert from "node:assert/strict"
import { test } from "node:test"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { ModelError } from "../../src/core/errors.ts"
import { type Message, userMessage } from "../../src/core/message.ts"
import { aiSdk } from "../../src/models/ai-sdk.ts"
import type { AiSdkModel } from "../../src/models/ai-sdk-types.ts"
import type { Model, ModelRequest } from "../../src/models/model.ts"
import { type Behaviour, modelServer } from "../fixtures/model-server.ts"
import { collect, failing, textOf } from "./helpers.ts"

const apiKey = "a-key-nobody-must-see"

const providers: Record<string, (url: string) => AiSdkModel> = {
  "OpenAI chat": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat("gpt-5.2"),
  "OpenAI responses": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey })("gpt-5.2"),
  Anthropic: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
  Gemini: (url) => createGoogle({ baseURL: `${url}/v1beta`, apiKey })("gemini-2.5-flash"),
  "a compatible server": (url) =>
    createOpenAICompatible({ name: "loopback", baseURL: `${url}/v1`, apiKey, includeUsage: true })("stone-1"),
}

const request: ModelRequest = {
  system: "Be brief.",
  messages: [userMessage("hi")],
  tools: [{ name: "add", description: "Adds", input: { type: "object", properties: { a: { type: "number" } } } }],
}

const usage = { input: 100, output: 20, cacheRead: 40, reasoning: 7 }
const toolCalls = [{ id: "call_1", name: "add", arguments: '{"a": 1}' }]

for (const [name, provider] of Object.entries(providers)) {
  async function serve(...behaviours: Behaviour[]) {
    const server = await modelServer(...behaviours)
    const model: Model = aiSdk(provider(server.url), { secrets: [apiKey] })
    return { server, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }

  async function failure(behaviour: Behaviour): Promise<ModelError> {
    await using served = await serve(behaviour)
    const { error } = await failing(served.model.stream(request))
    assert.ok(error instanceof ModelError, String(error))
    assert.ok(!error.message.includes(apiKey), "the key is in the message")
    return error
  }

  test(`${name}: text, tool calls and usage arrive`, async () => {
    await using served = await serve({ text: ["Hé", "llo 🪨"], toolCalls, usage })
    const parts = await collect(served.model.stream(request))
    assert.equal(textOf(parts), "Héllo 🪨")
    const call = parts.find((part) => part.type === "tool-call")
    assert.deepEqual([call?.id, call?.name, call?.input], ["call_1", "add", { a: 1 }])
    const last = parts.at(-1)
    assert.ok(last?.type === "finish")
    assert.equal(last.reason, "tool-calls")
    const { input, output, cacheRead, complete } = last.usage
    assert.deepEqual({ input, output, cacheRead, complete }, { input: 100, output: 20, cacheRead: 40, complete: true })
  })

  test(`${name}: an answer cut by its length limit says so`, async () => {
    await using served = await serve({ text: ["Once upon"], finish: "length", usage })
    const last = (await collect(served.model.stream(request))).at(-1)
    assert.equal(last?.type === "finish" && last.reason, "length")
  })

  test(`${name}: characters torn apart between packets come out whole`, async () => {
    await using served = await serve({ text: ["naïve — 石灰岩 🪨"], usage, bytes: 1 })
    assert.equal(textOf(await collect(served.model.stream(request))), "naïve — 石灰岩 🪨")
  })

  test(`${name}: each chunk is given out when it comes, not at the end`, async () => {
    const gates = Array.from({ length: 20 }, () => Promise.withResolvers<void>())
    const opened: number[] = []
    await using served = await serve({
      text: ["one ", "two"],
      usage,
      gate: (event) => {
        opened.push(event)
        return gates[event]?.promise ?? Promise.resolve()
      },
    })
    const parts = served.model.stream(request)[Symbol.asyncIterator]()
    const first = parts.next()
    const open = () => gates[opened.length - 1]?.resolve()
    // Opens one gate after another until the first text arrives. The second text must still be behind a gate.
    let done = false
    first.then(() => {
      done = true
    })
    while (!done) {
      open()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual((await first).value, { type: "text", text: "one " })
    for (const gate of gates) gate.resolve()
    assert.deepEqual((await parts.next()).value, { type: "text", text: "two" })
  })

  test(`${name}: a stream that ends before its finish is a lost connection, to be tried again`, async () => {
    const error = await failure({ text: ["half ", "of ", "an ", "answer"], after: 3, then: "end" })
    assert.deepEqual([error.code, error.retryable], ["connection", true])
    assert.match(error.message, /ended early/)
  })

  test(`${name}: a connection torn down in the middle is a lost connection`, async () => {
    const error = await failure({ text: ["half ", "of ", "an ", "answer"], after: 3, then: "destroy" })
    assert.deepEqual([error.code, error.retryable], ["connection", true])
  })

  test(`${name}: malformed JSON in the stream is an invalid response`, async () => {
    const error = await failure({ text: ["half ", "of ", "an ", "answer"], after: 3, then: "garbage" })
    assert.deepEqual([error.code, error.retryable], ["invalid-response", false])
  })

  test(`${name}: an error the service streams is classified`, async () => {
    const error = await failure({ text: ["x"], after: 2, then: { error: "overloaded_error", message: "Too busy" } })
    assert.deepEqual([error.code, error.retryable], ["overloaded", true])
    assert.match(error.message, /Too busy/)
  })

  test(`${name}: a 429 carries how long the service asks to wait`, async () => {
    const body = {
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down", code: "rate_limit_exceeded" },
    }
    const error = await failure({ status: 429, headers: { "retry-after": "7" }, body })
    assert.deepEqual([error.code, error.retryable, error.status, error.retryAfterMs], ["rate-limited", true, 429, 7000])
  })

  test(`${name}: a 401 is an authentication error that does not repeat the key`, async () => {
    const body = { type: "error", error: { type: "authentication_error", message: `Invalid key ${apiKey}` } }
    const error = await failure({ status: 401, body })
    assert.deepEqual([error.code, error.retryable, error.status], ["authentication", false, 401])
    assert.ok(!JSON.stringify([error, error.cause, error.details, error.stack]).includes(apiKey))
  })

  test(`${name}: 500, 503 and 529 may be tried again, 404 and 413 may not`, async () => {
    const seen: unknown[] = []
    for (const status of [500, 503, 529, 404, 413]) {
      const { code, retryable } = await failure({ status, body: { error: { message: "no" } } })
      seen.push([status, code, retryable])
    }
    assert.deepEqual(seen, [
      [500, "server-error", true],
      [503, "overloaded", true],
      [529, "overloaded", true],
      [404, "not-found", false],
      [413, "context-overflow", false],
    ])
  })

  test(`${name}: a page instead of a stream is an invalid response`, async () => {
    const error = await failure({ status: 200, headers: { "content-type": "text/html" }, body: "<html>Hello</html>" })
    assert.deepEqual([error.code, error.retryable], ["invalid-response", false])
    assert.match(error.message, /text\/html/)
  })

  test(`${name}: aborting while the service is silent throws at once and closes the connection`, async () => {
    await using served = await serve({ hang: true })
    const controller = new AbortController()
    const outcome = failing(served.model.stream({ ...request, signal: controller.signal }))
    const received = await served.server.request(0)
    controller.abort()
    assert.equal(((await outcome).error as Error).name, "AbortError")
    assert.equal(await received.closed, "left")
  })

  test(`${name}: aborting in the middle of an answer closes the connection`, async () => {
    await using served = await serve({ text: ["one", "two", "three", "four"], after: 6 })
    const controller = new AbortController()
    const parts = served.model.stream({ ...request, signal: controller.signal })[Symbol.asyncIterator]()
    assert.equal((await parts.next()).value.type, "text")
    controller.abort()
    await assert.rejects(
      async () => {
        while (!(await parts.next()).done);
      },
      { name: "AbortError" },
    )
    assert.equal(await (await served.server.request(0)).closed, "left")
  })

  test(`${name}: leaving the loop early closes the connection`, async () => {
    await using served = await serve({ text: ["one", "two", "three", "four"], after: 6 })
    for await (const part of served.model.stream(request)) if (part.type === "text") break
    assert.equal(await (await served.server.request(0)).closed, "left")
  })
}

test("nothing listening is a connection error that names the model", async () => {
  const server = await modelServer()
  await server[Symbol.asyncDispose]()
  const provider = createOpenAICompatible({ name: "loopback", baseURL: `${server.url}/v1` })
  const { error } = await failing(aiSdk(provider("stone-1")).stream(request))
  assert.ok(error instanceof ModelError)
  assert.deepEqual([error.code, error.retryable], ["connection", true])
  assert.match(error.message, /^loopback\/stone-1 .*ECONNREFUSED/)
})

test("a chunk with content, finish reason and usage together loses nothing", async () => {
  await using server = await modelServer({ text: ["all ", "at once"], usage, joined: true })
  const provider = createOpenAICompatible({ name: "loopback", baseURL: `${server.url}/v1` })
  const parts = await collect(aiSdk(provider("stone-1")).stream(request))
  assert.equal(textOf(parts), "all at once")
  const last = parts.at(-1)
  assert.deepEqual(last?.type === "finish" && [last.reason, last.usage.input], ["stop", 100])
})

test("an answer without usage stays without it", async () => {
  await using server = await modelServer({ text: ["hello"] })
  const provider = createOpenAICompatible({ name: "loopback", baseURL: `${server.url}/v1` })
  const last = (await collect(aiSdk(provider("stone-1")).stream(request))).at(-1)
  assert.deepEqual(last, { type: "finish", reason: "stop", usage: { complete: false } })
})

test("Anthropic's cache writes are counted, priced and asked for", async () => {
  await using server = await modelServer({ text: ["hello"], usage: { ...usage, cacheWrite: 10 } })
  const model = aiSdk(createAnthropic({ baseURL: `${server.url}/v1`, apiKey })("claude-sonnet-4-5"))
  const last = (await collect(model.stream(request))).at(-1)
  assert.ok(last?.type === "finish")
  assert.deepEqual([last.usage.input, last.usage.cacheRead, last.usage.cacheWrite], [100, 40, 10])
  const dollars = (50 * 3 + 40 * 0.3 + 10 * 3.75 + 20 * 15) / 1e6
  assert.ok(Math.abs((last.usage.costUsd ?? 0) - dollars) < 1e-12)
  assert.deepEqual(server.requests[0]?.body.system[0].cache_control, { type: "ephemeral" })
})

test("Anthropic is asked to cache up to the system prompt, the newest prompt and the end, and nobody else is", async () => {
  await using server = await modelServer({ text: ["a"] }, { text: ["b"] }, { text: ["c"] })
  const said = (text: string): Message => ({ id: text, role: "assistant", parts: [{ type: "text", text }] })
  const messages = [userMessage("one"), said("two"), userMessage("three"), said("four"), userMessage("five", "steer")]
  const claude = createAnthropic({ baseURL: `${server.url}/v1`, apiKey })("claude-sonnet-4-5")
  await collect(aiSdk(claude).stream({ system: "Be brief.", messages }))
  const ttl = { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } }
  await collect(aiSdk(claude, { providerOptions: ttl }).stream({ system: "Be brief.", messages }))
  const [plain, longer] = server.requests.map(({ body }) => body)
  for (const [body, point] of [
    [plain, { type: "ephemeral" }],
    [longer, { type: "ephemeral", ttl: "1h" }],
  ] as const) {
    assert.deepEqual(body.system[0].cache_control, point)
    const points = body.messages.map(
      ({ content }: { content: { cache_control?: unknown }[] }) => content.at(-1)?.cache_control,
    )
    assert.deepEqual(points, [undefined, point, undefined, undefined, point])
  }
  const other = createOpenAICompatible({ name: "loopback", baseURL: `${server.url}/v1` })
  await collect(aiSdk(other("stone-1")).stream({ system: "Be brief.", messages }))
  assert.doesNotMatch(JSON.stringify(server.requests[2]?.body), /cache_control|cacheControl|cachePoint/)
})

test("a cache point is asked of Bedrock in its own words, for models that take one", async () => {
  const prompts: unknown[] = []
  for (const modelId of ["anthropic.claude-sonnet-4-5", "meta.llama4"]) {
    const model = { specificationVersion: "v4", provider: "amazon-bedrock", modelId, doStream }
    async function doStream({ prompt }: { prompt: unknown[] }): Promise<never> {
      prompts.push(prompt[0])
      throw new Error("enough")
    }
    await assert.rejects(collect(aiSdk(model).stream(request)))
  }
  const system = { role: "system", content: request.system }
  assert.deepEqual(prompts, [{ ...system, providerOptions: { bedrock: { cachePoint: { type: "default" } } } }, system])
})

test("Anthropic gets its thinking back, signed, with the tool call it led to", async () => {
  await using server = await modelServer({ reasoning: "I add.", toolCalls, usage }, { text: ["2"], usage })
  const model = aiSdk(createAnthropic({ baseURL: `${server.url}/v1`, apiKey })("claude-sonnet-4-5"))
  await roundTrip(model)
  const [, answer, result] = server.requests[1]?.body.messages ?? []
  assert.deepEqual(answer.content[0], { type: "thinking", thinking: "I add.", signature: "signed" })
  assert.deepEqual([answer.content[1].type, answer.content[1].id], ["tool_use", "call_1"])
  assert.deepEqual(
    [result.role, result.content[0].type, result.content[0].tool_use_id],
    ["user", "tool_result", "call_1"],
  )
})

test("OpenAI gets its reasoning item back with the tool call it led to", async () => {
  await using server = await modelServer({ reasoning: "I add.", toolCalls, usage }, { text: ["2"], usage })
  await roundTrip(aiSdk(createOpenAI({ baseURL: `${server.url}/v1`, apiKey })("gpt-5.2")))
  const types = server.requests[1]?.body.input.map((item: { type?: string; role?: string }) => item.type ?? item.role)
  assert.deepEqual(types, ["developer", "user", "item_reference", "function_call", "function_call_output"])
})

test("Gemini gets its thought signature back with the tool call", async () => {
  await using server = await modelServer({ toolCalls, usage }, { text: ["2"], usage })
  await roundTrip(aiSdk(createGoogle({ baseURL: `${server.url}/v1beta`, apiKey })("gemini-2.5-flash")))
  const call = server.requests[1]?.body.contents[1].parts[0]
  assert.deepEqual([call.functionCall.name, call.thoughtSignature], ["add", "thought"])
})

// Sends a request, folds the answer into a message as an agent does, adds the tool's result and sends another request.
async function roundTrip(model: Model): Promise<void> {
  const parts = await collect(model.stream(request))
  const reasoning = parts.filter((part) => part.type === "reasoning")
  const provider = reasoning.at(-1)?.provider
  const thought = {
    type: "reasoning",
    text: reasoning.map((part) => part.text).join(""),
    ...(provider && { provider }),
  } as const
  const calls = parts.filter((part) => part.type === "tool-call")
  const answer = { id: "m1", role: "assistant", parts: reasoning.length > 0 ? [thought, ...calls] : calls } as const
  const output = { type: "tool-result", id: "call_1", name: "add", ok: true, text: "2" } as const
  const messages = [
    ...request.messages,
    { ...answer, parts: [...answer.parts] },
    { id: "m2", role: "result" as const, parts: [output] },
  ]
  await collect(model.stream({ ...request, messages }))
}
