// Loads the agents of a module.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { Agent } from "../../core/agent.ts"
import { UsageError } from "../usage-error.ts"
import { importModule } from "./import-module.ts"

/** Returns agents by name: from the export `agents`, the default export, or the single exports. */
export async function loadAgents(path: string | undefined): Promise<Record<string, Agent>> {
  if (path === undefined) throw new UsageError("Say which agents to work for: --agents ./agents.ts")
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`--agents: there is no file ${path}.`)
  const exported = await importModule(file, `--agents: ${path}`)
  const candidates = [exported.agents, exported.default, exported]
  const found = candidates.map(agentsIn).find((agents) => Object.keys(agents).length > 0)
  if (found) return found
  throw new UsageError(
    `--agents: ${path} exports no agent. Write there: export const agents = { name: createAgent(…) }`,
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
