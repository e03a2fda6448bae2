// Describes a coding-CLI agent as JSON without secrets.
import type { Agent } from "../core/agent.ts"
import { type AgentSpec, getAgentSpec } from "../core/agent-spec.ts"
import type { ToolSources } from "../mcp/mcp-types.ts"
import { toTools } from "../mcp/tool-sources.ts"
import { isAgent } from "../runtime/bindings.ts"
import { type CliOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"

export async function cliAgentSpec(provider: Provider, options: CliOptions): Promise<AgentSpec> {
  const { name, settings, mcpServers, tools = [] } = resolveOptions(provider, options)
  const { model, reasoning, instructions, allow } = settings
  const servers = Object.keys(mcpServers)
  const entries = entriesOf(tools)
  const agents = await Promise.all(
    entries.flatMap(([as, source]) => (isAgent(source) ? [getAgentSpec(source as Agent, as)] : [])),
  )
  const own = entries.filter(([, source]) => !isAgent(source))
  return {
    name,
    ...(options.description !== undefined && { description: options.description }),
    provider: provider.name,
    ...(model !== undefined && { model }),
    ...(reasoning !== undefined && { reasoning }),
    ...(instructions !== undefined && { instructions }),
    allow: [...allow],
    tools: own.flatMap(([as, source]) => toolSpecs(as, source)),
    agents,
    ...(servers.length > 0 && { mcpServers: servers }),
  }
}

type Entry = [name: string | undefined, source: unknown]

function entriesOf(tools: ToolSources): Entry[] {
  return Array.isArray(tools) ? tools.map((source): Entry => [undefined, source]) : Object.entries(tools)
}

function toolSpecs(as: string | undefined, source: unknown): AgentSpec["tools"] {
  // The cast holds: the agent's options were checked when it was created.
  const tools = toTools((as === undefined ? [source] : { [as]: source }) as ToolSources)
  return tools.map(({ name, description, input }) => ({ name, description, input }))
}
