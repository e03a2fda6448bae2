// Finds an agent of the user: by its name in the configuration, or in a module.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { loadRegistry } from "../../config/agents/load-agents.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import type { Agent, AgentOverrides } from "../../core/agent.ts"
import { isAgent } from "../../runtime/bindings.ts"
import { importNamedModule } from "../load/import-named-module.ts"
import { suggestion } from "../parse-command-line.ts"
import { UsageError } from "../usage-error.ts"
import { withData } from "./agent-data.ts"
import { printDiagnostics } from "./print-diagnostics.ts"

export interface UserAgent {
  agent: Agent
  /** Ends the MCP servers of the agent. */
  close(): Promise<void>
}

/** Finds `./agents.ts`, which exports one agent, `./agents.ts#name`, or an agent of the configuration. `data`: files for
 *  variables of its runtime. */
export async function loadUserAgent(
  text: string,
  { model, data }: { model?: string | undefined; data: readonly string[] },
  config: LoadedConfig,
): Promise<UserAgent> {
  const found = await findUserAgent(text, model, config)
  if (data.length === 0) return found
  try {
    return { ...found, agent: await withData(found.agent, data) }
  } catch (error) {
    await found.close()
    throw error
  }
}

async function findUserAgent(text: string, model: string | undefined, config: LoadedConfig): Promise<UserAgent> {
  const [, path = "", name] = /^(.*\.[cm]?[jt]s)(?:#(.+))?$/s.exec(text) ?? []
  if (path !== "") return { agent: await agentOfModule(path, name, model), close: async () => {} }
  if (/[\\/]/.test(text)) throw new UsageError(`--agent: ${text} is no module. Name a .ts or .js file, or an agent.`)
  const registry = await loadRegistry({ config, only: [text] })
  // An error of this agent is thrown below; errors of others do not matter here.
  printDiagnostics(registry.diagnostics().filter(({ severity }) => severity === "warning"))
  if (registry.isEmpty) {
    await registry.close()
    throw noAgentError(text, config)
  }
  const found = registry.find(text)
  return { agent: model === undefined ? found.agent() : found.withModel(model), close: registry.close }
}

/** A session can name an agent of a project that is elsewhere. */
function noAgentError(name: string, { files }: LoadedConfig): UsageError {
  const existing = files.filter(({ exists }) => exists).map(({ path }) => path)
  const why = existing.length === 0 ? "there is no configuration" : `none is defined in ${existing.join(" or ")}`
  return new UsageError(
    `There is no agent "${name}" here: ${why}, and none in .karst/agents. ` +
      `Go to the project of the agent, or name its module: --agent ./agents.ts#${name}`,
  )
}

async function agentOfModule(path: string, name: string | undefined, model: string | undefined): Promise<Agent> {
  const agents = await loadAgentModule(path, "--agent")
  const names = Object.keys(agents)
  if (name === undefined && names.length > 1)
    throw new UsageError(`--agent: ${path} exports several agents. Name one: ${path}#${names[0]}`)
  const wanted = name ?? names[0] ?? ""
  const agent = Object.hasOwn(agents, wanted) ? agents[wanted] : undefined
  if (agent) return withModel(agent, model)
  const hint = await suggestion(wanted, names)
  throw new UsageError(`--agent: there is no agent "${wanted}" in ${path}.${hint} There is: ${names.join(", ")}.`)
}

/** Returns the agent with another model, which agents of every kind accept; without one, the agent itself. */
export function withModel(agent: Agent, model: string | undefined): Agent {
  if (model === undefined) return agent
  const changes: AgentOverrides & { model: string } = { model }
  return agent.with(changes)
}

/** Returns agents by name: from the export `agents`, the default export, or the single exports. */
export async function loadAgentModule(path: string, option: string): Promise<Record<string, Agent>> {
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`${option}: there is no file ${path}.`)
  const exported = await importNamedModule(file, `${option}: ${path}`)
  const candidates = [exported.agents, exported.default, exported]
  const found = candidates.map(agentsIn).find((agents) => Object.keys(agents).length > 0)
  if (found) return found
  throw new UsageError(
    `${option}: ${path} exports no agent. Write there: export const agents = { name: createAgent(…) }`,
  )
}

function agentsIn(value: unknown): Record<string, Agent> {
  if (typeof value !== "object" || value === null) return {}
  const entries = Object.entries(value).filter((entry): entry is [string, Agent] => isAgent(entry[1]))
  return Object.fromEntries(entries)
}
