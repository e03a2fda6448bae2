import type { Agent } from "./agent.ts"
import type { JsonSchema } from "./json.ts"

/** What an agent is, as JSON. No environment, header, argument or value is in it, so no secret but what you wrote into a text. */
export interface AgentSpec {
  name: string
  description?: string
  /** The coding CLI behind it. */
  provider?: string
  model?: string
  reasoning?: string
  instructions?: string
  /** What the CLI may do itself. */
  allow?: string[]
  tools: { name: string; description: string; input: JsonSchema }[]
  /** The agents that it may give tasks to. */
  agents: AgentSpec[]
  /** Of a fallback: its agents, in their order. The rest is that of the first. */
  fallback?: AgentSpec[]
  /** The names of its MCP servers. */
  mcpServers?: string[]
}

/** The spec of an agent of any kind, under the name that it has here. */
export async function getAgentSpec(agent: Agent, as = agent.name): Promise<AgentSpec> {
  const { description } = agent
  const bare = { ...(description !== undefined && { description }), tools: [], agents: [] }
  return { ...((await agent.spec?.()) ?? bare), name: as }
}
