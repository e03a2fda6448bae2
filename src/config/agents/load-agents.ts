// loadAgents: makes all agents of the configuration and of the discovered Markdown files, by name.
import type { ApproverOption } from "../../actions/approval.ts"
import type { Agent } from "../../core/agent.ts"
import * as check from "../../core/checks/check-options.ts"
import { AgentError, ConfigError, errorData } from "../../core/errors.ts"
import { isAgent } from "../../runtime/bindings.ts"
import { problemText } from "../../skills/load-skills.ts"
import { loadSkills, type Skill } from "../../skills.ts"
import type { AgentDefinition } from "../define-config.ts"
import type { Diagnostic } from "../diagnostics.ts"
import { type LoadConfigOptions, type LoadedConfig, loadConfig, loadConfigChecks } from "../load-config.ts"
import type { Origin } from "../merge-config.ts"
import { placeText } from "../read-config-file.ts"
import { type AgentParts, defineAgent, namesText } from "./define-agent.ts"
import { discoverResources, type Resources } from "./discover-resources.ts"
import { connectMcpServers, type McpConnections } from "./mcp-servers.ts"

export interface LoadAgentsOptions extends Omit<LoadConfigOptions, "config"> {
  /** The path of a configuration file; the configuration itself, and no file or resource is read; or the result of
   *  `loadConfig`. Default: `KARST_CONFIG`, or the file of the project. */
  config?: LoadConfigOptions["config"] | LoadedConfig | undefined
  /** Makes only these agents and those that they delegate to. Other MCP servers are not started. Default: all. */
  only?: readonly string[] | undefined
  /** Answers the approval requests of agents that have no approver of their own. */
  approver?: ApproverOption | undefined
}

export const loadAgentsChecks: check.OptionChecks<LoadAgentsOptions> = {
  ...loadConfigChecks,
  only: check.mustBeTextList,
  approver: check.anything,
}

/** An agent as lists show it. */
export interface AgentInfo {
  name: string
  description?: string | undefined
  /** The model that it names. */
  model?: string | undefined
  /** True if runs that name no agent use this one. */
  isDefault: boolean
  origin: Origin
}

export interface LoadedAgents extends AsyncDisposable {
  /** The agents by name, without those that have an error. For example for `createEngine({ agents })`. */
  readonly agents: Readonly<Record<string, Agent>>
  readonly config: LoadedConfig
  /** Describes all agents, sorted by name. */
  list(): AgentInfo[]
  /** Every problem that was found. */
  diagnostics(): readonly Diagnostic[]
  /** Ends the MCP servers that were started. */
  close(): Promise<void>
}

/** What the client needs besides the public part. */
export interface AgentRegistry extends LoadedAgents {
  /** Finds an agent by its name; without a name, the default agent or the only one. `agent()` throws what is wrong with
   *  it. */
  find(name: string | undefined): { name: string; agent(): Agent; definition: AgentDefinition | undefined }
  /** Makes an agent that is not in the configuration. */
  define(name: string, definition: AgentDefinition): Agent
}

/** Loads the configuration and makes its agents. A mistake in one agent is in `diagnostics()` and does not affect the
 *  others. Close it to end MCP servers. */
export async function loadAgents(options: LoadAgentsOptions = {}): Promise<LoadedAgents> {
  check.checkOptions("loadAgents()", options, loadAgentsChecks)
  const { find: _, define: __, ...loaded } = await loadRegistry(options)
  return loaded
}

export async function loadRegistry(options: LoadAgentsOptions): Promise<AgentRegistry> {
  const { only, approver, config: given, ...rest } = options
  const loaded = isLoaded(given) ? given : await loadConfig({ ...rest, config: given })
  const resources = await discoverResources(loaded.resourceFolders)
  const diagnostics: Diagnostic[] = [...resources.diagnostics]
  const entries = collectEntries(loaded, resources, diagnostics)
  checkDefault(loaded, entries, diagnostics)
  const names = only === undefined ? [...entries.keys()] : withSubAgents(only, entries)
  const skills = await allSkills(loaded, resources, diagnostics)
  const servers = await connectMcpServers(serversOf(names, entries), loaded, diagnostics)
  const parts: Omit<AgentParts, "agentOf" | "warn"> = {
    loaded,
    approver,
    prompts: resources.prompts,
    skills,
    toolsOf: servers.toolsOf,
    serverOf: servers.serverOf,
    makeCodingAgent: usesProvider(names, entries)
      ? (await import("../../providers/coding-agent.ts")).codingAgent
      : undefined,
  }
  return createRegistry({ names, entries, parts, diagnostics, servers })
}

function isLoaded(config: LoadAgentsOptions["config"]): config is LoadedConfig {
  return typeof config === "object" && "originOf" in config && "entries" in config
}

/** An agent made in code, or its definition, and where it comes from. */
interface AgentEntry {
  made?: Agent | undefined
  definition?: AgentDefinition | undefined
  origin: Origin
}

/** Combines the agents of the configuration with the discovered ones. The configuration can add to a discovered agent of
 *  the same name what that may not grant itself; but what the user grants is never for a file of the project. */
function collectEntries(
  loaded: LoadedConfig,
  { agents: discovered }: Resources,
  diagnostics: Diagnostic[],
): Map<string, AgentEntry> {
  const entries = new Map<string, AgentEntry>()
  for (const [name, { source, path, value }] of discovered)
    entries.set(name, { definition: value, origin: { source, file: path } })
  for (const [name, agent] of Object.entries(loaded.config.agents ?? {})) {
    const origin = loaded.originOf(`agents.${name}`)
    const found = discovered.get(name)
    if (isAgent(agent)) entries.set(name, { made: agent as Agent, origin })
    else if (found && origin.source === "user" && found.source === "project") {
      const message = `is left out: the user's configuration defines an agent "${name}", and a file of the project cannot change it. Rename the file`
      diagnostics.push({ severity: "warning", path: found.path, message })
      entries.set(name, { definition: agent as AgentDefinition, origin })
    } else entries.set(name, { definition: merged(found?.value, agent as AgentDefinition), origin })
  }
  return entries
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

function checkDefault(loaded: LoadedConfig, entries: ReadonlyMap<string, AgentEntry>, diagnostics: Diagnostic[]): void {
  const { agent } = loaded.config
  if (agent === undefined || entries.has(agent)) return
  const { file, line, variable } = loaded.originOf("agent")
  const message = `the default agent "${agent}" does not exist.${namesText(agent, [...entries.keys()])}`
  diagnostics.push({ severity: "error", path: file ?? variable ?? "agent", line, message })
}

function withSubAgents(only: readonly string[], entries: ReadonlyMap<string, AgentEntry>): string[] {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const other of entries.get(name)?.definition?.agents ?? []) visit(other)
  }
  only.forEach(visit)
  return [...found].filter((name) => entries.has(name))
}

function serversOf(names: readonly string[], entries: ReadonlyMap<string, AgentEntry>): string[] {
  const used = names.flatMap((name) => {
    const { definition } = entries.get(name) ?? {}
    // A coding CLI connects to its servers itself.
    return definition?.provider === undefined ? (definition?.mcp ?? []) : []
  })
  return [...new Set(used)]
}

function usesProvider(names: readonly string[], entries: ReadonlyMap<string, AgentEntry>): boolean {
  return names.some((name) => entries.get(name)?.definition?.provider !== undefined)
}

/** The skills that the configuration names, and the discovered ones. Of two with the same name, the first is used. Throws
 *  for a mistake in one that the configuration names. */
async function allSkills(loaded: LoadedConfig, found: Resources, diagnostics: Diagnostic[]): Promise<Skill[]> {
  const named = await loadSkills(loaded.config.skills ?? [])
  const errors = named.problems.filter(({ severity }) => severity === "error").map(problemText)
  if (errors.length > 0) {
    const { file, line } = loaded.originOf("skills")
    const place = file === undefined ? "" : `${placeText(file, line)}: `
    throw new ConfigError(`${place}the skills cannot be used as they are:\n- ${errors.join("\n- ")}`)
  }
  diagnostics.push(...named.problems)
  const taken = new Set(named.skills.map(({ name }) => name))
  return [...named.skills, ...found.skills.filter(({ name }) => !taken.has(name))]
}

interface RegistrySetup {
  names: readonly string[]
  entries: ReadonlyMap<string, AgentEntry>
  parts: Omit<AgentParts, "agentOf" | "warn">
  diagnostics: Diagnostic[]
  servers: McpConnections
}

function createRegistry({ names, entries, parts, diagnostics, servers }: RegistrySetup): AgentRegistry {
  const { loaded } = parts
  const agents = new Map<string, Agent>()
  const errors = new Map<string, Error>()

  function make(name: string, path: readonly string[]): Agent {
    const known = agents.get(name)
    if (known) return known
    const error = errors.get(name)
    if (error) throw error
    const entry = entries.get(name)
    if (!entry) throw new ConfigError(`There is no agent "${name}".${namesText(name, [...entries.keys()])}`)
    if (!names.includes(name)) throw new ConfigError(`The agent "${name}" was not loaded. Add it to \`only\`.`)
    if (path.includes(name))
      throw new ConfigError(`agents: ${[...path, name].join(" → ")} is a circle. Remove one of them.`)
    const agent = entry.made ?? build(name, entry.definition ?? {}, entry.origin, [...path, name])
    agents.set(name, agent)
    return agent
  }

  function build(name: string, definition: AgentDefinition, origin: Origin, path: readonly string[]): Agent {
    const { file, line } = origin
    const warn = (message: string) =>
      diagnostics.push({ severity: "warning", path: file ?? `agents.${name}`, line, message })
    try {
      return defineAgent(name, definition, { ...parts, warn, agentOf: (other) => make(other, path) })
    } catch (error) {
      const place = file === undefined ? "" : `${placeText(file, line)}: `
      throw new ConfigError(`${place}agents.${name}: ${errorData(error).message}`, {
        cause: error,
        ...(error instanceof AgentError && { code: error.code, details: error.details }),
      })
    }
  }

  for (const name of names) {
    try {
      make(name, [])
    } catch (error) {
      const { file, line } = entries.get(name)?.origin ?? {}
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      errors.set(name, error instanceof Error ? error : new ConfigError(String(error)))
      diagnostics.push({ severity: "error", path: file ?? `agents.${name}`, line, message: errorData(cause).message })
    }
  }

  function find(wanted: string | undefined) {
    const name = wanted ?? defaultName()
    return { name, agent: () => make(name, []), definition: entries.get(name)?.definition }
  }

  function defaultName(): string {
    const { agent } = loaded.config
    const [only, second] = names
    if (agent !== undefined) return agent
    if (only !== undefined && second === undefined) return only
    if (only === undefined)
      throw new ConfigError(
        "There is no agent. Define one in the configuration under `agents`, or as .karst/agents/<name>.md.",
      )
    throw new ConfigError(
      `Which agent? There are: ${names.toSorted().join(", ")}. Name one, or set \`agent\` in the configuration or KARST_AGENT.`,
    )
  }

  function list(): AgentInfo[] {
    const standard = loaded.config.agent ?? (names.length === 1 ? names[0] : undefined)
    return names.toSorted().map((name) => {
      const { made, definition, origin = { source: "default" as const } } = entries.get(name) ?? {}
      const description = made?.description ?? definition?.description
      const model = made ? undefined : (definition?.model ?? (definition?.provider ? undefined : loaded.config.model))
      return {
        name,
        ...(description !== undefined && { description }),
        ...(model !== undefined && { model }),
        isDefault: name === standard,
        origin,
      }
    })
  }

  return {
    agents: Object.fromEntries(names.flatMap((name) => (agents.has(name) ? [[name, make(name, [])]] : []))),
    config: loaded,
    list,
    diagnostics: () => [...diagnostics],
    find,
    define: (name, definition) => build(name, definition, { source: "option" }, []),
    close: servers.close,
    [Symbol.asyncDispose]: servers.close,
  }
}
