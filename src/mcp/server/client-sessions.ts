import { randomUUID } from "node:crypto"
import type { McpServerFactory, Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import type { ServerPackage } from "../sdk-packages.ts"

/** The sessions of clients that have some, which are those of the protocol of 2025: a call is cancelled by another request,
 *  which only a session can bring together with it. */
export interface ClientSessions {
  /** Answers one request; the session is named in its headers, or begins with it. */
  answer(request: Request, body: unknown): Promise<Response>
  toolsChanged(): void
  close(): Promise<void>
}

interface HttpSession {
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  /** Requests under way, not counting the stream on which a client only listens. */
  busy: number
}

export function createClientSessions(
  sdk: ServerPackage,
  factory: McpServerFactory,
  maxSessions: number,
): ClientSessions {
  // The one that was used longest ago is the first.
  const sessions = new Map<string, HttpSession>()

  async function begin(request: Request, body: unknown): Promise<Response> {
    const made = await factory({ era: "legacy", requestInfo: request })
    const server = "server" in made ? made.server : made
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
    // What was no proper beginning has no session.
    if (transport.sessionId === undefined) await server.close()
    await endIdlest()
    return response
  }

  async function endIdlest(): Promise<void> {
    if (sessions.size <= maxSessions) return
    const [idlest] = [...sessions.values()].filter(({ busy }) => busy === 0)
    await idlest?.server.close()
  }

  return {
    async answer(request, body) {
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
    toolsChanged() {
      for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => undefined)
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ server }) => server.close()))
    },
  }
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status })
}

/** The same response, which tells when it was read to its end or given up. */
function notifyWhenRead(response: Response, done: () => void): Response {
  if (!response.body) {
    done()
    return response
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  void response.body.pipeTo(writable).then(done, done)
  return new Response(readable, { status: response.status, headers: response.headers })
}
