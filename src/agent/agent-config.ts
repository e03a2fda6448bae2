import { type ApproverOption, checkApprover } from "../actions/approval.ts"
import { type Hooks, toHooks } from "../actions/hooks.ts"
import type { ToolPolicy } from "../actions/tool-policy.ts"
import type { Agent, AgentOverrides, Limits } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { type MemoryConfig, type MemoryOptions, resolveMemory } from "../memory.ts"
import type { Model, ModelRequest } from "../models/model.ts"
import { type ModelSource, toModel } from "../models/model-source.ts"
import { withoutImages } from "../models/without-images.ts"
import { isAgent } from "../runtime/bindings.ts"
import type { CellOptions, Runtime, RuntimeSource, TypeGateMode } from "../runtime/runtime.ts"
import type { SkillSource } from "../skills.ts"
import type { ShellOptions } from "../tools/shell.ts"
import { isTool, type Tool } from "../tools/tool.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import { checkRuntime, checkStopOn, checkWorkspace } from "./agent-option-checks.ts"
import { defaultInstructions, type PromptSections, toolInstructions } from "./prompt/system-prompt.ts"

/** What `createAgent` takes; `with`, `run` and `session` take the same as overrides. */
export interface AgentOptions extends AgentOverrides {
  /** A `Model`, an AI SDK language model, or an id such as "openai/gpt-5.2". */
  model: ModelSource
  /** For people, events and other agents. Default "agent". */
  name?: string | undefined
  description?: string | undefined
  /** An instance is shared on purpose; a factory makes each run or session its own. Default: a fresh `jsRuntime` each. */
  runtime?: RuntimeSource | undefined
  /** Actions with a JSON schema, made by `tool()`. An agent with tools and no runtime works by tool calls alone. */
  tools?: readonly Tool[] | undefined
  /** Which of its tools the agent, and the runs it starts, may use. Default: all. */
  toolPolicy?: ToolPolicy | undefined
  /** Where the agent's files are; with one, it has tools to read, write and search them. */
  workspace?: Workspace | undefined
  /** Lets the model run commands in its workspace, where that is a folder. Each asks for approval, unless its options
   *  say otherwise. Default false. */
  shell?: boolean | ShellOptions | undefined
  /** False: the model gets no images, but a line of text for each, and no tool to read them. Default true; an endpoint that rejects
   *  images gets none from then on. */
  images?: boolean | undefined
  /** What becomes of an answer without a tool call, of an agent without a runtime: the model is reminded to go on
   *  (`continue`), it is the answer (`answer`), or a question to the user (`wait`). Default `continue`. */
  noTool?: NoToolPolicy | undefined
  /** Ends the run after the first tool call that worked, or after one of these tools: its result is the output. */
  stopOn?: "first-tool" | readonly string[] | undefined
  /** Agents that it may give tasks to, by name: it then has the tools `delegate` and `delegate_status`. What they lack of
   *  files, they have from it; its policy, hooks, limits and signal hold for them. */
  agents?: Readonly<Record<string, Agent>> | undefined
  /** How many tools that are marked parallel, or sub-tasks, run together. Default 8. */
  maxParallelTools?: number | undefined
  /** Characters of a cell's output that the model sees; the rest is kept in a variable. Default 5,000. */
  maxOutputChars?: number | undefined
  /** Wall time of one cell. Default: none. */
  cellTimeoutMs?: number | undefined
  /** Checks each cell against the types of what is in the runtime before it runs. Default `off`. */
  typeGate?: TypeGateMode | undefined
  /** The fence tag to ask for and to accept. Default: "ts" with its usual aliases, or "python" with "py". */
  fence?: string | undefined
  /** Tokens the model can read. Default: what the model says, else 128,000. */
  contextWindow?: number | undefined
  /** How a conversation that grows long is made shorter. */
  memory?: MemoryOptions | undefined
  /** What the agent can learn when it needs to: paths of skills or folders of them, or skills made by `skill()`. */
  skills?: readonly SkillSource[] | undefined
  /** A conversation to begin with. */
  messages?: Message[] | undefined
  /** Sections of the system prompt to replace. */
  prompt?: Partial<PromptSections> | undefined
  /** Rolls a cell back that throws, is refused or fails its check: the namespace is as before. Default false. */
  transaction?: CellOptions["transaction"]
  /** Answers the calls that ask for approval: a function, or `"events"` for `run.approve(id, decision)` by who reads the events.
   *  Default: that of the run it is started by, else such calls are refused. */
  approver?: ApproverOption | undefined
  /** How long an approval may stay unanswered; then the call is refused. No active time passes meanwhile. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** Code of yours around runs, answers and calls, one object or a pipeline of them. Overrides replace them all: spread the old ones in to
   *  keep them. The runs that a run starts have them too, around their own. */
  hooks?: Hooks | readonly Hooks[] | undefined
  temperature?: number | undefined
  maxOutputTokens?: number | undefined
  /** Handed to the model's provider untouched. */
  providerOptions?: ModelRequest["providerOptions"]
  /** The clock, for tests and replays. Default `Date.now`. */
  now?: (() => number) | undefined
}

/** The options with every default filled in. */
export interface AgentConfig {
  name: string
  /** Whether it works by writing code. */
  usesCode: boolean
  usesTools: boolean
  tools: readonly Tool[]
  agents: Readonly<Record<string, Agent>> | undefined
  toolPolicy: ToolPolicy | undefined
  workspace: Workspace | undefined
  shell: boolean | ShellOptions
  images: boolean
  noTool: NoToolPolicy
  stopOn: "first-tool" | readonly string[] | undefined
  maxParallelTools: number
  model: Model
  runtime: RuntimeSource | undefined
  instructions: string
  limits: Limits
  maxOutputChars: number
  cellTimeoutMs: number | undefined
  typeGate: TypeGateMode | undefined
  contextWindow: number
  memory: MemoryConfig
  skills: readonly SkillSource[] | undefined
  messages: Message[]
  prompt: Partial<PromptSections>
  transaction: CellOptions["transaction"]
  approver: ApproverOption | undefined
  approvalTimeoutMs: number | undefined
  hooks: readonly Hooks[]
  metadata: Metadata
  request: Omit<ModelRequest, "messages" | "signal" | "system">
  /** Whether this run's options change what the system prompt says. */
  changesPrompt: boolean
  now(): number
  /** Measures how long things take: unlike `now` it goes on when the clock is set. */
  monotonicNow(): number
  /** The tag the model is asked for. */
  fenceTag(language: Runtime["language"]): string
  /** The tags that make a block a cell. */
  acceptedFenceTags(language: Runtime["language"]): readonly string[]
}

export type NoToolPolicy = "continue" | "answer" | "wait"

const defaultFenceTags: Record<Runtime["language"], readonly string[]> = {
  typescript: ["ts", "typescript", "js", "javascript", "mjs"],
  python: ["python", "py"],
}

export function resolveConfig(options: AgentOptions, freshPrompt = false): AgentConfig {
  const { maxOutputChars = 5000, cellTimeoutMs, fence, limits = {}, temperature, maxOutputTokens } = options
  const source = toModel(options.model)
  const model = options.images === false ? withoutImages(source) : source
  checkRuntime(options.runtime)
  if (fence !== undefined && !/^[^\s`~]+$/.test(fence)) {
    throw new ConfigError(`fence: "${fence}" cannot be a fence tag. Use one word without backticks, such as "ts".`)
  }
  if (limits.costUsd !== undefined && !model.price) {
    const cure =
      "Give the model a price, e.g. resolveModel(id, { price: { input: 1.25, output: 10 } }), or leave out limits.costUsd."
    throw new ConfigError(
      `limits.costUsd: the price of "${model.id}" is not known, so its cost cannot be limited. ${cure}`,
    )
  }
  const { tools = [], agents, workspace, noTool = "continue", stopOn, maxParallelTools = 8 } = options
  checkTools(tools)
  checkStopOn(stopOn, tools)
  checkWorkspace(workspace)
  checkAgents(agents)
  const hasAgents = agents !== undefined && Object.keys(agents).length > 0
  const usesTools = tools.length > 0 || hasAgents || workspace !== undefined
  const usesCode = options.runtime !== undefined || !usesTools
  const contextWindow = options.contextWindow ?? model.contextWindow ?? 128_000
  return {
    name: options.name ?? "agent",
    model,
    runtime: options.runtime,
    usesCode,
    usesTools,
    tools,
    agents: hasAgents ? agents : undefined,
    toolPolicy: options.toolPolicy,
    workspace,
    shell: options.shell ?? false,
    images: options.images ?? true,
    noTool,
    stopOn,
    maxParallelTools,
    instructions: options.instructions ?? (usesCode ? defaultInstructions : toolInstructions),
    limits,
    maxOutputChars,
    cellTimeoutMs,
    typeGate: options.typeGate,
    contextWindow,
    memory: resolveMemory(options.memory, { model, contextWindow, maxOutputTokens }),
    skills: options.skills?.length ? options.skills : undefined,
    messages: options.messages ?? [],
    prompt: options.prompt ?? {},
    transaction: options.transaction,
    approver: checkApprover(options.approver),
    approvalTimeoutMs: options.approvalTimeoutMs,
    hooks: toHooks(options.hooks),
    metadata: options.metadata ?? {},
    request: { temperature, maxOutputTokens, providerOptions: options.providerOptions },
    changesPrompt: freshPrompt,
    now: options.now ?? Date.now,
    monotonicNow: options.now ?? (() => Math.round(performance.now())),
    fenceTag: (language) => fence ?? defaultFenceTags[language][0] ?? language,
    acceptedFenceTags: (language) => (usesCode ? (fence === undefined ? defaultFenceTags[language] : [fence]) : []),
  }
}

function checkTools(tools: readonly unknown[]): void {
  if (!Array.isArray(tools)) throw new ConfigError("tools: give a list of tools, made by tool({ … }).")
  const wrong = tools.findIndex((each) => !isTool(each))
  if (wrong !== -1)
    throw new ConfigError(`tools[${wrong}]: this is no tool. Make one by tool({ name, description, run }).`)
}

function checkAgents(agents: object | undefined): void {
  for (const [name, agent] of Object.entries(agents ?? {})) {
    if (!/^[\p{ID_Start}_][\p{ID_Continue}-]{0,63}$/u.test(name)) {
      throw new ConfigError(`agents: "${name}" is no name for one. Use a word of letters, digits, "_" and "-".`)
    }
    if (!isAgent(agent)) throw new ConfigError(`agents.${name}: this is no agent. Make one by createAgent({ … }).`)
  }
}
