import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { RunResult } from "../../src/core/agent.ts"
import type { EventOf, EventType } from "../../src/core/event.ts"
import type { Prompt } from "../../src/core/message.ts"
import { toModel } from "../../src/models/model-source.ts"
import { resolveModel } from "../../src/models/resolve.ts"
import { withRetry } from "../../src/models/retry.ts"
import { rotateModels } from "../../src/models/rotate.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { toAtif } from "../../src/sessions/atif.ts"
import { modelServer } from "../fixtures/model-server.ts"

const idAt = (url: string) => `openai-compatible:${url}/v1#llama`
const at = (url: string, options = {}) => resolveModel(idAt(url), { retry: false, env: {}, ...options })

function only<T extends EventType>({ trajectory }: RunResult, type: T): EventOf<T>[] {
  return trajectory.events.filter((event): event is EventOf<T> => event.type === type)
}

const refused = { status: 401, body: { error: { message: "Incorrect API key provided." } } }

describe("an endpoint that refuses the key", () => {
  test("is left for the next one, with a warning, and is not asked first again", async () => {
    await using first = await modelServer(refused)
    await using second = await modelServer({ text: ["Hello."] }, { text: ["Again."] })
    const model = rotateModels([await at(first.url), await at(second.url)])
    const agent = createAgent({ model })
    const result = await agent.run("Hi")
    assert.equal(result.output, "Hello.")
    const [warning] = only(result, "warning-raised")
    assert.equal(warning?.code, "endpoint-changed")
    assert.match(warning?.message ?? "", /endpoint 1 .*refused the API key.*endpoint 2/i)
    assert.equal((await agent.run("Hi")).output, "Again.")
    assert.equal(first.requests.length, 1)
  })

  test("fails the run where all of them do, and is not retried", async () => {
    await using first = await modelServer(refused)
    await using second = await modelServer(refused)
    const model = withRetry(rotateModels([await at(first.url), await at(second.url)]))
    const result = await createAgent({ model }).run("Hi").settled
    assert.deepEqual([result.error?.code, result.error?.retryable], ["authentication", false])
    assert.match(result.error?.message ?? "", /endpoint 1 \(authentication\)[\s\S]*endpoint 2 \(authentication\)/)
    assert.deepEqual([first.requests.length, second.requests.length], [1, 1])
  })

  test("fails at a later retry only where another may still work", async () => {
    await using first = await modelServer(refused, refused)
    await using second = await modelServer({ status: 503 }, { text: ["Hello."] })
    const model = withRetry(rotateModels([await at(first.url), await at(second.url)]), { firstDelayMs: 1 })
    assert.equal((await createAgent({ model }).run("Hi")).output, "Hello.")
  })
})

describe("an endpoint that sends no more bytes", () => {
  test("in the middle of an answer is reported as a stall, which may be tried again", async () => {
    const stalls = { text: ["Half an answer", " that stops."], after: 2 }
    await using server = await modelServer(stalls, stalls, stalls, stalls, stalls)
    const model = await at(server.url, { timeouts: { connectMs: 5_000, firstPartMs: 5_000, idleMs: 40 } })
    const result = await createAgent({ model }).run("Hi").settled
    assert.deepEqual([result.status, result.error?.code, result.error?.retryable], ["failed", "stalled", true])
    assert.match(result.error?.message ?? "", /sent nothing for 0\.04 s.*raise idleMs/)
  })

  test("after its headers is reported as a stall too", async () => {
    await using server = await modelServer({ text: ["never"], after: 0 })
    const model = await at(server.url, { timeouts: { connectMs: 5_000, firstPartMs: 40, idleMs: 40 } })
    const result = await createAgent({ model }).run("Hi").settled
    assert.deepEqual([result.error?.code, result.error?.retryable], ["stalled", true])
    assert.match(result.error?.message ?? "", /sent nothing for 0\.04 s.*raise firstPartMs/)
  })
})

describe("a model has one id", () => {
  test("whether it is given by name or resolved, in events, errors and ATIF", async () => {
    await using server = await modelServer({ text: ["Hello."] }, refused)
    const resolved = await at(server.url)
    assert.equal(resolved.id, "openai-compatible/llama")
    assert.equal(toModel(idAt(server.url)).id, resolved.id)
    const agent = createAgent({ model: resolved })
    const result = await agent.run("Hi")
    assert.equal(only(result, "run-start")[0]?.model, resolved.id)
    assert.equal(toAtif(result.trajectory).agent.model_name, resolved.id)
    const failed = await agent.run("Hi").settled
    assert.match(failed.error?.message ?? "", /^openai-compatible\/llama refused the API key/)
  })

  test("which is the one that was written, also where a provider calls itself otherwise", async () => {
    const languageModel = (modelId: string) => ({
      specificationVersion: "v3",
      provider: "acme.chat.v2",
      modelId,
      doGenerate: () => Promise.reject(new Error("not used")),
      doStream: () => Promise.reject(Object.assign(new Error("no"), { statusCode: 401 })),
    })
    const model = await resolveModel("my-acme/large", { provider: { languageModel } as never, retry: false })
    assert.equal(model.id, "my-acme/large")
    const { error } = await createAgent({ model }).run("Hi").settled
    assert.match(error?.message ?? "", /^my-acme\/large refused/)
  })
})

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const picture: Prompt = [
  { type: "text", text: "What is this?" },
  { type: "image", mediaType: "image/png", data: pixel },
]
const noVision = { status: 400, body: { error: { message: "This model does not support image input." } } }

describe("images", () => {
  test("are not sent with images: false, and a line of text stands for each", async () => {
    await using server = await modelServer({ text: ["A dot."] })
    await createAgent({ model: await at(server.url, { images: false }) }).run(picture)
    const sent = JSON.stringify(server.requests[0]?.body)
    assert.ok(!sent.includes("image_url") && !sent.includes(pixel))
    assert.match(sent, /\[image\/png image, 70 bytes: not shown/)
    const model = scriptedModel(["A dot."])
    await createAgent({ model, images: false }).run(picture)
    assert.ok(!JSON.stringify(model.requests[0]?.messages).includes(pixel), "also as an option of the agent")
  })

  test("that an endpoint rejects become text: the request is sent again, with a warning, and later ones have none", async () => {
    await using server = await modelServer(noVision, { text: ["I cannot see it."] }, { text: ["Still not."] })
    const agent = createAgent({ model: await at(server.url) })
    const result = await agent.run(picture)
    assert.equal(result.output, "I cannot see it.")
    const [warning] = only(result, "warning-raised")
    assert.deepEqual([warning?.code, only(result, "warning-raised").length], ["images-rejected", 1])
    assert.match(warning?.message ?? "", /openai-compatible\/llama .*does not support image input.*images: false/)
    const again = await agent.run("And now?", { from: result })
    assert.equal(again.output, "Still not.")
    assert.deepEqual(only(again, "warning-raised"), [])
    const bodies = server.requests.map(({ body }) => JSON.stringify(body).includes(pixel))
    assert.deepEqual(bodies, [true, false, false])
  })

  test("are no reason to send a request again that has none, or that failed for another reason", async () => {
    await using server = await modelServer(noVision)
    const plain = await createAgent({ model: await at(server.url) }).run("Hi").settled
    assert.deepEqual([plain.error?.code, server.requests.length], ["invalid-request", 1])
    await using other = await modelServer({ status: 400, body: { error: { message: "Unknown parameter: foo" } } })
    const failed = await createAgent({ model: await at(other.url) }).run(picture).settled
    assert.deepEqual([failed.error?.code, other.requests.length], ["invalid-request", 1])
  })
})
