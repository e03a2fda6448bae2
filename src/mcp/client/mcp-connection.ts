// Connects to an MCP server, over standard streams or HTTP.
import type {
  AuthProvider,
  Client,
  ListChangedHandlers,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client"
import { AgentError, ConfigError, errorData } from "../../core/errors.ts"
import { ownVersion } from "../../core/own-version.ts"
import { hideInAddresses, isProgram } from "../../core/text/hide-secrets.ts"
import { timerMs } from "../../core/time-limit.ts"
import type { McpClientOptions, McpServer } from "../mcp-types.ts"
import type { ClientPackage } from "../sdk-packages.ts"
import { createStdioTransport } from "./stdio-transport.ts"

/** A connection to an MCP server. */
export interface Connection {
  client: Client
  /** Sends a request. Repeats it once if the user had to authorize first. */
  request<T>(request: (client: Client) => Promise<T>): Promise<T>
  isOpen(): boolean
  /** Why the server ended, if known. */
  endReason(): string
  close(): Promise<void>
}

export interface ConnectOptions extends Pick<McpClientOptions, "auth" | "waitForAuthorization" | "name"> {
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Called when the server's tools have changed. */
  onTools: NonNullable<ListChangedHandlers["tools"]>["onChanged"]
}

/** Connects with the handshake of 2025, which nearly every server accepts, and with that of 2026 only if the server
 *  refuses it. The reverse order crashes some older programs. */
export async function connectToServer(
  sdk: ClientPackage,
  server: McpServer,
  options: ConnectOptions,
  isAuthorized = false,
): Promise<Connection> {
  try {
    return await tryConnect(sdk, server, options, "legacy")
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason
    if (error instanceof AuthorizationFinished && !isAuthorized)
      return await connectToServer(sdk, server, options, true)
    if (!isHandshakeRefusal(sdk, error)) throw unreachableError(server, options, error)
    return await tryConnect(sdk, server, options, "auto").catch(() => {
      throw unreachableError(server, options, error)
    })
  }
}

/** A name for a server in messages, without parts that may be secret. */
export function serverLabel(server: McpServer): string {
  if ("url" in server) return URL.canParse(server.url) ? new URL(server.url).host : hideInAddresses(server.url)
  const script = server.args?.find(isProgram)
  return script === undefined ? server.command : `${server.command} ${script}`
}

async function tryConnect(
  sdk: ClientPackage,
  server: McpServer,
  { auth, waitForAuthorization, timeoutMs, signal, onTools }: ConnectOptions,
  mode: "legacy" | "auto",
): Promise<Connection> {
  const child = "command" in server ? createStdioTransport(sdk, server) : undefined
  const transport = child ?? createHttpTransport(sdk, server, auth)
  const client = new sdk.Client(
    { name: "karst", version: ownVersion() },
    { versionNegotiation: { mode }, listChanged: { tools: { onChanged: onTools } } },
  )
  let isOpen = true
  client.onclose = () => {
    isOpen = false
  }
  const close = async () => {
    isOpen = false
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
  }
  const finishAuthorization = async (error: unknown) => {
    if (!(error instanceof sdk.UnauthorizedError) || !waitForAuthorization || !("finishAuth" in transport)) return false
    await transport.finishAuth(await waitForAuthorization())
    return true
  }
  try {
    await client.connect(transport, { timeout: timerMs(timeoutMs), ...(signal && { signal }) })
  } catch (error) {
    const isAuthorized = await finishAuthorization(error)
    await close()
    if (isAuthorized) throw new AuthorizationFinished()
    if (!child || error instanceof AgentError) throw error
    throw isConnectionClosed(sdk, error)
      ? new AgentError(`${child.endReason()}.`, { code: "server-gone", cause: error })
      : error
  }
  return {
    client,
    async request(request) {
      try {
        return await request(client)
      } catch (error) {
        if (await finishAuthorization(error)) return await request(client)
        throw error
      }
    },
    isOpen: () => isOpen,
    close,
    endReason: () => child?.endReason() ?? "the connection was lost",
  }
}

/** The user has authorized the connection, so it can be retried with the new tokens. */
class AuthorizationFinished extends Error {
  override message = "the user was asked, and it still says no"
}

function createHttpTransport(
  sdk: ClientPackage,
  server: McpServer,
  auth: McpClientOptions["auth"],
): StreamableHTTPClientTransport {
  if (!("url" in server) || !URL.canParse(server.url)) {
    throw new ConfigError("mcpTools: a server has a `command` to start, or a whole `url`: http://…")
  }
  return new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    ...(server.headers && { requestInit: { headers: { ...server.headers } } }),
    // The package accepts both forms.
    ...(auth && { authProvider: auth as AuthProvider }),
  })
}

export function isConnectionClosed({ SdkError, SdkErrorCode }: ClientPackage, error: unknown): boolean {
  return error instanceof SdkError && [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected].includes(error.code)
}

// The server answered, but refused the handshake.
function isHandshakeRefusal({ ProtocolError, SdkHttpError }: ClientPackage, error: unknown): boolean {
  return error instanceof ProtocolError || (error instanceof SdkHttpError && error.status === 400)
}

function unreachableError(server: McpServer, { name }: ConnectOptions, cause: unknown): AgentError {
  if (cause instanceof ConfigError) return cause
  const reason = `${errorData(cause).message}${causeText(cause)}`
  return new AgentError(`The MCP server "${name ?? serverLabel(server)}" cannot be reached: ${reason}`, {
    code: "server-gone",
    retryable: true,
    cause,
  })
}

// `fetch` puts the reason into the cause; our own errors have it in the message.
function causeText(error: unknown): string {
  const cause = error instanceof Error && !(error instanceof AgentError) ? error.cause : undefined
  return cause instanceof Error ? ` (${cause.message})` : ""
}
