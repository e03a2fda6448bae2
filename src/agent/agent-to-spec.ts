// Describes an agent made by createAgent as JSON, with its tools and sub-agents.
import { type AgentSpec, getAgentSpec } from "../core/agent-spec.ts"
import type { AgentConfig } from "./agent-config.ts"

export async function createAgentSpec(config: AgentConfig, description: string | undefined): Promise<AgentSpec> {
  const { name, model, instructions, tools, agents = {} } = config
  return {
    name,
    ...(description !== undefined && { description }),
    model: model.id,
    ...(instructions && { instructions }),
    tools: tools.map(({ name, description, input }) => ({ name, description, input })),
    agents: await Promise.all(Object.entries(agents).map(([as, agent]) => getAgentSpec(agent, as))),
  }
}
