import type { Agent } from "../core/agent.ts"
import type { JsonSchema } from "../core/json.ts"
import { toTools } from "../mcp/kit.ts"
import type { ToolSources } from "../mcp/mcp.ts"
import { isAgent } from "../runtime/bindings.ts"
import { type CliOptions, resolveOptions } from "./options.ts"
import type { Provider, ToolGroup } from "./provider.ts"

/** What an agent is, as JSON. No environment, header or argument is in it, so no secret. */
export interface AgentSpec {
  name: string
  description?: string
  /** The CLI behind it. */
  provider?: string
  model?: string
  reasoning?: string
  instructions?: string
  /** What the CLI may do itself. */
  allow?: ToolGroup[]
  tools: { name: string; description: string; input: JsonSchema }[]
  /** The agents that it may give tasks to, as tools. */
  agents: AgentSpec[]
  /** Of a fallback: its agents, in their order. The rest is that of the first. */
  fallback?: AgentSpec[]
  /** The names of its MCP servers. */
  mcpServers?: string[]
}

export async function specOf(provider: Provider, options: CliOptions): Promise<AgentSpec> {
  const { name, settings, mcpServers, tools = [] } = resolveOptions(provider, options)
  const { model, reasoning, instructions, allow } = settings
  const servers = Object.keys(mcpServers)
  const entries = entriesOf(tools)
  const agents = await Promise.all(
    entries.flatMap(([as, source]) => (isAgent(source) ? [specOfAgent(source as Agent, as)] : [])),
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
  // What it may be was checked by who took it.
  const tools = toTools((as === undefined ? [source] : { [as]: source }) as ToolSources)
  return tools.map(({ name, description, input }) => ({ name, description, input }))
}

/** The spec of an agent of any kind, under the name that it has here. */
export async function specOfAgent(agent: Agent, as = agent.name): Promise<AgentSpec> {
  if ("spec" in agent && typeof agent.spec === "function") return { ...(await agent.spec()), name: as }
  const { description } = agent
  return { name: as, ...(description !== undefined && { description }), tools: [], agents: [] }
}
