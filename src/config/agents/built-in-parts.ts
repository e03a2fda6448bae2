// Loads the parts of the configuration that the built-in agent of the command has: skills, the tools of all MCP
// servers, and hooks.
import type { Hooks } from "../../actions/hooks.ts"
import { errorData } from "../../core/errors.ts"
import type { Skill } from "../../skills.ts"
import type { Tool } from "../../tools/tool.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import { hooksOf } from "../merge-config.ts"
import { loadConfigSkills } from "./config-skills.ts"
import { discoverDataSkills } from "./discover-resources.ts"
import { connectMcpServers } from "./mcp-servers.ts"

export interface BuiltInParts {
  skills: readonly Skill[]
  tools: readonly Tool[]
  hooks: readonly Hooks[]
  /** Problems with skills, and MCP servers that cannot be used. */
  diagnostics: readonly Diagnostic[]
  /** Ends the MCP servers. */
  close(): Promise<void>
}

/** How long a server may take to start. The agent works without a server that takes longer. */
const connectTimeoutMs = 20_000

/** Loads the skills and connects to the MCP servers, which come from configuration files only. A server that cannot be
 *  reached is in `diagnostics`. Throws for a mistake in a skill that the configuration names. */
export async function loadBuiltInParts(loaded: LoadedConfig): Promise<BuiltInParts> {
  const diagnostics: Diagnostic[] = []
  const discovered = await discoverDataSkills(loaded.resourceFolders, diagnostics)
  const skills = await loadConfigSkills(loaded, discovered, diagnostics)
  const names = Object.keys(loaded.config.mcpServers ?? {})
  const servers = await connectMcpServers(names, loaded, diagnostics, { connectTimeoutMs })
  const tools = names.flatMap((name) => {
    try {
      return servers.toolsOf(name)
    } catch (error) {
      const { file, line } = loaded.originOf(`mcpServers.${name}`)
      const message = `${errorData(error).message} The agent works without its tools.`
      diagnostics.push({ severity: "error", path: file ?? `mcpServers.${name}`, line, message })
      return []
    }
  })
  return { skills, tools, hooks: hooksOf(loaded.config), diagnostics, close: servers.close }
}
