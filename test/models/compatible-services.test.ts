import assert from "node:assert/strict"
import { test } from "node:test"
import { compatibleServices, providerPackages } from "../../src/models/compatible-services.ts"

test("the names of the services users expect are in the table", () => {
  const expected =
    "ollama lmstudio llamacpp vllm deepseek moonshot openrouter groq together fireworks mistral xai cerebras deepinfra " +
    "nebius siliconflow zhipu zai qwen dashscope perplexity"
  for (const name of expected.split(" ")) assert.ok(Object.hasOwn(compatibleServices, name), name)
})

for (const [name, { baseURL, keys }] of Object.entries(compatibleServices)) {
  test(`${name} has a lower-case name, a sound address and ${keys.length > 0 ? "a key" : "needs no key"}`, () => {
    assert.match(name, /^[a-z][a-z0-9-]*$/)
    const { protocol, hostname, search, hash } = new URL(baseURL)
    const local = hostname === "127.0.0.1"
    assert.equal(protocol, local ? "http:" : "https:")
    assert.equal(search + hash, "")
    assert.ok(!baseURL.endsWith("/"))
    assert.equal(keys.length === 0, local)
    for (const key of keys) assert.match(key, /^[A-Z][A-Z0-9_]+$/)
  })
}

test("no name is both a service and a package", () => {
  assert.deepEqual(
    Object.keys(providerPackages).filter((name) => Object.hasOwn(compatibleServices, name)),
    [],
  )
})
