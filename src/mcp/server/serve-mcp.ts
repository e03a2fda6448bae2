// Serves MCP over HTTP on this machine.
import { once } from "node:events"
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setImmediate } from "node:timers/promises"
import { checkOptions } from "../../core/checks/check-options.ts"
import { ConfigError } from "../../core/errors.ts"
import { resultWithin } from "../../core/time-limit.ts"
import { serveMcpChecks } from "../mcp-option-checks.ts"
import type { McpEndpoint, ServeMcpOptions } from "../mcp-types.ts"
import { loadServer, type ServerPackage } from "../sdk-packages.ts"
import { authorizeRequest, checkOrCreateToken, mcpPath, type RequestRefusal } from "./authorize-request.ts"
import { createClientSessions } from "./client-sessions.ts"
import { createMcpService } from "./mcp-service.ts"

/** Serves tools, a runtime, or both to any number of MCP clients on this machine that know the token: streamable
 *  HTTP on 127.0.0.1. */
export async function serveMcp(options: ServeMcpOptions): Promise<McpEndpoint> {
  checkOptions("serveMcp()", options, serveMcpChecks)
  const { port = 0, maxBodyBytes = 4 * 2 ** 20, maxSessions = 256 } = options
  const token = checkOrCreateToken(options.token)
  const sdk = await loadServer()
  const service = createMcpService(sdk, options)
  // The runtime may have to start first.
  await service.refresh(10_000)
  const sessions = createClientSessions(sdk, service.factory, maxSessions)
  const modern = sdk.createMcpHandler(service.factory, { legacy: "reject" })
  const answering = new Set<Promise<unknown>>()
  const answer = sdk.toNodeHandler({
    async fetch(request, { parsedBody } = {}) {
      if (startsSession(parsedBody)) await service.refresh()
      return (await sdk.isLegacyRequest(request, parsedBody))
        ? sessions.answer(request, parsedBody)
        : modern.fetch(request, { parsedBody })
    },
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = authorizeRequest(request, token)
    if (refusal) return sendRefusal(response, refusal)
    // The same object; only the declared types of missing members differ.
    const nodeRequest = request as NodeRequest
    if (request.method !== "POST") return answer(nodeRequest, response)
    const body = await readBody(request, maxBodyBytes)
    return "status" in body ? sendRefusal(response, body) : answer(nodeRequest, response, body.value)
  }

  const http = createServer((request, response) => {
    // A client that disconnects during its request is not an error.
    const work = handle(request, response).catch(() => response.destroy())
    if (request.method !== "POST") return
    answering.add(work)
    void work.finally(() => answering.delete(work))
  })
  const origin = await listen(http, port)
  let closing: Promise<void> | undefined

  async function end(): Promise<void> {
    const closed = once(http, "close")
    http.close()
    await service.close()
    // Lets the results of calls reach their streams before those are closed.
    await setImmediate()
    await Promise.all([sessions.close(), modern.close()])
    await resultWithin(Promise.allSettled(answering), 1000)
    http.closeAllConnections()
    await closed
  }

  const close = () => {
    closing ??= end()
    return closing
  }
  return {
    url: `${origin}${mcpPath}`,
    token,
    headers: { Authorization: `Bearer ${token}` },
    secretUrl: `${origin}${mcpPath}/${token}`,
    updateTools(tools) {
      if (tools) service.replaceTools(tools)
      sessions.toolsChanged()
      modern.notify.toolsChanged()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type NodeRequest = Parameters<ReturnType<ServerPackage["toNodeHandler"]>>[0]

// New clients get the current declarations.
function startsSession(body: unknown): boolean {
  if (typeof body !== "object" || body === null || !("method" in body)) return false
  return body.method === "initialize" || body.method === "server/discover"
}

async function listen(http: HttpServer, port: number): Promise<string> {
  http.listen(port, "127.0.0.1")
  try {
    await once(http, "listening")
  } catch (cause) {
    throw new ConfigError(`serveMcp: port ${port} cannot be had: ${String(cause)}. Leave it out for a free one.`, {
      cause,
    })
  }
  const address = http.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`
}

function sendRefusal(response: ServerResponse, { status, code = -32000, message, headers }: RequestRefusal): void {
  // The rest of the request is not read: the connection is closed after the response.
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...headers })
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }))
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<{ value: unknown } | RequestRefusal> {
  const bytes = await readAtMost(request, maxBytes)
  if (!bytes) return { status: 413, message: `Payload too large: a request has at most ${maxBytes} bytes.` }
  try {
    return { value: JSON.parse(bytes.toString("utf8")) }
  } catch {
    return { status: 400, code: -32700, message: "Parse error: the body is not JSON." }
  }
}

/** Iterating the request would close the connection of a too long one before it gets its response. */
async function readAtMost(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"]) > maxBytes) return undefined
  const chunks: Buffer[] = []
  let size = 0
  const read = Promise.withResolvers<void>()
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    chunks.push(chunk)
    if (size > maxBytes) read.resolve()
  })
  request.on("end", read.resolve)
  request.on("error", read.reject)
  await read.promise
  if (size <= maxBytes) return Buffer.concat(chunks)
  request.removeAllListeners("data").pause()
  return undefined
}
