// Prepares the agent that continues a stored session, and refuses another agent than the one that ran it.
import type { LoadedConfig } from "../../config/load-config.ts"
import type { Agent } from "../../core/agent.ts"
import { knownProviders } from "../../providers/coding-agent.ts"
import type { StoredSession } from "../../sessions/session-archive.ts"
import { UsageError } from "../usage-error.ts"
import { type AgentValues, type PreparedAgent, prepareAgent } from "./prepare-agent.ts"

/** `stored`: undefined for a session that only a coding CLI has. */
export async function prepareSessionAgent(
  stored: StoredSession | undefined,
  values: AgentValues,
  config: LoadedConfig,
): Promise<PreparedAgent> {
  const prepared = await prepareAgent(values, config)
  try {
    if (stored) requireSameAgent(stored, values, prepared.agent)
    return prepared
  } catch (error) {
    await prepared.close()
    throw error
  }
}

/** Throws if the agent is another one than that of the session, and no option names it. The default agent depends on
 *  the folder of the command, so that it may be another one by mistake. */
export function requireSameAgent({ record }: StoredSession, { agent, provider }: AgentValues, { name }: Agent): void {
  if (agent !== undefined || provider !== undefined || record.agent === name) return
  const isProvider = knownProviders.some((each) => each.name === record.agent)
  const option = isProvider ? `--provider ${record.agent}` : `--agent ${record.agent}`
  throw new UsageError(
    `${record.id} is a session of the agent "${record.agent}", and the agent here is "${name}". ` +
      `Go to the project of the agent, or name the agent that continues: ${option}`,
  )
}
