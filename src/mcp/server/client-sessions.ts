// HTTP sessions of clients with the protocol of 2025.
import { randomUUID } from "node:crypto"
import type { McpServerFactory, Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import type { ServerPackage } from "../sdk-packages.ts"

interface HttpSession {
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  /** Requests in progress, without the stream on which a client only listens. */
  busy: number
}

/** These clients cancel a call with a separate request, so both must belong to a session. */
export function createClientSessions(sdk: ServerPackage, factory: McpServerFactory, maxSessions: number) {
  // Ordered by last use, oldest first.
  const sessions = new Map<string, HttpSession>()

  async function begin(request: Request, body: unknown): Promise<Response> {
    const created = await factory({ era: "legacy", requestInfo: request })
    const server = "server" in created ? created.server : created
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        sessions.set(id, { server, transport, busy: 0 })
      },
    })
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
    }
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody: body })
    // A request that did not initialize correctly has no session.
    if (transport.sessionId === undefined) await server.close()
    await endIdlest()
    return response
  }

  async function endIdlest(): Promise<void> {
    if (sessions.size <= maxSessions) return
    const [idleLongest] = [...sessions.values()].filter(({ busy }) => busy === 0)
    await idleLongest?.server.close()
  }

  return {
    /** Answers a request. The session is named in its headers, or starts with it. */
    async answer(request: Request, body: unknown): Promise<Response> {
      const id = request.headers.get("mcp-session-id")
      if (id === null && sdk.isInitializeRequest(body)) return begin(request, body)
      if (id === null) return refusal(400, "Begin with initialize: this request names no session.")
      const session = sessions.get(id)
      if (!session) return refusal(404, "Session not found")
      sessions.delete(id)
      sessions.set(id, session)
      if (request.method !== "POST") return session.transport.handleRequest(request)
      session.busy++
      const response = await session.transport.handleRequest(request, { parsedBody: body })
      return notifyWhenRead(response, () => session.busy--)
    },
    toolsChanged(): void {
      for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => undefined)
    },
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map(({ server }) => server.close()))
    },
  }
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status })
}

/** Returns the same response, and calls `done` when it has been read completely or abandoned. */
function notifyWhenRead(response: Response, done: () => void): Response {
  if (!response.body) {
    done()
    return response
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  void response.body.pipeTo(writable).then(done, done)
  return new Response(readable, { status: response.status, headers: response.headers })
}
