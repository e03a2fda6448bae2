// Collects the definitions of agents, from the configuration and from discovered Markdown files, before the agents are
// created.
import type { Agent, Limits } from "../../core/agent.ts"
import { isAgent } from "../../runtime/bindings.ts"
import type { AgentDefinition } from "../define-config.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import type { Origin } from "../merge-config.ts"
import type { Resources } from "./discover-resources.ts"
import { namesText } from "./names-text.ts"

/** An agent made in code, or its definition, and where it comes from. */
export interface AgentEntry {
  made?: Agent | undefined
  definition?: AgentDefinition | undefined
  origin: Origin
}

/** Combines the agents of the configuration with the discovered ones. The configuration can add to a discovered agent
 *  of the same name what that may not grant itself. A file of the project cannot change an agent that the user's
 *  configuration defines. */
export function collectEntries(
  loaded: LoadedConfig,
  { agents: discovered }: Resources,
  diagnostics: Diagnostic[],
): Map<string, AgentEntry> {
  const entries = new Map<string, AgentEntry>()
  const lowered = (value: AgentDefinition) => withLowerLimits(value, loaded.config.limits)
  // The project's files come first and have precedence.
  for (const { name, source, path, value } of discovered) {
    if (!entries.has(name)) entries.set(name, { definition: lowered(value), origin: { source, file: path } })
  }
  for (const [name, agent] of Object.entries(loaded.config.agents ?? {})) {
    const origin = loaded.originOf(`agents.${name}`)
    const isMade = isAgent(agent)
    const files = discovered.filter((each) => each.name === name)
    const isUsable = ({ source }: { source: string }) => !isMade && (origin.source !== "user" || source === "user")
    for (const { path } of files.filter((each) => !isUsable(each))) {
      const why = isMade ? "the configuration has" : "the user's configuration defines"
      const message = `is left out: ${why} an agent "${name}", and this file cannot change it. Rename the file`
      diagnostics.push({ severity: "warning", path, message })
    }
    const file = files.find(isUsable)
    if (isMade) entries.set(name, { made: agent as Agent, origin })
    else entries.set(name, { definition: merged(file && lowered(file.value), agent as AgentDefinition), origin })
  }
  return entries
}

/** The limits of a file can only lower those of the configuration. */
function withLowerLimits({ limits, ...rest }: AgentDefinition, { cycles = Infinity }: Limits = {}): AgentDefinition {
  if (limits?.cycles === undefined) return rest
  return { ...rest, limits: { cycles: Math.min(limits.cycles, cycles) } }
}

/** The prompts for an agent by name. An agent of the user's configuration gets none of the project. */
export function promptsFor({ source }: Origin, { prompts }: Resources): Map<string, string> {
  const usable = prompts.filter((each) => source !== "user" || each.source === "user")
  // The last entry of a name is used, and the project's come first.
  return new Map(usable.toReversed().map(({ name, value }) => [name, value]))
}

function merged(found: AgentDefinition | undefined, own: AgentDefinition): AgentDefinition {
  if (!found) return own
  // `promptName` replaces the instructions of the file.
  const { instructions, ...rest } = found
  return {
    ...rest,
    ...(own.promptName === undefined && instructions !== undefined && { instructions }),
    ...own,
    limits: { ...found.limits, ...own.limits },
  }
}

/** Reports a default agent that does not exist. */
export function checkDefault(
  loaded: LoadedConfig,
  entries: ReadonlyMap<string, AgentEntry>,
  diagnostics: Diagnostic[],
): void {
  const { agent } = loaded.config
  if (agent === undefined || entries.has(agent)) return
  const { file, line, variable } = loaded.originOf("agent")
  const message = `the default agent "${agent}" does not exist.${namesText(agent, [...entries.keys()])}`
  diagnostics.push({ severity: "error", path: file ?? variable ?? "agent", line, message })
}

/** The names of agents and of those that they delegate to, without unknown ones. */
export function withSubAgents(only: readonly string[], entries: ReadonlyMap<string, AgentEntry>): string[] {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const other of entries.get(name)?.definition?.agents ?? []) visit(other)
  }
  only.forEach(visit)
  return [...found].filter((name) => entries.has(name))
}

/** The MCP servers that agents use. */
export function serversOf(names: readonly string[], entries: ReadonlyMap<string, AgentEntry>): string[] {
  const used = names.flatMap((name) => {
    const { definition } = entries.get(name) ?? {}
    // A coding CLI connects to its servers itself.
    return definition?.provider === undefined ? (definition?.mcp ?? []) : []
  })
  return [...new Set(used)]
}
