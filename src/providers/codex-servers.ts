import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { CliServer, Settings } from "./provider.ts"
import type { Toml } from "./toml.ts"

/** The MCP servers of a turn as settings of Codex: ours on, the user's own off. Secrets go by the environment: a list of processes shows
 *  arguments to everybody. */
export async function codexServers({ servers, env: outer }: Pick<Settings, "servers" | "env">): Promise<{
  config: Record<string, Toml>
  env: Record<string, string>
}> {
  const env: Record<string, string> = {}
  const config: Record<string, Toml> = {}
  for (const name of await ownServers(outer)) {
    if (!servers.some((server) => server.name === name)) config[`mcp_servers.${name}.enabled`] = false
  }
  for (const server of servers) Object.assign(config, serverConfig(server, env, outer))
  return { config, env }
}

// Settings of several places are merged, so that an empty list of ours would leave them on.
async function ownServers(env: Readonly<Record<string, string>>): Promise<Set<string>> {
  const file = join(env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex"), "config.toml")
  // One that is not there names none; one that cannot be read is Codex's to complain about.
  const text = await readFile(file, "utf8").catch(() => "")
  return new Set([...text.matchAll(/^\s*\[?\s*mcp_servers\s*\.\s*"?([\w-]+)"?/gm)].map(([, name = ""]) => name))
}

function serverConfig(server: CliServer, env: Record<string, string>, outer: Readonly<Record<string, string>>) {
  const at = `mcp_servers.${server.name}`
  const common = {
    [`${at}.tool_timeout_sec`]: Math.ceil(server.toolTimeoutMs / 1000),
    [`${at}.default_tools_approval_mode`]: "approve",
  }
  if ("url" in server) return { ...common, [`${at}.url`]: server.url, ...headersConfig(server, at, env) }
  const { command, args = [], env: own = {} } = server
  const [passed, written]: [string[], Record<string, string>] = [[], {}]
  for (const [name, value] of Object.entries(own)) {
    // A variable that means something else to Codex, or to another server, cannot be handed on by its name.
    if ((env[name] ?? outer[name] ?? value) !== value) {
      written[name] = value
      continue
    }
    env[name] = value
    passed.push(name)
  }
  return {
    ...common,
    [`${at}.command`]: command,
    [`${at}.args`]: [...args],
    ...(passed.length > 0 && { [`${at}.env_vars`]: passed }),
    ...(Object.keys(written).length > 0 && { [`${at}.env`]: written }),
  }
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
