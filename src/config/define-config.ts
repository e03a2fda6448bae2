// The configuration as its author writes it: types, and defineConfig for type checks in an editor.

import type { Hooks } from "../actions/hooks.ts"
import type { AgentOptions } from "../agent/agent-config.ts"
import type { Agent, Limits } from "../core/agent.ts"
import type { PromptLanguage } from "../core/prompt-texts.ts"
import type { McpServer } from "../mcp/mcp-types.ts"
import type { ModelSource } from "../models/model-source.ts"
import type { ResolveOptions } from "../models/resolve.ts"
import type { CliName } from "../providers/cli-names.ts"
import type { CodingAgentOptions } from "../providers/coding-agent.ts"
import type { TierModels } from "../providers/tiers.ts"
import type { RuntimeSource } from "../runtime/typed-runtime.ts"
import type { ArchiveSource } from "../sessions/session-archive.ts"
import type { SkillSource } from "../skills.ts"
import type { Workspace } from "../workspaces/workspace.ts"

/** Returns the configuration unchanged, with its type. Use it as the default export of `karst.config.ts`. */
export function defineConfig(config: Config): Config {
  return config
}

/** What a configuration file contains. Paths are relative to the folder of the file. In `apiKey`, `baseURL`, `headers`,
 *  and in the texts of MCP servers, `${NAME}` stands for an environment variable; it is read at first use. */
export interface Config {
  /** The model of agents that name none: a name in `models`, or an id such as "openai/gpt-5.2". */
  model?: string | undefined
  /** Models by name: an id, a definition, or a model made in code. Names are exact; there are no aliases. */
  models?: Readonly<Record<string, ModelDefinition | ModelSource>> | undefined
  /** The agent of runs that name none. Default: the only one, if there is one. */
  agent?: string | undefined
  /** Agents by name: definitions, or agents made in code, which are used unchanged. */
  agents?: Readonly<Record<string, AgentDefinition | Agent>> | undefined
  /** The language of the texts that Karst writes for the models of defined agents and of the built-in one. An agent's
   *  own `language` has precedence. Default "en". */
  language?: PromptLanguage | undefined
  /** Skills of every defined agent and of the built-in one: paths of skills or of folders of skills, or skills made by
   *  `skill()`. */
  skills?: readonly SkillSource[] | undefined
  /** MCP servers by name. An agent has the tools of a server if its `mcp` names it. The built-in agent has those of
   *  all. */
  mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /** Coding CLIs in order of preference, for agents with `provider: "auto"`. Default: all that are installed. */
  providers?: readonly string[] | undefined
  /** The models of coding CLIs for the tiers "strongest" and "fast", by the CLI's names for them. The CLI's own
   *  environment variables have precedence. */
  tiers?: Readonly<Partial<Record<CliName, TierModels>>> | undefined
  /** Where sessions are stored: a folder; a store, or its name, such as "sqlite:karst.db" or "redis://host:6379"; "off":
   *  nowhere. Default: they are not stored; the karst command stores them in ~/.karst. */
  archive?: ArchiveSource | undefined
  /** Limits of every defined agent. Its own limits have precedence. */
  limits?: Limits | undefined
  /** Hooks of every defined agent, before its own, and of the built-in one. */
  hooks?: Hooks | readonly Hooks[] | undefined
}

/** A model with its endpoint, or with several endpoints of which each is asked when the one before it fails. */
export interface ModelDefinition
  extends EndpointDefinition,
    Pick<ResolveOptions, "contextWindow" | "images" | "price" | "providerOptions" | "retry" | "timeouts"> {
  /** `provider/model` or `openai-compatible:https://host/v1#model`, as `resolveModel` takes it. */
  id: string
  /** The endpoints, in order of preference. What one does not set is taken from the model. */
  endpoints?: readonly EndpointDefinition[] | undefined
  /** True: after the preferred endpoint, the others are asked in random order. Default false. */
  shuffle?: boolean | undefined
}

export interface EndpointDefinition extends Pick<ResolveOptions, "apiKey" | "baseURL" | "headers"> {
  /** The model's id at this endpoint. Default: the id of the model. */
  id?: string | undefined
}

/** Options of `createAgent` that a definition takes unchanged. */
type TakenOptions = Omit<
  AgentOptions,
  "agents" | "model" | "name" | "now" | "onEvent" | "runtime" | "skills" | "workspace"
>

/** An agent by names and data: models, MCP servers and other agents by their names in the configuration. */
export interface AgentDefinition extends TakenOptions {
  /** A name in `models`, or an id. Default: `model` of the configuration. Of a coding CLI: its own name for a model. */
  model?: string | undefined
  /** The name of a file in `.karst/prompts`, without `.md`, whose text is the instructions. */
  promptName?: string | undefined
  /** Where cells run. `process`: in a child process, isolated by the operating system if possible, with `safeRules`.
   *  `js`: in this process, without rules. `python`: in a Python kernel. Default: none for an agent with tools; for an
   *  agent without tools, `process`. */
  runtime?: "process" | "js" | "python" | RuntimeSource | undefined
  /** The folder of its files, or a workspace made in code. */
  workspace?: string | Workspace | undefined
  /** The names of the MCP servers whose tools it has. */
  mcp?: readonly string[] | undefined
  /** The names of agents that it may delegate tasks to. */
  agents?: readonly string[] | undefined
  /** Its skills, besides those of the configuration. */
  skills?: readonly SkillSource[] | undefined
  /** Makes it a coding CLI: a name, a list in order of preference, or "auto". */
  provider?: CodingAgentOptions["provider"]
  /** Of a coding CLI: the reasoning effort. */
  reasoning?: string | undefined
  /** Of a coding CLI: what it may do. */
  allow?: CodingAgentOptions["allow"]
  /** Of a coding CLI: whether it asks before it acts. */
  permissions?: CodingAgentOptions["permissions"]
}
