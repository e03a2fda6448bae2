// Decides which HTTP requests the MCP server accepts: from this machine, with the token, to the right path.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { ConfigError } from "../../core/errors.ts"

/** Why a request is refused. */
export interface RequestRefusal {
  status: number
  /** The JSON-RPC error code in the response. Default -32000. */
  code?: number
  message: string
  headers?: Record<string, string>
}

export const mcpPath = "/mcp"

/** Returns the refusal of a request, or undefined if it is accepted. A web page in a browser is refused, because it
 *  has neither a local origin nor the token. */
export function authorizeRequest(request: IncomingMessage, token: string): RequestRefusal | undefined {
  const { url = "", headers, method = "" } = request
  const isToken = (given: string) => timingSafeEqual(sha256(given), sha256(token))
  if (!isLoopback(`http://${headers.host}`)) return { status: 403, message: "Forbidden: this is no host of here." }
  if (headers.origin !== undefined && !isLoopback(headers.origin)) {
    return { status: 403, message: "Forbidden: pages of other origins may not come here." }
  }
  const [, bearer = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? []
  // The raw path, without decoding.
  const inPath = url.startsWith(`${mcpPath}/`) ? url.slice(mcpPath.length + 1) : ""
  if (!isToken(bearer) && !isToken(inPath)) {
    return {
      status: 401,
      message: "Unauthorized: the token is missing or wrong.",
      headers: { "WWW-Authenticate": "Bearer" },
    }
  }
  if (url !== mcpPath && !isToken(inPath)) return { status: 404, message: `Not found: the server is at ${mcpPath}.` }
  if (!["POST", "GET", "DELETE"].includes(method)) {
    return { status: 405, message: "Method not allowed.", headers: { Allow: "POST, GET, DELETE" } }
  }
  return undefined
}

/** Returns a random token, or checks the given one. */
export function checkOrCreateToken(given: string | undefined): string {
  if (given === undefined) return randomBytes(32).toString("base64url")
  if (/^[\w-]{32,}$/.test(given)) return given
  throw new ConfigError('token: it must be at least 32 letters, digits, "_" and "-". Leave it out to have one made.')
}

// Hashes have equal lengths, as the constant-time comparison requires.
function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && ["localhost", "127.0.0.1", "[::1]"].includes(new URL(origin).hostname)
}
