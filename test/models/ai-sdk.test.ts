import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV3, LanguageModelV3Prompt, LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import { type AssistantMessage, type Message, userMessage } from "../../src/core/message.ts"
import { aiSdk } from "../../src/models/ai-sdk.ts"
import type { AiSdkCall, AiSdkModel, PromptMessage } from "../../src/models/ai-sdk-types.ts"
import type { ModelRequest } from "../../src/models/model.ts"
import { collect, failing, settle, textOf } from "./helpers.ts"

const done = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} }

/** An AI SDK model that streams these parts and records its calls. */
function fake(parts: readonly unknown[] = [done], over: Partial<AiSdkModel> = {}) {
  const calls: AiSdkCall[] = []
  const model: AiSdkModel = {
    specificationVersion: "v4",
    provider: "acme.chat",
    modelId: "stone-1",
    async doStream(call) {
      calls.push(call)
      return { stream: ReadableStream.from(parts) }
    },
    ...over,
  }
  return { model, calls }
}

async function promptFor(messages: Message[], over: Partial<AiSdkModel> = {}, request: Partial<ModelRequest> = {}) {
  const { model, calls } = fake([done], over)
  await collect(aiSdk(model).stream({ system: "", messages, ...request }))
  // We send a PromptMessage[]; the AI SDK's types are checked below.
  return calls[0]?.prompt as PromptMessage[]
}

function assistant(...parts: AssistantMessage["parts"]): AssistantMessage {
  return { id: "a1", role: "assistant", parts }
}

const call = { type: "tool-call", id: "c1", name: "add", input: { a: 1 } } as const
const code = { type: "code", id: "x1", tag: "ts", code: "1 + 1", closed: true } as const

test("the AI SDK's own model types fit without a cast", () => {
  const accept = (model: AiSdkModel) => model
  const v4 = (model: LanguageModelV4): AiSdkModel => accept(model)
  const v3 = (model: LanguageModelV3): AiSdkModel => accept(model)
  assert.equal(typeof v4, typeof v3)
})

test("what is sent has the shape the specifications ask for", async () => {
  const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const
  const messages: Message[] = [userMessage([{ type: "text", text: "see" }, image]), assistant(call)]
  const sent = await promptFor(messages, {}, { system: "Be brief." })
  const v4: LanguageModelV4Prompt = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } },
      ],
    },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 } }] },
  ]
  assert.deepEqual(sent, v4)
})

test("a V3 model gets images the way V3 wants them", async () => {
  const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const
  const linked = { type: "image", mediaType: "image/png", data: "https://example.org/cave.png" } as const
  const sent = await promptFor([userMessage([image, linked])], { specificationVersion: "v3" })
  const v3: LanguageModelV3Prompt = [
    {
      role: "user",
      content: [
        { type: "file", mediaType: "image/png", data: "aGk=" },
        { type: "file", mediaType: "image/png", data: new URL("https://example.org/cave.png") },
      ],
    },
  ]
  assert.deepEqual(sent, v3)
})

test("an image by URL stays a URL for a V4 model", async () => {
  const linked = { type: "image", mediaType: "image/png", data: "https://example.org/cave.png" } as const
  const [message] = await promptFor([userMessage([linked])])
  assert.deepEqual(message?.content, [
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/cave.png") } },
  ])
})

for (const version of ["v2", "v5", undefined]) {
  test(`a model of specification ${version} is refused with what is accepted`, () => {
    const { model } = fake([], { specificationVersion: version as string })
    assert.throws(
      () => aiSdk(model),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, /"v4" and "v3"/)
        assert.match(error.message, version ? new RegExp(`"${version}"`) : /something else/)
        return true
      },
    )
  })
}

test("code goes out as the fenced text the model wrote", async () => {
  const [, answer] = await promptFor([userMessage("add"), assistant({ type: "text", text: "So:" }, code)])
  assert.deepEqual(answer?.content, [{ type: "text", text: "So:\n```ts\n1 + 1\n```" }])
})

test("a cell's result is a user's text, and joins what the user says next", async () => {
  const result: Message = { id: "r1", role: "result", parts: [{ type: "code-result", id: "x1", ok: true, text: "2" }] }
  const prompt = await promptFor([userMessage("add"), assistant(code), result, userMessage("and?", "steer")])
  assert.deepEqual(
    prompt.map((message) => message.role),
    ["user", "assistant", "user"],
  )
  assert.deepEqual(prompt[2]?.content, [{ type: "text", text: "2\n\nand?" }])
})

test("results of parallel calls come straight after the calls, what else came in between after them", async () => {
  const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const
  const first: Message = {
    id: "r1",
    role: "result",
    parts: [{ type: "tool-result", id: "c1", name: "add", ok: true, text: "2" }, image],
  }
  const second: Message = {
    id: "r2",
    role: "result",
    parts: [{ type: "tool-result", id: "c2", name: "add", ok: false, text: "no" }],
  }
  const prompt = await promptFor([
    userMessage("add"),
    assistant(call, { ...call, id: "c2" }),
    first,
    userMessage("hurry", "steer"),
    second,
  ])
  assert.deepEqual(
    prompt.map((message) => message.role),
    ["user", "assistant", "tool", "user"],
  )
  assert.deepEqual(prompt[2]?.content, [
    { type: "tool-result", toolCallId: "c1", toolName: "add", output: { type: "text", value: "2" } },
    { type: "tool-result", toolCallId: "c2", toolName: "add", output: { type: "error-text", value: "no" } },
  ])
  assert.deepEqual(prompt[3]?.content.length, 2)
})

test("two answers in a row become one, and an empty one disappears", async () => {
  const prompt = await promptFor([
    userMessage("go"),
    assistant({ type: "text", text: "one" }),
    assistant({ type: "text", text: "" }),
    assistant({ type: "text", text: "two" }),
  ])
  assert.deepEqual(
    prompt.map((message) => message.role),
    ["user", "assistant"],
  )
  assert.equal(prompt[1]?.content.length, 2)
})

test("lone surrogates are replaced everywhere before they are sent", async () => {
  const lone = "a\ud800b"
  const prompt = await promptFor(
    [
      { id: "u", role: "user", origin: "prompt", parts: [{ type: "text", text: lone }] },
      assistant({ type: "text", text: lone }, { ...call, input: { [lone]: [lone] } }),
      { id: "r", role: "result", parts: [{ type: "tool-result", id: "c1", name: "add", ok: true, text: lone }] },
    ],
    {},
    { system: lone },
  )
  const sent = JSON.stringify(prompt)
  assert.ok(!sent.includes("\\ud800"))
  assert.equal(sent.split("a\ufffdb").length - 1, 6)
})

test("what a model wrote instead of an object goes back inside one", async () => {
  const [, answer] = await promptFor([userMessage("go"), assistant({ ...call, input: '{"a": 1' })])
  assert.deepEqual(answer?.content[0], {
    type: "tool-call",
    toolCallId: "c1",
    toolName: "add",
    input: { raw: '{"a": 1' },
  })
})

test("reasoning goes back with a call, and not with a mere text", async () => {
  const thought = { type: "reasoning", text: "hm", provider: { acme: { signature: "s" } } } as const
  const [, withCall] = await promptFor([userMessage("go"), assistant(thought, call)])
  assert.deepEqual(withCall?.content[0], {
    type: "reasoning",
    text: "hm",
    providerOptions: { acme: { signature: "s" } },
  })
  const [, withText] = await promptFor([userMessage("go"), assistant(thought, { type: "text", text: "so" }, code)])
  assert.deepEqual(withText?.content.length, 1)
})

test("reasoning of another model stays at home", async () => {
  const provider = { acme: { signature: "s" }, karst: { model: "acme/gravel-2" } }
  const [, answer] = await promptFor([
    userMessage("go"),
    assistant({ type: "reasoning", text: "hm", provider }, { ...call, provider }),
  ])
  assert.deepEqual(answer?.content, [{ type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 } }])
})

test("stored items are not referred to beside text that lost its own", async () => {
  const item = (itemId: string) => ({ openai: { itemId } })
  const [, answer] = await promptFor([
    userMessage("go"),
    assistant(
      { type: "reasoning", text: "", provider: item("rs_1") },
      { type: "text", text: "Adding." },
      { ...call, provider: item("fc_1") },
    ),
  ])
  assert.deepEqual(answer?.content, [
    { type: "text", text: "Adding." },
    { type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 } },
  ])
})

test("each message is converted once, however many requests hold it", async () => {
  let reads = 0
  const counted = assistant({ type: "text", text: "once" })
  const messages: Message[] = [
    userMessage("go"),
    new Proxy(counted, {
      get(target, key) {
        if (key === "parts") reads++
        return Reflect.get(target, key)
      },
    }),
  ]
  const { model } = fake()
  const adapted = aiSdk(model)
  await collect(adapted.stream({ system: "", messages }))
  const before = reads
  await collect(adapted.stream({ system: "", messages: [...messages, userMessage("more")] }))
  assert.ok(before > 0)
  assert.equal(reads, before)
})

test("options of the model and of the request both reach the provider, the request's first", async () => {
  const { model, calls } = fake()
  const adapted = aiSdk(model, { providerOptions: { acme: { effort: "low", trace: true } } })
  const tools = [{ name: "add", description: "Adds", input: { type: "object" } }]
  const providerOptions = { acme: { effort: "high" } }
  await collect(
    adapted.stream({ system: "", messages: [], tools, maxOutputTokens: 9, temperature: 0, providerOptions }),
  )
  const [sent] = calls
  assert.deepEqual(sent?.providerOptions, { acme: { effort: "high", trace: true } })
  assert.deepEqual([sent?.maxOutputTokens, sent?.temperature, sent?.toolChoice], [9, 0, { type: "auto" }])
  assert.deepEqual(sent?.tools, [
    { type: "function", name: "add", description: "Adds", inputSchema: { type: "object" } },
  ])
})

test("the reasoning effort reaches models of V4; with V3 a warning says that it is ignored", async () => {
  const warnings: string[] = []
  const request = { system: "", messages: [], reasoning: "low" as const }
  const v4 = fake()
  await collect(aiSdk(v4.model).stream(request))
  assert.equal(v4.calls[0]?.reasoning, "low")
  const v3 = fake([], { specificationVersion: "v3" })
  await collect(aiSdk(v3.model).stream({ ...request, onWarning: ({ code }) => void warnings.push(code) })).catch(
    () => {},
  )
  assert.equal(v3.calls[0]?.reasoning, undefined)
  assert.deepEqual(warnings, ["reasoning-ignored"])
})

test("the id is the provider's name and the model's, and finds price and window", () => {
  const { model } = fake([], { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" })
  const adapted = aiSdk(model)
  assert.equal(adapted.id, "anthropic/claude-sonnet-4-5")
  assert.equal(adapted.price?.input, 3)
  assert.equal(adapted.contextWindow, 200_000)
  assert.deepEqual(aiSdk(model, { price: { input: 1, output: 2 }, contextWindow: 5 }).price, { input: 1, output: 2 })
})

test("a price of one's own is applied to the usage", async () => {
  const usage = { inputTokens: { total: 1_000_000 }, outputTokens: { total: 500_000 } }
  const { model } = fake([{ ...done, usage }])
  const [last] = await collect(aiSdk(model, { price: { input: 2, output: 4 } }).stream({ system: "", messages: [] }))
  assert.deepEqual(last, {
    type: "finish",
    reason: "stop",
    usage: { input: 1_000_000, output: 500_000, complete: true, costUsd: 4 },
  })
})

test("usage with only one side known is not complete", async () => {
  const usage = { inputTokens: { total: 7, cacheRead: undefined }, outputTokens: { total: undefined } }
  const { model } = fake([{ ...done, usage }])
  const [last] = await collect(aiSdk(model).stream({ system: "", messages: [] }))
  assert.deepEqual(last?.type === "finish" && last.usage, { input: 7, complete: false })
})

test("a reasoning block ends with what the provider wants back, whenever it said it", async () => {
  const { model } = fake([
    { type: "reasoning-start", id: "1", providerMetadata: { acme: { item: "i" } } },
    { type: "reasoning-delta", id: "1", delta: "hm" },
    { type: "reasoning-delta", id: "1", delta: "", providerMetadata: { acme: { signature: "s" } } },
    { type: "reasoning-end", id: "1" },
    done,
  ])
  const parts = await collect(aiSdk(model).stream({ system: "", messages: [] }))
  assert.deepEqual(parts.slice(0, -1), [
    { type: "reasoning", text: "hm" },
    {
      type: "reasoning",
      text: "",
      provider: { acme: { item: "i", signature: "s" }, karst: { model: "acme/stone-1" } },
    },
  ])
})

test("a call's input is parsed where it is JSON, and kept as text where it is not", async () => {
  const toolCall = (input: string) => ({ type: "tool-call", toolCallId: "c", toolName: "add", input })
  const { model } = fake([toolCall('{"a":[1]}'), toolCall("{a: 1"), toolCall(""), done])
  const parts = await collect(aiSdk(model).stream({ system: "", messages: [] }))
  assert.deepEqual(
    parts.map((part) => (part.type === "tool-call" ? part.input : part.type)),
    [{ a: [1] }, "{a: 1", {}, "finish"],
  )
})

test("signs of life that are no parts are reported", async () => {
  const { model } = fake([
    { type: "stream-start", warnings: [] },
    { type: "tool-input-start", id: "c", toolName: "add" },
    { type: "tool-input-delta", id: "c", delta: "{" },
    { type: "ping" },
    done,
  ])
  let signs = 0
  const alive = () => {
    signs++
  }
  const parts = await collect(aiSdk(model).stream({ system: "", messages: [], onActivity: alive }))
  assert.deepEqual(
    parts.map((part) => part.type),
    ["finish"],
  )
  assert.equal(signs, 5)
})

test("every unified finish reason is known, and a strange one is other", async () => {
  const seen: string[] = []
  for (const unified of ["stop", "length", "tool-calls", "content-filter", "error", "other", "moonrise"]) {
    const { model } = fake([{ type: "finish", finishReason: { unified, raw: "x" }, usage: {} }])
    const [last] = await collect(aiSdk(model).stream({ system: "", messages: [] }))
    if (last?.type === "finish") seen.push(last.reason)
  }
  assert.deepEqual(seen, ["stop", "length", "tool-calls", "content-filter", "error", "other", "other"])
})

test("a finish the provider made up for a broken stream counts as cut", async () => {
  for (const unified of ["interrupted", "other", "error"]) {
    const { model } = fake([
      { type: "text-delta", id: "1", delta: "half" },
      { type: "finish", finishReason: { unified, raw: undefined }, usage: {} },
    ])
    const { parts, error } = await failing(aiSdk(model).stream({ system: "", messages: [] }))
    assert.equal(textOf(parts), "half")
    assert.ok(error instanceof ModelError)
    assert.deepEqual([error.code, error.retryable], ["connection", true])
  }
})

test("the stream ends with its finish, without waiting for what comes after", async () => {
  const { model } = fake([], {
    async doStream() {
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "text-delta", id: "1", delta: "all" })
            controller.enqueue(done)
          },
        }),
      }
    },
  })
  const parts = await collect(aiSdk(model).stream({ system: "", messages: [] }))
  assert.deepEqual(
    parts.map((part) => part.type),
    ["text", "finish"],
  )
})

test("a connection is left alone after the finish, and closed a second later if it does not end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  let cancelled = false
  const { model, calls } = fake([], {
    async doStream(call) {
      calls.push(call)
      return {
        stream: new ReadableStream({
          start: (controller) => controller.enqueue(done),
          cancel() {
            cancelled = true
          },
        }),
      }
    },
  })
  await collect(aiSdk(model).stream({ system: "", messages: [] }))
  await settle()
  assert.deepEqual([calls[0]?.abortSignal?.aborted, cancelled], [false, false])
  t.mock.timers.tick(1000)
  assert.deepEqual([calls[0]?.abortSignal?.aborted, cancelled], [true, true])
})

test("a provider that ignores its signal does not delay an abort", async () => {
  const { model } = fake([], { doStream: () => new Promise(() => {}) })
  const controller = new AbortController()
  const outcome = failing(aiSdk(model).stream({ system: "", messages: [], signal: controller.signal }))
  controller.abort()
  assert.equal(((await outcome).error as Error).name, "AbortError")
})

test("a stream whose closing hangs does not keep a reader who leaves", async () => {
  const { model } = fake([], {
    async doStream() {
      return {
        stream: new ReadableStream({
          start: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "one" }),
          cancel: () => new Promise(() => {}),
        }),
      }
    },
  })
  for await (const part of aiSdk(model).stream({ system: "", messages: [] })) {
    assert.equal(part.type, "text")
    break
  }
})

test("closing while a part is awaited ends the wait", async () => {
  const { model, calls } = fake([], {
    async doStream(call) {
      calls.push(call)
      return { stream: new ReadableStream({}) }
    },
  })
  const parts = aiSdk(model).stream({ system: "", messages: [] })[Symbol.asyncIterator]()
  const pending = parts.next()
  await settle()
  await parts.return?.()
  assert.deepEqual(await pending, { value: undefined, done: true })
  assert.equal(calls[0]?.abortSignal?.aborted, true)
})

test("a signal that fired before makes no request", async () => {
  const { model, calls } = fake()
  const { error } = await failing(aiSdk(model).stream({ system: "", messages: [], signal: AbortSignal.abort() }))
  assert.equal((error as Error).name, "AbortError")
  assert.equal(calls.length, 0)
})

test("many streams of one model run at once", async () => {
  let number = 0
  const { model } = fake([], {
    async doStream() {
      const delta = String(number++)
      return { stream: ReadableStream.from([{ type: "text-delta", id: "1", delta }, done]) }
    },
  })
  const adapted = aiSdk(model)
  const answers = await Promise.all([1, 2, 3].map(() => collect(adapted.stream({ system: "", messages: [] }))))
  assert.deepEqual(answers.map(textOf), ["0", "1", "2"])
})

test("a programming error in a provider stays what it is", async () => {
  const bug = new TypeError("x is not a function")
  const { model } = fake([], {
    doStream() {
      throw bug
    },
  })
  const { error } = await failing(aiSdk(model).stream({ system: "", messages: [] }))
  assert.equal(error, bug)
})
