// Serves the agent's tools and runtime to a coding CLI over MCP.
import { resolve } from "node:path"
import { ConfigError } from "../core/errors.ts"
import type { McpCall, McpCommand, McpHost, ServeOptions } from "../mcp/mcp-types.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { CliConfig } from "./options.ts"
import type { CliServer } from "./provider.ts"

/** The MCP servers of a conversation: those in the options, and ours. */
export interface ServedTools {
  readonly servers: readonly CliServer[]
  /** Sets the host of calls that arrive from now on. */
  setCallHost(host: (call: McpCall) => McpHost): void
  close(): Promise<void>
}

/** The name of our server in the CLIs. */
export const karstServerName = "karst"

/** Returns the tool that a CLI calls, without the name of its server; undefined if the name has no such prefix. CLIs
 *  name tools differently: karst_run, karst__run, mcp_karst_run, mcp__karst__run. */
export function toolOfServer(name: string, server: CliServer["name"]): string | undefined {
  return new RegExp(`^(?:mcp__${server}__|(?:mcp_)?${server}(?:__|[_./:-]))(.*)`, "s").exec(name)?.[1]
}

// A tool may be an agent that works for long. The run's limits still apply.
const toolTimeoutMs = 3_600_000

/** Starts the server, if there are tools or a runtime. `withoutRun`: the rules for calls while `setCallHost` was not
 *  called. */
export async function serveTools(
  config: CliConfig,
  runtime: Runtime | undefined,
  withoutRun: Pick<ServeOptions, "approver" | "approvalTimeoutMs" | "hooks" | "limits" | "onEvent"> = {},
): Promise<ServedTools> {
  const { tools, mcpServers } = config
  const users = Object.entries(mcpServers).map(([name, server]): CliServer => {
    if ("url" in server) return { name, toolTimeoutMs, url: server.url, headers: server.headers }
    return { name, toolTimeoutMs, ...commandInFolder(name, server, config.cwd), env: server.env }
  })
  const hasTools = tools !== undefined && (Array.isArray(tools) ? tools.length > 0 : Object.keys(tools).length > 0)
  if (!hasTools && !runtime) return { servers: users, setCallHost: () => undefined, close: async () => undefined }
  let current: (call: McpCall) => McpHost = () => ({})
  // Imported late: it needs optional packages.
  const { serveMcp } = await import("../mcp/server/serve-mcp.ts")
  const endpoint = await serveMcp({
    name: karstServerName,
    ...(hasTools && { tools }),
    ...(runtime && { runtime }),
    ...config.cells,
    ...withoutRun,
    host: (call) => current(call),
  })
  const own: CliServer = { name: karstServerName, toolTimeoutMs, url: endpoint.url, headers: endpoint.headers }
  return {
    servers: [...users, own],
    setCallHost(host) {
      current = host
    },
    close: () => endpoint.close(),
  }
}

/** The command that starts a server in its folder. CLIs start servers in their own folder, so a shell changes it. */
function commandInFolder(
  name: string,
  { command, args = [], cwd }: McpCommand,
  cliFolder = ".",
): Pick<McpCommand, "command" | "args"> {
  if (cwd === undefined || resolve(cwd) === resolve(cliFolder)) return { command, args }
  if (process.platform === "win32") {
    throw new ConfigError(
      `mcpServers.${name}: on Windows a coding CLI starts its servers in its own folder, and not in ${cwd}. ` +
        "Leave out `cwd`, or work in that folder.",
    )
  }
  return { command: "/bin/sh", args: ["-c", 'cd "$0" && exec "$@"', resolve(cwd), command, ...args] }
}
