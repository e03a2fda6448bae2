// test lane: clis, long
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as readAll } from "node:stream/consumers"
import { after, before, describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import type { McpEndpoint } from "../../src/mcp/mcp-types.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { tool, toolResult } from "../../src/tools/tool.ts"
import { skipUnless } from "../system.ts"

// The scenarios of the official suite that apply. To our server do not: those of resources, prompts, completion and
// logging, which it does not offer; of sampling and elicitation, which it does not ask for; and of audio and embedded
// resources, which our tools do not give. The suite knows the protocol up to 2025-11-25; that of 2026-07-28 is tested
// in server.test.ts.
const serverScenarios = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
  "server-sse-polling",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
]

// To our client do not: elicitation, which it does not offer; the metadata of 2025-03-26, whose issuer the package no
// longer accepts; and cross-app access, which is a provider of the package alone.
const clientScenarios = [
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/metadata-default",
  "auth/client-credentials-basic",
]

// Further scenarios, which run only if everything must.
const moreClientScenarios = [
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
  "auth/client-credentials-jwt",
]

const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))
const client = fileURLToPath(new URL("../fixtures/mcp/conformance-client.ts", import.meta.url))

describe("the official conformance suite", { concurrency: 2 }, () => {
  let endpoint: McpEndpoint
  let folder: string

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "karst-conformance-"))
    endpoint = await serveMcp({ name: "conformance", tools })
  })
  after(async () => {
    await endpoint.close()
    rmSync(folder, { recursive: true })
  })

  for (const scenario of serverScenarios) {
    test(`finds nothing wrong with our server: ${scenario}`, () =>
      passes(folder, ["server", "--url", endpoint.secretUrl, "--scenario", scenario]))
  }

  const flags = ["--conditions=karst-source", "--disable-warning=ExperimentalWarning"]
  const command = [process.execPath, ...flags, client].join(" ")
  for (const scenario of [...clientScenarios, ...moreClientScenarios]) {
    const skip = moreClientScenarios.includes(scenario) ? skipUnless("KARST_REQUIRE_ALL") : undefined
    test(`finds nothing wrong with our client: ${scenario}`, { skip }, () =>
      passes(folder, ["client", "--command", command, "--scenario", scenario]),
    )
  }
})

// The names that the suite uses.
const tools = [
  tool({ name: "test_simple_text", description: "Text.", run: () => "This is a simple text response for testing." }),
  tool({
    name: "test_image_content",
    description: "An image.",
    run: () =>
      toolResult({ text: "A dot.", images: [{ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" }] }),
  }),
  tool({
    name: "test_error_handling",
    description: "Fails.",
    run() {
      throw new Error("This tool intentionally returns an error for testing")
    },
  }),
  tool({
    name: "test_tool_with_progress",
    description: "Takes its time.",
    async run(_input, { progress }) {
      for (const percent of [0, 50, 100]) {
        progress(`${percent} %`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return "done"
    },
  }),
  tool({ name: "test_reconnection", description: "Answers.", run: () => "done" }),
  tool({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    input: {
      type: "object",
      $defs: {
        address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    run: () => "ok",
  }),
]

async function passes(cwd: string, args: string[]): Promise<void> {
  const child = spawn(process.execPath, [suite, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, TMPDIR: process.env.TMPDIR },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [said, complained, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, "close"),
  ])
  assert.equal(code, 0, `${said}\n${complained}`)
  assert.match(said + complained, /Passed: \d+\/\d+, 0 failed/)
}
