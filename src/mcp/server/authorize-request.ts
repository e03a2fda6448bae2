import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { ConfigError } from "../../core/errors.ts"

/** Why a request is turned away. */
export interface Refusal {
  status: number
  /** Of the error in the answer. Default -32000. */
  code?: number
  message: string
  headers?: Record<string, string>
}

export const mcpPath = "/mcp"

/** Lets in who comes from this machine, knows the token and asks at the right place; a page in a browser that was lured here
 *  has neither. */
export function authorizeRequest(token: string): (request: IncomingMessage) => Refusal | undefined {
  const expected = sha256(token)
  const isToken = (given: string) => timingSafeEqual(sha256(given), expected)
  return ({ url = "", headers, method = "" }) => {
    if (!isLoopback(`http://${headers.host}`)) return { status: 403, message: "Forbidden: this is no host of here." }
    if (headers.origin !== undefined && !isLoopback(headers.origin)) {
      return { status: 403, message: "Forbidden: pages of other origins may not come here." }
    }
    const [, bearer = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? []
    // The path as it was sent: nothing in it is taken for something else.
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
}

/** A token that nobody guesses, or the caller's own where it is long enough. */
export function checkOrCreateToken(given: string | undefined): string {
  if (given === undefined) return randomBytes(32).toString("base64url")
  if (/^[\w-]{32,}$/.test(given)) return given
  throw new ConfigError('token: it must be at least 32 letters, digits, "_" and "-". Leave it out to have one made.')
}

// Of one length, whatever was sent.
function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && ["localhost", "127.0.0.1", "[::1]"].includes(new URL(origin).hostname)
}
