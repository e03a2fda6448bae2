// Creates the agent that the options of a command describe: the built-in one, a coding CLI, or an agent of the user.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { type BuiltInParts, loadBuiltInParts } from "../../config/agents/built-in-parts.ts"
import { loadCodingCliParts } from "../../config/agents/coding-cli-parts.ts"
import type { LoadedConfig } from "../../config/load-config.ts"
import type { Agent, Limits } from "../../core/agent.ts"
import type { Model } from "../../models/model.ts"
import { codingAgent } from "../../providers/coding-agent.ts"
import type { SkillSource } from "../../skills.ts"
import type { Input } from "../command.ts"
import { loadData } from "../load/load-data.ts"
import { readOptionFile } from "../load/read-option-file.ts"
import type { agentOptions } from "../table/agent-options.ts"
import { UsageError } from "../usage-error.ts"
import { builtInAgent, builtInRuntime } from "./built-in-agent.ts"
import { chooseModel } from "./choose-model.ts"
import { loadTools } from "./load-tools.ts"
import { printDiagnostics } from "./print-diagnostics.ts"
import { loadUserAgent } from "./user-agent.ts"

export type AgentValues = Input<typeof agentOptions>["values"]

export interface PreparedAgent {
  agent: Agent
  /** For the header: the model, the coding CLI, or the name of the agent. */
  title: string
  limits: Limits | undefined
  /** The skills of the built-in agent. */
  skills: readonly SkillSource[]
  /** Ends what was started for the agent, such as MCP servers. */
  close(): Promise<void>
}

export async function prepareAgent(values: AgentValues, config: LoadedConfig): Promise<PreparedAgent> {
  const cycles = values["max-cycles"]
  const limits = cycles === undefined ? undefined : { cycles }
  const name = agentName(values, config)
  if (name !== undefined) {
    refuseOptions(
      values,
      definedByAgent,
      `the agent ${name} runs as it is defined; --agent ${builtInName} is the built-in one`,
    )
    const { agent, close } = await loadUserAgent(name, values, config)
    return { agent, title: `agent ${agent.name}`, limits, skills: [], close }
  }
  if (values.provider !== undefined) {
    refuseOptions(values, unknownToClis, `${values.provider} has no such setting`)
    const agent = await codingCli(values, values.provider, config)
    return { agent, title: values.provider, limits, skills: [], close: async () => {} }
  }
  const model = await chooseModel(values.model, config, values.reasoning)
  const built = await builtIn(values, model, config)
  return { ...built, title: model.id, limits: { ...config.config.limits, ...limits } }
}

export const builtInName = "karst"

/** The name of the user's agent; undefined for the built-in agent and for coding CLIs. */
function agentName({ agent, provider }: AgentValues, { config }: LoadedConfig): string | undefined {
  const name = agent ?? (provider === undefined ? config.agent : undefined)
  return name === builtInName ? undefined : name
}

/** Prepares the agent for a command that asks no model: the built-in agent needs no key and no model. */
export async function prepareAgentWithoutModel(
  values: AgentValues,
  config: LoadedConfig,
): Promise<Pick<PreparedAgent, "agent" | "close">> {
  const isBuiltIn = agentName(values, config) === undefined && values.provider === undefined
  return isBuiltIn ? await builtIn(values, modelNeverAsked, config) : await prepareAgent(values, config)
}

type OptionName = keyof AgentValues

const definedByAgent: readonly OptionName[] = [
  "provider",
  "skill",
  "tools",
  "workspace",
  "shell",
  "system",
  "reasoning",
  "temperature",
  "language",
  "in-process",
]

const unknownToClis: readonly OptionName[] = ["skill", "temperature", "language", "in-process"]

function refuseOptions(values: AgentValues, names: readonly OptionName[], why: string): void {
  const given = names.find((name) => {
    const value = values[name]
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
  })
  if (given !== undefined) throw new UsageError(`--${given} cannot be used here: ${why}.`)
}

const modelNeverAsked: Model = {
  id: "none/none",
  stream: () => {
    throw new Error("This command asks no model.")
  },
}

/** The built-in agent with any model. It has the skills, MCP servers and hooks of the configuration. */
async function builtIn(
  values: AgentValues,
  model: Model,
  config: LoadedConfig,
): Promise<Pick<PreparedAgent, "agent" | "skills" | "close">> {
  const parts = await loadBuiltInParts(config)
  try {
    printDiagnostics(parts.diagnostics)
    // Of two skills with the same name, the first is used.
    const skills = [...values.skill.map(existingPath), ...parts.skills]
    return { agent: await makeBuiltIn(values, model, config, { ...parts, skills }), skills, close: parts.close }
  } catch (error) {
    await parts.close()
    throw error
  }
}

async function makeBuiltIn(
  values: AgentValues,
  model: Model,
  config: LoadedConfig,
  { skills, tools, hooks }: Pick<BuiltInParts, "tools" | "hooks"> & { skills: readonly SkillSource[] },
): Promise<Agent> {
  return builtInAgent({
    model,
    bindings: await loadData(values.data),
    skills,
    tools: [...(await loadTools(values.tools)), ...tools],
    hooks,
    workspace: values.workspace,
    shell: values.shell,
    instructions: await readInstructions(values.system),
    temperature: values.temperature,
    language: values.language ?? config.config.language,
    inProcess: values["in-process"],
  })
}

function existingPath(path: string): string {
  if (existsSync(path)) return resolve(path)
  throw new UsageError(`--skill: there is no folder ${path}.`)
}

/** A coding CLI. It has the MCP servers, limits, prices and hooks of the configuration. */
async function codingCli(values: AgentValues, provider: string, config: LoadedConfig): Promise<Agent> {
  const [bindings, tools, instructions, parts] = await Promise.all([
    loadData(values.data),
    loadTools(values.tools),
    readInstructions(values.system),
    loadCodingCliParts(config),
  ])
  printDiagnostics(parts.diagnostics)
  const { model, reasoning, workspace, shell } = values
  return codingAgent({
    ...parts.options,
    provider,
    model,
    reasoning,
    instructions,
    tools,
    cwd: workspace === undefined ? undefined : resolve(workspace),
    allow: shell ? ["read", "write", "exec"] : ["read"],
    runtime: values.data.length === 0 ? undefined : builtInRuntime(bindings, { inProcess: false }),
  })
}

async function readInstructions(system: string | undefined): Promise<string | undefined> {
  if (!system?.startsWith("@")) return system
  const path = system.slice(1)
  return (await readOptionFile("--system @", path, maxSystemBytes)).toString("utf8")
}

const maxSystemBytes = 1_000_000
