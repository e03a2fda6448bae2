// Connects to the MCP servers of the configuration that agents use.
import { ConfigError, errorData } from "../../core/errors.ts"
import { timerMs } from "../../core/time-limit.ts"
import type { McpServer, McpToolKit } from "../../mcp/mcp-types.ts"
import type { Tool } from "../../tools/tool.ts"
import type { Diagnostic } from "../diagnostics.ts"
import { expandRecord, expandVariables } from "../expand-variables.ts"
import { environmentOf, type LoadedConfig } from "../load-config.ts"
import { namesText } from "./names-text.ts"

export interface McpConnections {
  /** Returns the tools of a server, with its name as a prefix. Throws if it is unknown or could not be reached. */
  toolsOf(server: string): readonly Tool[]
  /** Returns a server with its variables expanded. */
  serverOf(server: string): McpServer
  close(): Promise<void>
}

/** Connects to the servers, all at the same time. `toolsOf` throws for a server that cannot be reached, or not within
 *  `connectTimeoutMs`. */
export async function connectMcpServers(
  names: readonly string[],
  loaded: LoadedConfig,
  diagnostics: Diagnostic[],
  { connectTimeoutMs }: { connectTimeoutMs?: number | undefined } = {},
): Promise<McpConnections> {
  const kits = new Map<string, McpToolKit>()
  const failures = new Map<string, unknown>()
  const { mcpServers = {} } = loaded.config

  function serverOf(name: string): McpServer {
    const server = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined
    if (!server)
      throw new ConfigError(`mcp: there is no MCP server "${name}".${namesText(name, Object.keys(mcpServers))}`)
    return expandServer(name, server, loaded)
  }

  async function connect(name: string): Promise<void> {
    const { mcpTools } = await import("../../mcp/client/mcp-tools.ts")
    const onWarning = (message: string) =>
      diagnostics.push({ severity: "warning", path: `mcpServers.${name}`, message })
    const signal = connectTimeoutMs === undefined ? undefined : AbortSignal.timeout(timerMs(connectTimeoutMs))
    try {
      kits.set(name, await mcpTools(serverOf(name), { name, prefix: name, onWarning, signal }))
    } catch (error) {
      if (!signal?.aborted) throw error
      throw new ConfigError(`it did not start within ${connectTimeoutMs} ms.`, { cause: error })
    }
  }

  await Promise.all(names.map((name) => connect(name).catch((error: unknown) => failures.set(name, error))))
  return {
    serverOf,
    toolsOf(name) {
      const kit = kits.get(name)
      if (kit) return kit.tools
      serverOf(name)
      const failure = failures.get(name)
      throw new ConfigError(
        failure === undefined
          ? `mcp: the MCP server "${name}" is not connected, because no agent of the configuration uses it. Name it in \`mcp\` of one.`
          : `mcp: the MCP server "${name}" cannot be used: ${errorData(failure).message}`,
        { cause: failure },
      )
    },
    async close() {
      await Promise.all([...kits.values()].map((kit) => kit.close()))
    },
  }
}

/** Finds mistakes in the names and variables of servers without starting one. No server has tools. */
export async function describeMcpServers(loaded: LoadedConfig): Promise<McpConnections> {
  const servers = await connectMcpServers([], loaded, [])
  return {
    ...servers,
    toolsOf(name) {
      servers.serverOf(name)
      return []
    },
  }
}

function expandServer(name: string, server: McpServer, loaded: LoadedConfig): McpServer {
  const env = environmentOf(loaded)
  const use = `The MCP server "${name}"`
  const expand = (text: string) => expandVariables(text, env, use)
  if ("url" in server) {
    const { url, headers } = server
    return { url: expand(url), ...(headers && { headers: expandRecord(headers, env, use) }) }
  }
  const { command, args, env: variables, cwd } = server
  return {
    command: expand(command),
    ...(args && { args: args.map(expand) }),
    ...(variables && { env: expandRecord(variables, env, use) }),
    ...(cwd !== undefined && { cwd }),
  }
}
