import assert from "node:assert/strict"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createLocalClient, importLlmSettings } from "karst/config"
import { modelServer } from "../fixtures/model-server.ts"
import { testProject } from "./project-folder.ts"

const settings = (base: string) => `"""Local settings."""
import os  # never run
from typing import Any

LLM_SETTINGS: dict[str, Any] = {
    "VERSION": "2",
    'endpoints': [
        {"id": "moon", "api_key": "  label:sk-0123456789 ", "api_base": "${base}/v1"},
        {"id": "second", "api_key": "sk-" "second", "api_base": r"${base}/second/v1", "endpoint_type": "openai"},
        {"id": "claude", "api_key": "sk-c", "api_base": "https://host", "endpoint_type": "anthropic"},
        {"id": "azure", "api_key": "k", "api_base": "https://host", "endpoint_type": "openai_azure"},
        {"id": "no-key", "api_key": "", "api_base": "https://host"},
    ],
    "backends": {
        "moonshot": {
            "default_endpoint": "moon",
            "models": {
                "kimi-k2.5": {"id": "kimi-latest", "endpoints": ["moon", {"endpoint_id": "second", "model_id": "k2.5"}, "moon"],
                              "context_length": 131_072, "native_multimodal": False},
                "by-default": {},
                "lost": {"endpoints": ["no-key", "nowhere"]},
            },
        },
        "anthropic": {"models": {"opus": {"id": "claude-opus-5", "endpoints": ("claude",)}}},
    },
}
print(os.environ)
`

describe("importLlmSettings", () => {
  test("reads models, endpoints and keys of a literal, and runs nothing", async (t) => {
    const { folder } = await testProject(t, { "project/local_settings.py": settings("https://moon.example") })
    const { models, diagnostics } = await importLlmSettings(join(folder, "local_settings.py"), { env: {} })
    const moon = { id: "openai-compatible:https://moon.example/v1#kimi-latest", apiKey: "sk-0123456789" }
    assert.deepEqual(models, {
      "moonshot/kimi-k2.5": {
        id: moon.id,
        contextWindow: 131_072,
        images: false,
        endpoints: [moon, { id: "openai-compatible:https://moon.example/second/v1#k2.5", apiKey: "sk-second" }],
      },
      "moonshot/by-default": { ...moon, id: "openai-compatible:https://moon.example/v1#by-default" },
      "anthropic/opus": { id: "anthropic/claude-opus-5", baseURL: "https://host", apiKey: "sk-c" },
    })
    assert.deepEqual(
      diagnostics.map(({ message }) => message),
      [
        'the endpoint "azure" is left out: its type "openai_azure" is not supported',
        'the endpoint "no-key" is left out: it needs api_key and api_base',
        'the model "moonshot/lost" has no endpoint "no-key"',
        'the model "moonshot/lost" has no endpoint "nowhere"',
        'the model "moonshot/lost" is left out: it has no endpoint that can be used',
      ],
    )
  })

  test("gives models that answer, by the exact name only", async (t) => {
    await using server = await modelServer({ text: ["Hello."] })
    const { folder } = await testProject(t, { "project/s.py": settings(server.url) })
    const { models } = await importLlmSettings(join(folder, "s.py"), { env: {} })
    await using client = await createLocalClient({ config: { models, agents: { ada: { runtime: "js" } } }, env: {} })
    assert.equal(await client.ask("Hi", { model: "moonshot/by-default" }), "Hello.")
    assert.equal(server.requests[0]?.headers.authorization, "Bearer sk-0123456789")
    assert.throws(() => client.run("Hi", { model: "by-default" }), /neither in `models` of the configuration nor an id/)
  })

  test("reads JSON, settings nested under their name, and providers", async (t) => {
    const endpoints = [{ id: "e", api_key: "k", api_base: "https://h/v1" }]
    const providers = { p: { models: { m: { endpoints: ["e"] } } } }
    const { folder } = await testProject(t, { "project/s.json": { LLM_SETTINGS: { endpoints, providers } } })
    const { models } = await importLlmSettings(join(folder, "s.json"))
    assert.deepEqual(models, { "p/m": { id: "openai-compatible:https://h/v1#m", apiKey: "k" } })
  })

  test("decodes base64 keys only if the environment says so", async (t) => {
    const written = Buffer.from("label:sk-0123456789").toString("base64")
    const endpoints = [{ id: "e", api_key: written, api_base: "https://h/v1" }]
    const { folder } = await testProject(t, {
      "project/s.json": { endpoints, backends: { p: { models: { m: { endpoints: ["e"] } } } } },
    })
    const keyWith = async (env: Record<string, string>) =>
      (await importLlmSettings(join(folder, "s.json"), { env })).models["p/m"]?.apiKey
    assert.equal(await keyWith({}), written)
    assert.equal(await keyWith({ V_AGENT_ENABLE_BASE64_KEY_DECODE: "1" }), "sk-0123456789")
  })

  test("takes the part of a key after its first colon, if that can be a key", async (t) => {
    const keys: [written: string, key: string][] = [
      [" sk-plain ", "sk-plain"],
      ["label:sk-0123456789", "sk-0123456789"],
      ["a:b:0123456789", "b:0123456789"],
      ["label:short", "label:short"],
      ["label:has a space in it", "label:has a space in it"],
    ]
    for (const [written, key] of keys) {
      const endpoints = [{ id: "e", api_key: written, api_base: "https://h/v1" }]
      const { folder } = await testProject(t, {
        "project/s.json": { endpoints, backends: { p: { models: { m: { endpoints: ["e"] } } } } },
      })
      const { models } = await importLlmSettings(join(folder, "s.json"), { env: {} })
      assert.equal(models["p/m"]?.apiKey, key)
    }
  })

  test("says what is missing, and where a value is not a literal", async (t) => {
    const cases: [string, RegExp][] = [
      ["SETTINGS = {}", /there is no variable LLM_SETTINGS/],
      ["LLM_SETTINGS = []", /LLM_SETTINGS is not a dictionary/],
      ["LLM_SETTINGS = {}", /has neither "backends" nor "providers"/],
      [
        'LLM_SETTINGS = {\n  "a": os.environ["KEY"],\n}',
        /:2:8: LLM_SETTINGS cannot be read: "os" is not a literal value/,
      ],
      ['LLM_SETTINGS = {"a": f"x"}', /an f-string is not a literal value/],
      ['LLM_SETTINGS = {"a" 1}', /:1:21: .*":" is expected/],
    ]
    for (const [text, expected] of cases) {
      const { folder } = await testProject(t, { "project/s.py": text })
      await assert.rejects(importLlmSettings(join(folder, "s.py")), expected, text)
    }
    await assert.rejects(importLlmSettings("/none.py"), /The settings file "\/none\.py" is not there/)
  })
})
