// The description of an agent as plain JSON, for tools that list or display agents.
import type { Agent } from "./agent.ts"
import type { JsonSchema } from "./json.ts"

/** Describes an agent. Contains no environment, headers, arguments or values, so no secrets except those written
 *  into a text by the user. */
export interface AgentSpec {
  name: string
  description?: string
  /** The coding CLI, if the agent is one. */
  provider?: string
  model?: string
  reasoning?: string
  instructions?: string
  /** The tool groups that the coding CLI may use. */
  allow?: string[]
  tools: { name: string; description: string; input: JsonSchema }[]
  /** The agents it can delegate tasks to. */
  agents: AgentSpec[]
  /** For a fallback agent: its agents in order. All other fields describe the first of them. */
  fallback?: AgentSpec[]
  /** Names of its MCP servers. */
  mcpServers?: string[]
}

/** Returns the spec of any agent, under the given name. */
export async function getAgentSpec(agent: Agent, as = agent.name): Promise<AgentSpec> {
  const { description } = agent
  const bare = { ...(description !== undefined && { description }), tools: [], agents: [] }
  return { ...((await agent.spec?.()) ?? bare), name: as }
}
