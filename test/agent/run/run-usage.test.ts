import assert from "node:assert/strict"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, test } from "node:test"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { ModelError } from "../../../src/core/errors.ts"
import { trajectory } from "../../../src/core/trajectory.ts"
import { noUsage } from "../../../src/core/usage.ts"
import { aiSdk } from "../../../src/models/ai-sdk.ts"
import type { AiSdkModel } from "../../../src/models/ai-sdk-types.ts"
import type { Model } from "../../../src/models/model.ts"
import { withRetry } from "../../../src/models/retry.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { modelServer } from "../../fixtures/model-server.ts"

const usage = { input: 100, output: 20, complete: true }
const refused = () => new ModelError("Connection refused.", { code: "connection", retryable: true })

const apiKey = "key"
const providers: Record<string, (url: string) => AiSdkModel> = {
  "OpenAI chat": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat("gpt-5.2"),
  "OpenAI responses": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey })("gpt-5.2"),
  Anthropic: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
  Gemini: (url) => createGoogle({ baseURL: `${url}/v1beta`, apiKey })("gemini-2.5-flash"),
  "a compatible server": (url) =>
    createOpenAICompatible({ name: "loopback", baseURL: `${url}/v1`, apiKey, includeUsage: true })("stone-1"),
}

describe("usage that the provider does not report", () => {
  for (const [name, provider] of Object.entries(providers)) {
    test(`is unknown and not 0: ${name}`, async () => {
      await using server = await modelServer({ text: ["A fairly short answer."] })
      const parts = await Array.fromAsync(aiSdk(provider(server.url)).stream({ system: "", messages: [] }))
      const last = parts.at(-1)
      assert.deepEqual(last?.type === "finish" && last.usage, { complete: false })
    })
  }

  test("is unknown where a server sends an empty or a partial object of counts", async () => {
    for (const [sent, known] of [
      ["{}", {}],
      ['{"total_tokens":9}', {}],
      ['{"completion_tokens":5}', { output: 5 }],
      ['{"prompt_tokens":7}', { input: 7 }],
    ] as const) {
      await using server = await chatServer(sent)
      const provider = createOpenAICompatible({ name: "loopback", baseURL: server.url, apiKey })
      const parts = await Array.fromAsync(aiSdk(provider("stone-1")).stream({ system: "", messages: [] }))
      const last = parts.at(-1)
      assert.ok(last?.type === "finish")
      const { input, output, complete } = last.usage
      assert.deepEqual({ input, output, complete }, { input: undefined, output: undefined, ...known, complete: false })
    }
  })

  test("makes the sum of a run incomplete", async () => {
    const model = scriptedModel([
      [
        { type: "text", text: "```ts\n1\n```\n" },
        { type: "finish", reason: "stop", usage },
      ],
      "Done.",
    ])
    const result = await createAgent({ model }).run("go")
    assert.equal(result.usage.complete, false)
  })
})

describe("a request that was not answered", () => {
  test("counts no tokens: connection refused", async () => {
    const agent = createAgent({ model: scriptedModel([refused()]), tools: [], noTool: "answer" })
    const result = await agent.run("go").settled
    assert.equal(result.status, "failed")
    assert.deepEqual(result.usage, noUsage)
  })

  test("counts no tokens: aborted before the first part", async () => {
    const asked = Promise.withResolvers<void>()
    const model: Model = {
      id: "silent",
      async *stream({ signal }) {
        asked.resolve()
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
        yield { type: "text", text: "never" }
      },
    }
    const run = createAgent({ model, tools: [], noTool: "answer" }).run("go")
    await asked.promise
    run.abort()
    assert.deepEqual((await run.settled).usage, noUsage)
  })

  test("counts no tokens when a retry is answered", async () => {
    const model = withRetry(
      scriptedModel([
        refused(),
        refused(),
        [
          { type: "text", text: "Done." },
          { type: "finish", reason: "stop", usage },
        ],
      ]),
      { sleep: async () => undefined },
    )
    const result = await createAgent({ model, tools: [], noTool: "answer" }).run("go")
    assert.deepEqual(result.usage, usage)
  })

  test("counts no tokens in a compaction", async () => {
    const model = scriptedModel(
      [...Array.from({ length: 14 }, (_, index) => `\`\`\`ts\n"x".repeat(2000) + ${index}\n\`\`\`\n`), "Done."].map(
        (text) => [
          { type: "text" as const, text },
          { type: "finish" as const, reason: "stop" as const, usage: { ...usage, input: 4600 } },
        ],
      ),
      { contextWindow: 5000 },
    )
    const summariser = scriptedModel(() => [refused()])
    const memory = { model: summariser }
    const result = await createAgent({ model, memory, limits: { cycles: 20 } }).run("go")
    assert.equal(result.status, "done")
    assert.ok(summariser.requests.length > 0)
    assert.deepEqual(result.usage, { input: 15 * 4600, output: 300, complete: true })
  })

  test("is told apart from an answer that broke off, whose tokens are estimated", async () => {
    const model = scriptedModel([[{ type: "reasoning", text: "Let me think." }, new Error("broken")]])
    const { usage } = await createAgent({ model, tools: [], noTool: "answer" }).run("go").settled
    assert.equal(usage.complete, false)
    assert.ok((usage.input ?? 0) > 0)
  })
})

test("the sum of a record is incomplete while one of its runs has no end", async () => {
  const model = scriptedModel(["```ts\n1\n```\n", "Done."], { usage })
  const { trajectory: record } = await createAgent({ model }).run("go")
  assert.equal(record.usage.complete, true)
  const cut = trajectory(record.events.filter(({ type }) => type !== "run-end"))
  assert.deepEqual(cut.usage, { input: 200, output: 40, complete: false })
})

async function chatServer(usageText: string) {
  const chunk = (delta: object, finish: string | null, more = "") =>
    `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]${more}}\n\n`
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(
      `${chunk({ role: "assistant", content: "hello" }, null)}${chunk({}, "stop", `,"usage":${usageText}`)}data: [DONE]\n\n`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
