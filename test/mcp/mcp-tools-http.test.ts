// test lane: clis
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { describe, type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import { serveMcp } from "../../src/mcp/server/serve-mcp.ts"
import { tool } from "../../src/tools/tool.ts"
import { serve, use } from "./clients.ts"

describe("the tools of an MCP server at an address", () => {
  test("are those of one that speaks the protocol of 2026 alone, over HTTP", async (context) => {
    const handler = createMcpHandler(
      () => {
        const server = new McpServer({ name: "modern", version: "1" }, { instructions: "Ask for the era." })
        server.registerTool("era", { description: "Tells the era." }, ({ mcpReq }) => ({
          content: [{ type: "text", text: Object.keys(mcpReq.envelope ?? {}).join() }],
        }))
        return server
      },
      { legacy: "reject" },
    )
    const answer = toNodeHandler(handler)
    // The same object; only the declared types of missing members differ.
    const url = await listen(context, (request, response) => answer(request as Parameters<typeof answer>[0], response))
    await using kit = await mcpTools({ url })
    assert.equal(kit.instructions, "Ask for the era.")
    assert.match((await use(kit, "era")).text, /protocolVersion/)
  })

  test("are those of a program that does", async () => {
    const file = fileURLToPath(new URL("../fixtures/mcp/modern-server.ts", import.meta.url))
    await using kit = await mcpTools({
      command: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", file],
    })
    assert.match((await use(kit, "era")).text, /2026-07-28/)
  })

  test("go on after the server was started anew at the same address", async (context) => {
    const token = "0123456789abcdef0123456789abcdef"
    const tools = { add: (a: number, b: number) => a + b }
    const first = await serve(context, { tools, token })
    const port = Number(new URL(first.url).port)
    await using kit = await mcpTools({ url: first.url, headers: first.headers })
    assert.equal((await use(kit, "add", { a: 1, b: 2 })).text, "3")
    await first.close()
    const { ok, code } = await use(kit, "add", { a: 1, b: 2 })
    assert.deepEqual([ok, code], [false, "server-gone"])
    const still = await use(kit, "add", { a: 1, b: 2 })
    assert.match(still.text, /cannot be reached/)
    await serve(context, { tools, token, port })
    assert.equal((await use(kit, "add", { a: 1, b: 2 })).text, "3")
  })

  test("of a server that breaks off in the middle of a call are a failure at once", async () => {
    const begun = Promise.withResolvers<void>()
    const sockets = new Set<{ destroy(): unknown }>()
    const endpoint = await serveMcp({
      name: "test",
      tools: [
        tool({
          name: "hang",
          description: "",
          run() {
            begun.resolve()
            return new Promise(() => {})
          },
        }),
      ],
    })
    // A proxy between client and server, which can cut the connection.
    const line = createServer((request, response) => {
      sockets.add(request.socket)
      void relay(request, response, endpoint.url)
    })
    await once(line.listen(0, "127.0.0.1"), "listening")
    const address = line.address()
    const port = typeof address === "object" ? address?.port : 0
    await using kit = await mcpTools({ url: `http://127.0.0.1:${port}/mcp`, headers: endpoint.headers })
    const calling = use(kit, "hang")
    await begun.promise
    for (const socket of sockets) socket.destroy()
    const { ok, code, text } = await calling
    assert.deepEqual([ok, code], [false, "server-gone"])
    assert.match(text, /Whether it took effect is not known/)
    line.close()
    line.closeAllConnections()
    await endpoint.close()
  })

  test("that do not answer in time are a failure", async (context) => {
    const endpoint = await serve(context, { tools: { hang: () => new Promise(() => {}) } })
    await using kit = await mcpTools({ url: endpoint.secretUrl }, { timeoutMs: 1000 })
    const { ok, code, text } = await use(kit, "hang")
    assert.deepEqual([ok, code], [false, "timeout"])
    assert.match(text, /hang of the MCP server "test" did not answer within 1000 ms/)
  })

  test("are asked for with a token that is fresh for each request", async (context) => {
    const endpoint = await serve(context, { tools: { add: (a: number, b: number) => a + b } })
    let asked = 0
    const auth = {
      async token() {
        asked++
        return endpoint.token
      },
    }
    await using kit = await mcpTools({ url: endpoint.url }, { auth })
    const before = asked
    assert.equal((await use(kit, "add", { a: 1, b: 2 })).text, "3")
    assert.ok(asked > before)
  })
})

async function listen(
  context: TestContext,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(handle)
  await once(server.listen(0, "127.0.0.1"), "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`
}

async function relay(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string" && !["host", "connection", "content-length"].includes(name)) headers.set(name, value)
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method = "POST" } = request
  const body = method === "POST" ? Buffer.concat(chunks) : null
  const answer = await fetch(url, { method, headers, body })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.flushHeaders()
  try {
    for await (const chunk of answer.body ?? []) response.write(chunk)
  } catch {
    // The connection was cut, or the server is closed.
  }
  response.end()
}
