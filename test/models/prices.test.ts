import assert from "node:assert/strict"
import { test } from "node:test"
import { modelFacts } from "../../src/models/prices.ts"

test("a model is found by its id, with dates and aliases", () => {
  for (const id of ["openai/gpt-5.2", "openai/gpt-5.2-2025-12-11", "openai/gpt-5.2-chat-latest", "OpenAI/GPT-5.2"]) {
    assert.deepEqual(modelFacts(id), {
      price: { input: 1.75, output: 14, cacheRead: 0.175 },
      contextWindow: 272_000,
    })
  }
  assert.equal(modelFacts("anthropic/claude-sonnet-4-5-20250929")?.price.cacheWrite, 3.75)
  assert.equal(modelFacts("google/gemini-3-flash-preview")?.price.input, 0.5)
})

test("the longest family wins", () => {
  assert.equal(modelFacts("openai/gpt-5-mini")?.price.input, 0.25)
  assert.equal(modelFacts("openai/gpt-5")?.price.input, 1.25)
  assert.equal(modelFacts("google/gemini-2.5-flash-lite")?.price.input, 0.1)
})

test("another version or variant is not guessed at", () => {
  for (const id of ["openai/gpt-5.9", "openai/gpt-5.2-ultra", "anthropic/claude-opus-4-9", "openai/gpt-50", "o3"]) {
    assert.equal(modelFacts(id), undefined, id)
  }
})

test("a router's ids have their makers' prices, a host's have none", () => {
  assert.equal(modelFacts("openrouter/anthropic/claude-sonnet-4.5")?.price.input, 3)
  assert.equal(modelFacts("openrouter/moonshotai/kimi-k3")?.price.input, 3)
  assert.equal(modelFacts("openrouter/x-ai/grok-4.7")?.price.output, 6)
  assert.equal(modelFacts("groq/openai/gpt-5.2"), undefined)
})

test("an unknown owner, an empty id and a name of every object are unknown", () => {
  for (const id of ["acme/stone-1", "", "/", "constructor/name", "__proto__/x"]) {
    assert.equal(modelFacts(id), undefined, id)
  }
})
