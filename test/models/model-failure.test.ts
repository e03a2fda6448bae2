import assert from "node:assert/strict"
import { test } from "node:test"
import { APICallError, JSONParseError, LoadAPIKeyError, NoSuchModelError } from "@ai-sdk/provider"
import { AbortError, ConfigError, ModelError } from "../../src/core/errors.ts"
import { modelFailure } from "../../src/models/model-failure.ts"

const id = "acme/stone-1"

function http(statusCode: number, body: unknown = {}, responseHeaders: Record<string, string> = {}): APICallError {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body)
  return new APICallError({
    message: "The service said no",
    url: "https://example.org/v1/chat?key=hidden",
    requestBodyValues: { messages: ["the whole conversation"] },
    statusCode,
    responseHeaders,
    responseBody,
  })
}

function classify(error: unknown, streamed = false): ModelError {
  const failure = modelFailure(error, { id, streamed })
  assert.ok(failure instanceof ModelError, String(failure))
  return failure
}

const statuses: [number, string, boolean][] = [
  [400, "invalid-request", false],
  [401, "authentication", false],
  [402, "billing", false],
  [403, "authentication", false],
  [404, "not-found", false],
  [408, "timeout", true],
  [409, "invalid-request", false],
  [413, "context-overflow", false],
  [422, "invalid-request", false],
  [429, "rate-limited", true],
  [500, "server-error", true],
  [502, "server-error", true],
  [503, "overloaded", true],
  [504, "server-error", true],
  [529, "overloaded", true],
]

for (const [status, code, retryable] of statuses) {
  test(`HTTP ${status} is ${code}, ${retryable ? "to be" : "not"} tried again`, () => {
    const failure = classify(http(status))
    assert.deepEqual([failure.code, failure.retryable, failure.status], [code, retryable, status])
  })
}

test("a 400 that mentions a timeout or a connection is still an invalid request", () => {
  const failure = classify(http(400, { error: { message: "connection timeout must be a number" } }))
  assert.deepEqual([failure.code, failure.retryable], ["invalid-request", false])
})

test("an exhausted quota is billing, even on a 429", () => {
  const bodies = [
    { error: { code: "insufficient_quota", message: "You exceeded your current quota" } },
    { error: { type: "exceeded_current_quota_error", message: "suspended" } },
    { error: { message: "账户余额不足" } },
  ]
  for (const body of bodies) {
    const failure = classify(http(429, body))
    assert.deepEqual([failure.code, failure.retryable], ["billing", false])
  }
  assert.equal(classify(http(400, { error: { message: "Your credit balance is too low" } })).code, "billing")
})

test("a rate limit that speaks of quota is not billing", () => {
  const body = { error: { status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota, check your plan" } }
  assert.equal(classify(http(429, body)).code, "rate-limited")
})

const overflows = [
  { error: { code: "context_length_exceeded", message: "too much" } },
  { error: { message: "prompt is too long: 210000 tokens > 200000 maximum" } },
  { error: { message: "This model's maximum context length is 128000 tokens." } },
  { error: { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." } },
  { error: { type: "exceed_context_size_error", message: "the request exceeds the available context size" } },
  { error: { message: "输入长度超过模型最大限制" } },
  { error: { message: "请求的上下文长度超出限制" } },
]

for (const body of overflows) {
  test(`"${body.error.message}" is a context overflow`, () => {
    const failure = classify(http(400, body))
    assert.deepEqual([failure.code, failure.retryable], ["context-overflow", false])
  })
}

test("a rate limit on tokens is not a context overflow", () => {
  assert.equal(classify(http(429, { error: { message: "Too many input tokens per minute" } })).code, "rate-limited")
})

test("a refusal to read the content is a content filter", () => {
  assert.equal(classify(http(400, { error: { code: "content_filter", message: "no" } })).code, "content-filter")
  assert.equal(classify(http(400, { error: { code: "data_inspection_failed" } })).code, "content-filter")
})

test("Google's 400 for a wrong key is an authentication error", () => {
  const body = { error: { status: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key." } }
  assert.equal(classify(http(400, body)).code, "authentication")
})

test("Retry-After is read in seconds, as a date and in milliseconds", () => {
  const now = () => Date.parse("2026-01-01T00:00:00Z")
  const wait = (headers: Record<string, string>) => {
    const failure = modelFailure(http(429, {}, headers), { id, now })
    return failure instanceof ModelError && failure.retryAfterMs
  }
  assert.equal(wait({ "retry-after": "12" }), 12_000)
  assert.equal(wait({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }), 30_000)
  assert.equal(wait({ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }), 0)
  assert.equal(wait({ "retry-after-ms": "250", "retry-after": "9" }), 250)
  assert.equal(wait({ "retry-after": "soon" }), undefined)
  assert.equal(wait({}), undefined)
})

test("Gemini's wish to wait is read from the body", () => {
  const body = { error: { message: "slow", details: [{ "@type": "RetryInfo", retryDelay: "34.5s" }] } }
  assert.equal(classify(http(429, body)).retryAfterMs, 34_500)
})

test("lost connections and time-outs are found down the chain of causes", () => {
  const socket = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
  const terminated = new TypeError("terminated", { cause: socket })
  assert.equal(classify(terminated).code, "connection")
  assert.equal(classify(new TypeError("fetch failed")).code, "connection")
  const late = new Error("outer", { cause: Object.assign(new Error("late"), { code: "UND_ERR_HEADERS_TIMEOUT" }) })
  assert.deepEqual([classify(late).code, classify(late).retryable], ["timeout", true])
  assert.equal(classify(new DOMException("late", "TimeoutError")).code, "timeout")
})

test("a chain of causes that bites its tail ends", () => {
  const snake = Object.assign(new Error("snake"), { code: "ECONNRESET" })
  snake.cause = snake
  assert.equal(classify(snake).code, "connection")
})

test("the AI SDK's own errors are known by name", () => {
  assert.equal(classify(new JSONParseError({ text: "{", cause: new Error("x") })).code, "invalid-response")
  assert.equal(classify(new LoadAPIKeyError({ message: "no key" })).code, "authentication")
  assert.equal(classify(new NoSuchModelError({ modelId: "m", modelType: "languageModel" })).code, "not-found")
})

test("errors inside a stream are known by the words the service used", () => {
  assert.equal(classify({ type: "overloaded_error", message: "busy" }, true).code, "overloaded")
  assert.equal(classify({ type: "rate_limit_error" }, true).code, "rate-limited")
  assert.equal(classify({ message: "upstream", code: 502 }, true).status, 502)
  assert.equal(classify({ error: { type: "authentication_error" } }, true).code, "authentication")
  assert.equal(classify("something broke", true).code, "server-error")
  assert.match(classify("something broke", true).message, /something broke/)
})

test("aborts, our own errors and programming errors come back as they are", () => {
  const config = new ConfigError("no")
  const bug = new RangeError("Invalid array length")
  assert.equal(modelFailure(config, { id }), config)
  assert.equal(modelFailure(bug, { id }), bug)
  assert.ok(modelFailure(new DOMException("stop", "AbortError"), { id }) instanceof AbortError)
})

test("the message names the model, the cause and the cure", () => {
  const failure = classify(http(404, { error: { message: "no such model" } }))
  assert.equal(
    failure.message,
    "acme/stone-1 was not found (HTTP 404): no such model. Check the model's name and the base URL.",
  )
})

test("no key, header, address or request is kept in the error", () => {
  const error = http(401, { error: { message: "Incorrect API key: sk-proj-abcdef0123456789, Bearer tok.en" } })
  const failure = modelFailure(error, { id, secrets: ["hidden"] })
  const kept = JSON.stringify([failure, failure.message, failure.stack, failure.cause])
  for (const secret of ["abcdef", "tok.en", "hidden", "the whole conversation"]) {
    assert.ok(!kept.includes(secret), `${secret} is in the error`)
  }
  assert.match(failure.message, /\[key\]/)
})

test("a page of text in an error is cut short", () => {
  assert.ok(classify(http(500, `<html>${"x".repeat(10_000)}`)).message.length < 700)
})
