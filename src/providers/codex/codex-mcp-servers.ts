// Builds the Codex settings for the MCP servers of a turn.
import { readFile, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import { requireKnownServers } from "../options.ts"
import type { CliServer, TurnSettings } from "../provider.ts"
import type { Toml } from "./toml.ts"

/** Enables the given servers and the allowed ones of the user, and disables the others. Secrets are passed by
 *  environment and private files, because other users can list process arguments. */
export async function codexMcpServers(
  { servers, userServers, env: cliEnv }: Pick<TurnSettings, "servers" | "userServers" | "env">,
  folder: string,
): Promise<{ config: Record<string, Toml>; env: Record<string, string> }> {
  const env: Record<string, string> = {}
  const config: Record<string, Toml> = {}
  const known = await readConfiguredServers(cliEnv)
  requireKnownServers("Codex", userServers, [...known])
  for (const name of known) {
    if (userServers.includes(name)) config[`mcp_servers.${name}.default_tools_approval_mode`] = "approve"
    else if (!servers.some((server) => server.name === name)) config[`mcp_servers.${name}.enabled`] = false
  }
  for (const server of servers) Object.assign(config, await serverConfig(server, env, folder))
  return { config, env }
}

// The user's servers must be disabled by name, because Codex merges settings of all sources.
async function readConfiguredServers(env: Readonly<Record<string, string>>): Promise<Set<string>> {
  const file = join(env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex"), "config.toml")
  // Codex itself reports an unreadable file.
  const text = await readFile(file, "utf8").catch(() => "")
  return new Set(
    [...text.matchAll(/^[ \t]*(?:\[[ \t]*)?mcp_servers[ \t]*\.[ \t]*"?([\w-]+)"?/gm)].map(([, name = ""]) => name),
  )
}

async function serverConfig(server: CliServer, env: Record<string, string>, folder: string) {
  const at = `mcp_servers.${server.name}`
  const common = {
    [`${at}.tool_timeout_sec`]: Math.ceil(server.toolTimeoutMs / 1000),
    [`${at}.default_tools_approval_mode`]: "approve",
  }
  if ("url" in server) return { ...common, [`${at}.url`]: server.url, ...headersConfig(server, at, env) }
  const { command, args = [], env: own = {} } = server
  const variables = Object.entries(own)
  if (variables.length === 0) return { ...common, [`${at}.command`]: command, [`${at}.args`]: [...args] }
  // Variables are set by a script, because in the environment of Codex they could change Codex itself.
  const script = join(folder, `${server.name}.sh`)
  const lines = variables.map(([name, value]) => `export ${variableName(server, name)}=${quoted(value)}\n`)
  await writeFile(script, `${lines.join("")}exec "$@"\n`, { mode: 0o600 })
  return { ...common, [`${at}.command`]: "/bin/sh", [`${at}.args`]: [script, command, ...args] }
}

function variableName({ name: server }: CliServer, name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new ConfigError(`mcpServers.${server}.env: "${name}" is no name of a variable.`)
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}

function headersConfig(server: Extract<CliServer, { url: string }>, at: string, env: Record<string, string>) {
  const headers: Record<string, string> = {}
  for (const [index, [name, value]] of Object.entries(server.headers ?? {}).entries()) {
    const variable = `KARST_HEADER_${server.name.toUpperCase().replaceAll("-", "_")}_${index}`
    env[variable] = value
    headers[name] = variable
  }
  return Object.keys(headers).length > 0 ? { [`${at}.env_http_headers`]: headers } : {}
}
