// test lane: clis
import assert from "node:assert/strict"
import { once } from "node:events"
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http"
import { connect as connectSocket } from "node:net"
import { text as readAll } from "node:stream/consumers"
import { describe, type TestContext, test } from "node:test"
import { mcpTools } from "../../src/mcp/client/mcp-tools.ts"
import type { McpEndpoint } from "../../src/mcp/mcp-types.ts"
import { call, connect, serve } from "./clients.ts"

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "intruder", version: "1" } },
}

const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" }

describe("who may not come in is turned away before anything is read", () => {
  const token = "0123456789abcdef0123456789abcdef"
  const bearer = `Bearer ${token}`
  for (const [who, status, headers, path] of [
    ["nobody's token", 401, {}, "/mcp"],
    ["a wrong token", 401, { Authorization: `Bearer ${"x".repeat(32)}` }, "/mcp"],
    ["a part of the token", 401, { Authorization: bearer.slice(0, -1) }, "/mcp"],
    ["the token and more", 401, { Authorization: `${bearer}0` }, "/mcp"],
    ["another scheme", 401, { Authorization: `Basic ${token}` }, "/mcp"],
    ["a wrong token in the path", 401, {}, "/mcp/0123456789abcdef0123456789abcdeg"],
    ["the token in a query", 401, {}, `/mcp?token=${token}`],
    ["the token in a path that goes up", 401, {}, `/mcp/../mcp/${token}`],
    ["a path that goes up", 404, { Authorization: bearer }, "/mcp/../../etc/passwd"],
    ["another path", 404, { Authorization: bearer }, "/"],
    ["a path in other letters", 404, { Authorization: bearer }, "/%6dcp"],
    ["a page of another origin", 403, { Authorization: bearer, Origin: "https://evil.example" }, "/mcp"],
    [
      "a page of an origin that looks like ours",
      403,
      { Authorization: bearer, Origin: "http://localhost.evil.example" },
      "/mcp",
    ],
    ["a page without an origin", 403, { Authorization: bearer, Origin: "null" }, "/mcp"],
    ["a name that was bound to this machine", 403, { Authorization: bearer, Host: "evil.example" }, "/mcp"],
    ["a host with our address in front", 403, { Authorization: bearer, Host: "127.0.0.1.evil.example" }, "/mcp"],
  ] as const) {
    test(`${who}: ${status}`, async (context) => {
      const endpoint = await serve(context, { token, tools: { touch: () => "touched" } })
      const response = await send(endpoint, { path, headers: { ...json, ...headers } }, JSON.stringify(initialize))
      assert.equal(response.statusCode, status)
      assert.equal(response.headers["mcp-session-id"], undefined)
      assert.doesNotMatch(response.text, new RegExp(token))
    })
  }

  test("whoever has the token comes in by the header, or by the address that holds it", async (context) => {
    const endpoint = await serve(context, { tools: { touch: () => "touched" } })
    const origin = "http://localhost:3000"
    for (const way of [{ headers: endpoint.headers, path: "/mcp" }, { path: new URL(endpoint.secretUrl).pathname }]) {
      const headers = { ...json, Origin: origin, ...way.headers }
      const response = await send(endpoint, { path: way.path, headers }, JSON.stringify(initialize))
      assert.equal(response.statusCode, 200)
    }
    await using kit = await mcpTools({ url: endpoint.secretUrl })
    assert.equal(kit.tools.length, 1)
    await assert.rejects(mcpTools({ url: endpoint.url }), /cannot be reached/)
    assert.match(endpoint.token, /^[\w-]{43}$/)
  })

  test("it listens to this machine alone", async (context) => {
    const { url } = await serve(context, {})
    assert.equal(new URL(url).hostname, "127.0.0.1")
  })
})

describe("what is sent to do harm", () => {
  test("a hundred megabytes are refused unread, told of in advance or not", async (context) => {
    const endpoint = await serve(context, { tools: { touch: () => "touched" } })
    const size = 100 * 2 ** 20
    const announced = await send(endpoint, {
      path: "/mcp",
      headers: { ...json, ...endpoint.headers, "Content-Length": String(size) },
    })
    assert.equal(announced.statusCode, 413)
    const { sent, status } = await flood(endpoint, size)
    assert.equal(status, 413)
    assert.ok(sent < size / 2, `${sent} bytes were taken.`)
    await works(context, endpoint)
  })

  for (const [what, body, statuses] of [
    ["no JSON", "{{{", [400]],
    ["nothing", "", [400]],
    ["JSON that is no message", '{"hello":"there"}', [400]],
    ["a number", "3", [400]],
    ["null", "null", [400]],
    ["a list of nothing", "[]", [400]],
    ["a call before the beginning", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"touch"}}', [400]],
    ["a method that is not there", '{"jsonrpc":"2.0","id":1,"method":"no/such"}', [400, 404]],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0x80]), [400]],
    ["what would change a prototype", '{"__proto__":{"method":"initialize"},"jsonrpc":"2.0"}', [400]],
    ["depth without end", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, [400, 500]],
  ] as const) {
    test(`is refused: ${what}`, async (context) => {
      const endpoint = await serve(context, { tools: { touch: () => "touched" } })
      const response = await send(endpoint, { path: "/mcp", headers: { ...json, ...endpoint.headers } }, body)
      assert.ok(
        statuses.some((status) => status === response.statusCode),
        `${response.statusCode} ${response.text}`,
      )
      await works(context, endpoint)
    })
  }

  test("other methods and kinds of content are refused", async (context) => {
    const endpoint = await serve(context, { tools: { touch: () => "touched" } })
    const body = JSON.stringify(initialize)
    const put = await send(endpoint, { method: "PUT", path: "/mcp", headers: { ...json, ...endpoint.headers } }, body)
    assert.equal(put.statusCode, 405)
    const form = { ...endpoint.headers, "Content-Type": "text/plain", Accept: json.Accept }
    assert.equal((await send(endpoint, { path: "/mcp", headers: form }, body)).statusCode, 415)
  })

  test("a request that never ends holds up nobody, and goes when the server does", async (context) => {
    const endpoint = await serve(context, { tools: { touch: () => "touched" } })
    const { port } = new URL(endpoint.url)
    const socket = connectSocket(Number(port), "127.0.0.1")
    socket.on("error", () => undefined)
    await once(socket, "connect")
    const head = [
      `POST /mcp HTTP/1.1`,
      "Host: 127.0.0.1",
      `Authorization: Bearer ${endpoint.token}`,
      "Content-Length: 9",
    ]
    socket.write(`${head.join("\r\n")}\r\n\r\n{`)
    await works(context, endpoint)
    const gone = once(socket, "close")
    await endpoint.close()
    await gone
  })

  test("a client cannot end, use or cancel in the session of another", async (context) => {
    const begun = Promise.withResolvers<void>()
    const release = Promise.withResolvers<string>()
    const endpoint = await serve(context, {
      tools: {
        slow() {
          begun.resolve()
          return release.promise
        },
      },
    })
    const victim = await connect(context, endpoint)
    const calling = call(victim, "slow")
    await begun.promise
    const own = await send(
      endpoint,
      { path: "/mcp", headers: { ...json, ...endpoint.headers } },
      JSON.stringify(initialize),
    )
    const session = own.headers["mcp-session-id"]
    assert.equal(typeof session, "string")
    const ended = async (id: string) => {
      const headers = { ...json, ...endpoint.headers, "mcp-session-id": id }
      return (await send(endpoint, { method: "DELETE", path: "/mcp", headers })).statusCode
    }
    assert.equal(await ended("00000000-0000-0000-0000-000000000000"), 404)
    // Request ids are valid only in their own session.
    for (let requestId = 0; requestId < 5; requestId++) {
      const headers = { ...json, ...endpoint.headers, "mcp-session-id": String(session) }
      const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }
      assert.equal((await send(endpoint, { path: "/mcp", headers }, JSON.stringify(cancelled))).statusCode, 202)
    }
    assert.equal(await ended(String(session)), 200)
    assert.equal(await ended(String(session)), 404)
    release.resolve("undisturbed")
    assert.equal(await calling, "undisturbed")
  })
})

async function works(context: TestContext, endpoint: McpEndpoint): Promise<void> {
  const client = await connect(context, endpoint)
  assert.equal(await call(client, "touch"), "touched")
}

/** Sends the path unchanged, without normalising it. */
async function send(
  { url }: McpEndpoint,
  options: RequestOptions,
  body: string | Buffer = "",
): Promise<Pick<IncomingMessage, "statusCode" | "headers"> & { text: string }> {
  const { port } = new URL(url)
  const asking = request({ method: "POST", host: "127.0.0.1", port, agent: false, ...options })
  asking.end(body)
  const response = await answer(asking)
  const { statusCode, headers } = response
  const stream = headers["content-type"]?.startsWith("text/event-stream")
  const text = stream ? "" : await readAll(response)
  if (stream) response.destroy()
  return { statusCode, headers, text }
}

function answer(asking: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => asking.on("response", resolve).on("error", reject))
}

/** Sends an endless body and returns how much was accepted before the response. */
async function flood(
  { url, headers }: McpEndpoint,
  size: number,
): Promise<{ sent: number; status: number | undefined }> {
  const { port } = new URL(url)
  const asking = request({
    method: "POST",
    host: "127.0.0.1",
    port,
    path: "/mcp",
    agent: false,
    headers: { ...json, ...headers },
  })
  let status: number | undefined
  const answered = answer(asking).then((response) => {
    status = response.statusCode
    response.resume()
  })
  asking.on("error", () => undefined)
  const piece = Buffer.alloc(2 ** 16, " ")
  let sent = 0
  while (sent < size && status === undefined && !asking.destroyed) {
    sent += piece.length
    if (!asking.write(piece)) await Promise.race([once(asking, "drain"), answered])
  }
  await answered
  asking.destroy()
  return { sent, status }
}
