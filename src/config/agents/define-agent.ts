// Creates an agent from its definition: finds its model, runtime, tools, skills and sub-agents by their names.
import type { ApproverOption } from "../../actions/approval.ts"
import { createAgent } from "../../agent/create-agent.ts"
import type { Agent } from "../../core/agent.ts"
import { ConfigError } from "../../core/errors.ts"
import { withoutUndefined } from "../../core/object.ts"
import { type PromptTexts, textsIn } from "../../core/prompt-texts.ts"
import type { McpServer } from "../../mcp/mcp-types.ts"
import type { CodingAgentOptions } from "../../providers/coding-agent.ts"
import type { Skill } from "../../skills.ts"
import type { Tool } from "../../tools/tool.ts"
import { localWorkspace } from "../../workspaces/local.ts"
import type { AgentDefinition } from "../define-config.ts"
import type { LoadedConfig } from "../load-config.ts"
import { hooksOf } from "../merge-config.ts"
import { callHooks, pricesOf, warnAboutSkills } from "./coding-cli-parts.ts"
import { isolatedRuntime, runtimeOf } from "./default-runtime.ts"
import { findModel } from "./named-models.ts"
import { namesText } from "./names-text.ts"

/** What a definition can name, and what every agent gets. */
export interface AgentParts {
  loaded: LoadedConfig
  /** The texts of `.karst/prompts`, by name. */
  prompts: ReadonlyMap<string, string>
  /** The skills of every agent. */
  skills: readonly Skill[]
  /** Returns the tools of a connected MCP server, or throws. */
  toolsOf(server: string): readonly Tool[]
  /** Returns an MCP server with its variables expanded, or throws. */
  serverOf(server: string): McpServer
  /** Returns another agent, or throws. */
  agentOf(name: string): Agent
  /** Makes a coding CLI; loaded only if a definition has a provider. */
  makeCodingAgent: ((options: CodingAgentOptions) => Agent) | undefined
  approver: ApproverOption | undefined
  warn(message: string): void
}

/** Makes the agent of a definition. Throws a `ConfigError` for a name that does not exist. */
export function defineAgent(name: string, definition: AgentDefinition, parts: AgentParts): Agent {
  if (definition.provider !== undefined) return defineCodingAgent(name, definition, parts)
  const { loaded, approver } = parts
  const { model, promptName, runtime, workspace, mcp = [], agents = [], skills = [], ...taken } = definition
  const { provider: _, reasoning, allow, permissions, tools = [], limits, hooks, ...options } = taken
  refuseOthers(name, { reasoning, allow, permissions }, "only of a coding CLI: set `provider`, or leave it out")
  const hasTools = tools.length + mcp.length + agents.length > 0 || workspace !== undefined || Boolean(taken.shell)
  const isConfined = runtime === "process" || (runtime === undefined && !hasTools)
  const { language = loaded.config.language } = definition
  return createAgent({
    approver,
    ...withoutUndefined(options),
    name,
    model: findModel(model, loaded, `The agent "${name}"`),
    language,
    instructions: withConfinement(instructionsOf(definition, parts), isConfined, hasTools, textsIn(language)),
    runtime: runtime === undefined ? (hasTools ? undefined : isolatedRuntime) : runtimeOf(runtime),
    workspace: typeof workspace === "string" ? localWorkspace(workspace) : workspace,
    tools: [...tools, ...mcp.flatMap((server) => parts.toolsOf(server))],
    agents: Object.fromEntries(agents.map((other) => [other, parts.agentOf(other)])),
    skills: [...skills, ...parts.skills],
    limits: { ...loaded.config.limits, ...limits },
    hooks: [...hooksOf(loaded.config), ...hooksOf({ hooks })],
  })
}

/** Adds what the rules of a confined runtime refuse, so that the model does not try. */
function withConfinement(
  instructions: string | undefined,
  isConfined: boolean,
  hasTools: boolean,
  texts: PromptTexts,
): string | undefined {
  if (!isConfined) return instructions
  return `${instructions ?? texts.codeInstructions}\n\n${texts.cellsConfined(hasTools)}`
}

function instructionsOf({ instructions, promptName }: AgentDefinition, { prompts }: AgentParts): string | undefined {
  if (promptName === undefined) return instructions
  if (instructions !== undefined)
    throw new ConfigError("has both `instructions` and `promptName`. Leave one of them out.")
  const found = prompts.get(promptName)
  if (found !== undefined) return found
  throw new ConfigError(`promptName: there is no prompt "${promptName}".${namesText(promptName, [...prompts.keys()])}`)
}

function refuseOthers(name: string, values: object, why: string): void {
  const [found] = Object.keys(withoutUndefined(values))
  if (found !== undefined) throw new ConfigError(`\`${found}\` of the agent "${name}" is ${why}.`)
}

function defineCodingAgent(name: string, definition: AgentDefinition, parts: AgentParts): Agent {
  const { provider, model, reasoning, allow, permissions, description, workspace, mcp = [], ...rest } = definition
  const { tools, runtime, limits, hooks, approver = parts.approver, metadata, approvalTimeoutMs, ...others } = rest
  const { instructions: _, promptName: __, cellTimeoutMs, typeGate, transaction, ...unused } = others
  refuseOthers(name, unused, "not an option of a coding CLI. Leave it out")
  if (workspace !== undefined && typeof workspace !== "string")
    throw new ConfigError(`\`workspace\` of the agent "${name}" must be a folder: a coding CLI works in one.`)
  const { config } = parts.loaded
  warnAboutSkills(parts.skills, parts.warn)
  const options: CodingAgentOptions = {
    ...withoutUndefined({ model, reasoning, allow, permissions, description, tools, approver, metadata }),
    ...withoutUndefined({ approvalTimeoutMs, cellTimeoutMs, typeGate, transaction, cwd: workspace }),
    name,
    tiers: config.tiers,
    prices: pricesOf(config),
    provider: provider === "auto" ? (config.providers ?? "auto") : provider,
    instructions: instructionsOf(definition, parts),
    mcpServers: Object.fromEntries(mcp.map((server) => [server, parts.serverOf(server)])),
    limits: { ...config.limits, ...limits },
    hooks: [...callHooks(hooksOf(config), parts.warn), ...hooksOf({ hooks })],
    ...(runtime !== undefined && { runtime: runtimeOf(runtime) }),
  }
  if (!parts.makeCodingAgent)
    throw new ConfigError("An inline agent cannot be a coding CLI. Define it in the configuration.")
  return parts.makeCodingAgent(options)
}
