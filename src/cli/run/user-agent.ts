// Finds an agent of the user: by its name in the configuration, or in a module.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { importModule } from "../../config/import-module.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import type { Agent, AgentOverrides } from "../../core/agent.ts"
import { nearest } from "../parse-command-line.ts"
import { UsageError } from "../usage-error.ts"

/** Loads `./agents.ts`, which exports one agent, `./agents.ts#name`, or an agent of the configuration. */
export async function loadUserAgent(text: string, model: string | undefined, { config }: LoadedConfig) {
  const [, path = text, name] = /^(.*?)(?:#(.+))?$/s.exec(text) ?? []
  const isModule = /\.[cm]?[jt]s$/.test(path)
  const agents = isModule ? await loadAgents(path, "--agent") : agentsIn(config.agents)
  const wanted = isModule ? (name ?? onlyName(agents, path)) : text
  const agent = Object.hasOwn(agents, wanted) ? agents[wanted] : undefined
  if (agent) return { agent: model === undefined ? agent : withModel(agent, model) }
  const names = Object.keys(agents)
  const near = await nearest(wanted, names)
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`
  const there = names.length === 0 ? "There is none" : `There is: ${names.join(", ")}`
  const where = isModule ? path : "the configuration"
  throw new UsageError(
    `--agent: there is no agent "${wanted}" in ${where}.${hint} ${there}. A module is named with its ending: ./agents.ts`,
  )
}

function onlyName(agents: Record<string, Agent>, path: string): string {
  const [first = "", second] = Object.keys(agents)
  if (second === undefined) return first
  throw new UsageError(`--agent: ${path} exports several agents. Name one: ${path}#${first}`)
}

/** Returns the agent with another model, which agents of every kind accept. */
function withModel(agent: Agent, model: string): Agent {
  const changes: AgentOverrides & { model: string } = { model }
  return agent.with(changes)
}

/** Returns agents by name: from the export `agents`, the default export, or the single exports. */
export async function loadAgents(path: string, option: string): Promise<Record<string, Agent>> {
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`${option}: there is no file ${path}.`)
  const exported = await importModule(file, `${option}: ${path}`)
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

function isAgent(value: unknown): value is Agent {
  if (typeof value !== "object" || value === null) return false
  return ["run", "session", "describe", "with"].every((name) => typeof Reflect.get(value, name) === "function")
}
