// loadAgents: makes all agents of the configuration and of the discovered Markdown files, by name.
import type { ApproverOption } from "../../actions/approval.ts"
import type { Agent } from "../../core/agent.ts"
import * as check from "../../core/checks/check-options.ts"
import { AgentError, ConfigError, errorData } from "../../core/errors.ts"
import type { AgentDefinition } from "../define-config.ts"
import type { Diagnostic } from "../diagnostics.ts"
import { type LoadConfigOptions, type LoadedConfig, loadConfig, loadConfigChecks } from "../load-config.ts"
import type { Origin } from "../merge-config.ts"
import { originPlace } from "../read-config-file.ts"
import { type AgentEntry, checkDefault, collectEntries, promptsFor, serversOf, withSubAgents } from "./agent-entries.ts"
import { definedSkillProblems, loadConfigSkills } from "./config-skills.ts"
import { type AgentParts, defineAgent } from "./define-agent.ts"
import { discoverResources, type Resources } from "./discover-resources.ts"
import { connectMcpServers, describeMcpServers, type McpConnections } from "./mcp-servers.ts"
import { namesText } from "./names-text.ts"

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
  /** True if no agent is defined at all, whatever `only` says. */
  readonly isEmpty: boolean
  /** Finds an agent by its name; without a name, the default agent or the only one. `agent()` throws what is wrong with
   *  it. */
  find(name: string | undefined): FoundAgent
  /** Makes an agent of a definition that is given for a run. */
  define(name: string, definition: AgentDefinition): Agent
}

export interface FoundAgent {
  name: string
  agent(): Agent
  /** Makes the agent with another model. Throws if it was made in code. */
  withModel(model: string): Agent
}

/** Loads the configuration and makes its agents. A mistake in one agent is in `diagnostics()` and does not affect the
 *  others. Close it to end MCP servers. */
export async function loadAgents(options: LoadAgentsOptions = {}): Promise<LoadedAgents> {
  check.checkOptions("loadAgents()", options, loadAgentsChecks)
  const { find: _, define: __, ...loaded } = await loadRegistry(options)
  return loaded
}

export interface RegistryOptions {
  /** False: only to find mistakes. No MCP servers are started, agents lack their tools, and skills with mistakes are
   *  among the diagnostics. Default true. */
  connects?: boolean | undefined
  /** The name of an agent that the configuration need not define. */
  builtIn?: string | undefined
}

export async function loadRegistry(
  options: LoadAgentsOptions,
  { connects = true, builtIn }: RegistryOptions = {},
): Promise<AgentRegistry> {
  const { only, approver, config: given, ...rest } = options
  const loaded = isLoaded(given) ? given : await loadConfig({ ...rest, config: given })
  const resources = await discoverResources(loaded.resourceFolders)
  const diagnostics: Diagnostic[] = [...resources.diagnostics]
  const entries = collectEntries(loaded, resources, diagnostics)
  if (builtIn === undefined || loaded.config.agent !== builtIn) checkDefault(loaded, entries, diagnostics)
  const names = only === undefined ? [...entries.keys()] : withSubAgents(only, entries)
  const skills = await loadConfigSkills(loaded, resources.skills, diagnostics, { throws: connects })
  if (!connects) await checkSkills(entries, diagnostics)
  const servers = connects
    ? await connectMcpServers(serversOf(names, entries), loaded, diagnostics)
    : await describeMcpServers(loaded)
  const parts: SharedParts = {
    loaded,
    approver,
    skills,
    toolsOf: servers.toolsOf,
    serverOf: servers.serverOf,
    makeCodingAgent: names.some((name) => entries.get(name)?.definition?.provider !== undefined)
      ? (await import("../../providers/coding-agent.ts")).codingAgent
      : undefined,
  }
  return createRegistry({ names, entries, parts, diagnostics, servers, resources })
}

async function checkSkills(entries: ReadonlyMap<string, AgentEntry>, diagnostics: Diagnostic[]): Promise<void> {
  for (const { definition, origin } of entries.values()) {
    if (definition?.skills) diagnostics.push(...(await definedSkillProblems(definition.skills, origin)))
  }
}

/** What all agents share. */
type SharedParts = Omit<AgentParts, "agentOf" | "warn" | "prompts">

function isLoaded(config: LoadAgentsOptions["config"]): config is LoadedConfig {
  return typeof config === "object" && "originOf" in config && "entries" in config
}

interface RegistrySetup {
  names: readonly string[]
  entries: ReadonlyMap<string, AgentEntry>
  parts: SharedParts
  diagnostics: Diagnostic[]
  servers: McpConnections
  resources: Resources
}

function createRegistry({ names, entries, parts, diagnostics, servers, resources }: RegistrySetup): AgentRegistry {
  const { loaded } = parts
  const agents = new Map<string, Agent>()
  const errors = new Map<string, Error>()

  function make(name: string, path: readonly string[]): Agent {
    const known = agents.get(name)
    if (known) return known
    const error = errors.get(name)
    if (error) throw error
    const entry = entries.get(name)
    if (!entry) {
      const place = path.length === 0 && name === loaded.config.agent ? originPlace(loaded.originOf("agent")) : ""
      throw new ConfigError(`${place}There is no agent "${name}".${namesText(name, [...entries.keys()])}`)
    }
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
      const prompts = promptsFor(origin, resources)
      return defineAgent(name, definition, { ...parts, prompts, warn, agentOf: (other) => make(other, path) })
    } catch (error) {
      throw new ConfigError(`${originPlace(origin)}agents.${name}: ${errorData(error).message}`, {
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

  function find(wanted: string | undefined): FoundAgent {
    const name = wanted ?? defaultName()
    const agent = () => make(name, [])
    return {
      name,
      agent,
      withModel(model) {
        const { definition, origin } = entries.get(name) ?? {}
        if (definition && origin) return build(name, { ...definition, model }, origin, [name])
        // Throws if there is no such agent.
        agent()
        throw new ConfigError(
          `The agent "${name}" is made in code: choose its model there, and leave out the option \`model\`.`,
        )
      },
    }
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
    isEmpty: entries.size === 0,
    find,
    define: (name, definition) => build(name, definition, { source: "option" }, []),
    close: servers.close,
    [Symbol.asyncDispose]: servers.close,
  }
}
