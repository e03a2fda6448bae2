import assert from "node:assert/strict"
import type { TestContext } from "node:test"
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { McpEndpoint, McpToolKit, ServeMcpOptions } from "../../src/mcp/mcp-types.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { isToolResult, type ToolContext, type ToolResult } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"

/** The protocol of 2025, with sessions, and that of 2026, without. */
export type Era = "legacy" | "modern"

export async function serve(context: TestContext, options: Partial<ServeMcpOptions>): Promise<McpEndpoint> {
  const endpoint = await serveMcp({ name: "test", ...options })
  context.after(() => endpoint.close())
  return endpoint
}

/** A client of the official package. */
export async function connect(
  context: TestContext,
  { url, headers }: McpEndpoint,
  era: Era = "legacy",
): Promise<Client> {
  const client = new Client(
    { name: `a ${era} client`, version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }))
  assert.equal(client.getProtocolEra(), era)
  context.after(() => client.close())
  return client
}

export async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const result = await client.callTool({ name, arguments: input })
  return `${result.isError ? "! " : ""}${textOf(result)}`
}

/** Calls a tool of a kit as for a model. */
export async function use(
  kit: McpToolKit,
  name: string,
  input: object = {},
  given: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const found = kit.tools.find((each) => each.name === name)
  assert.ok(found, `There is no tool ${name}.`)
  const result = await found.run(input, {
    call: "call_1",
    signal: new AbortController().signal,
    workspace: memoryWorkspace(),
    state: { get: () => undefined, set() {} },
    progress() {},
    ...given,
  })
  assert.ok(isToolResult(result))
  return result
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n")
}
