// Creates the agent that the options of a command describe: the built-in one, a coding CLI, or an agent of the user.
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { LoadedConfig } from "../../config/load-config.ts"
import type { Agent, Limits } from "../../core/agent.ts"
import type { Model } from "../../models/model.ts"
import { codingAgent } from "../../providers/coding-agent.ts"
import type { Input } from "../command.ts"
import { loadData } from "../load/load-data.ts"
import type { agentOptions } from "../table/agent-options.ts"
import { UsageError } from "../usage-error.ts"
import { builtInAgent, builtInRuntime } from "./built-in-agent.ts"
import { chooseModel } from "./choose-model.ts"
import { loadTools } from "./load-tools.ts"
import { loadUserAgent } from "./user-agent.ts"

export type AgentValues = Input<typeof agentOptions>["values"]

export interface PreparedAgent {
  agent: Agent
  /** For the header: the model, the coding CLI, or the name of the agent. */
  title: string
  limits: Limits | undefined
  /** Ends what was started for the agent. */
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
    const { agent, close } = await loadUserAgent(name, values.model, config)
    return { agent, title: `agent ${agent.name}`, limits, close }
  }
  const close = async () => {}
  if (values.provider !== undefined) {
    refuseOptions(values, unknownToClis, `${values.provider} has no such setting`)
    return { agent: await codingCli(values, values.provider), title: values.provider, limits, close }
  }
  const model = await chooseModel(values.model, config, values.reasoning)
  return { agent: await builtIn(values, model), title: model.id, limits: { ...config.config.limits, ...limits }, close }
}

export const builtInName = "karst"

/** The name of the user's agent; undefined for the built-in agent and for coding CLIs. */
function agentName({ agent, provider }: AgentValues, { config }: LoadedConfig): string | undefined {
  const name = agent ?? (provider === undefined ? config.agent : undefined)
  return name === builtInName ? undefined : name
}

export function isBuiltIn(values: AgentValues, config: LoadedConfig): boolean {
  return agentName(values, config) === undefined && values.provider === undefined
}

type OptionName = keyof AgentValues

const definedByAgent: readonly OptionName[] = [
  "provider",
  "data",
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

/** For commands that create the built-in agent and ask no model. */
export const modelNeverAsked: Model = {
  id: "none/none",
  stream: () => {
    throw new Error("This command asks no model.")
  },
}

/** The built-in agent with any model. */
export async function builtIn(values: AgentValues, model: Model): Promise<Agent> {
  return builtInAgent({
    model,
    bindings: await loadData(values.data),
    skills: values.skill.map(existingPath),
    tools: await loadTools(values.tools),
    workspace: values.workspace,
    shell: values.shell,
    instructions: await readInstructions(values.system),
    temperature: values.temperature,
    language: values.language,
    inProcess: values["in-process"],
  })
}

function existingPath(path: string): string {
  if (existsSync(path)) return resolve(path)
  throw new UsageError(`--skill: there is no folder ${path}.`)
}

async function codingCli(values: AgentValues, provider: string): Promise<Agent> {
  const [bindings, tools, instructions] = await Promise.all([
    loadData(values.data),
    loadTools(values.tools),
    readInstructions(values.system),
  ])
  const { model, reasoning, workspace, shell } = values
  return codingAgent({
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
  return await readFile(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--system @${path}: the file cannot be read (${error.message}).`)
  })
}
