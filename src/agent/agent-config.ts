// The options of an agent, and how they become a complete configuration with every default filled in.
import { type ApproverOption, checkApprover } from "../actions/approval.ts"
import { type Hooks, toHooks } from "../actions/hooks.ts"
import type { ToolPolicy } from "../actions/tool-policy.ts"
import type { Agent, AgentOverrides, Limits } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { withoutUndefined } from "../core/object.ts"
import { type PromptLanguage, textsIn } from "../core/prompt-texts.ts"
import { type MemoryConfig, type MemoryOptions, resolveMemory } from "../memory.ts"
import type { Model, ModelRequest } from "../models/model.ts"
import { type ModelSource, toModel } from "../models/model-source.ts"
import { withoutImages } from "../models/without-images.ts"
import { type Bindings, isAgent } from "../runtime/bindings.ts"
import type { CellOptions, Runtime, TypeGateMode } from "../runtime/runtime.ts"
import type { RuntimeSource } from "../runtime/typed-runtime.ts"
import type { SkillSource } from "../skills.ts"
import type { ShellOptions } from "../tools/shell.ts"
import { isTool, type Tool } from "../tools/tool.ts"
import type { Workspace } from "../workspaces/workspace.ts"
import { checkRuntime, checkStopOn, checkWorkspace, hasTools } from "./agent-option-checks.ts"
import { type CodeSyntax, languageTags } from "./parse/tags.ts"
import type { PromptSections } from "./prompt/system-prompt.ts"

/** The options of `createAgent`. `with`, `run` and `session` take them as overrides. `V`: the values in the runtime. */
export interface AgentOptions<V extends Bindings = Bindings> extends AgentOverrides {
  /** A `Model`, an AI SDK language model, or an id such as "openai/gpt-5.2". */
  model: ModelSource
  /** The name in events and for other agents. Default "agent". */
  name?: string | undefined
  /** What the agent is for: shown to agents that delegate to it. */
  description?: string | undefined
  /** An instance is shared; a factory creates one for each run or session, and receives `{ session, metadata, signal }`
   *  of it. Default: a new `jsRuntime` each. */
  runtime?: RuntimeSource<V> | undefined
  /** Functions with a JSON schema, made by `tool()`. An agent with tools and no runtime works by tool calls only. */
  tools?: readonly Tool[] | undefined
  /** Which tools the agent and its child runs may use. Default: all. */
  toolPolicy?: ToolPolicy | undefined
  /** The agent's files. With a workspace, it has tools to read, write and search them. */
  workspace?: Workspace | undefined
  /** Lets the model run commands in its workspace, which must be a folder. Each command needs approval unless the shell
   *  options say otherwise. Default false. */
  shell?: boolean | ShellOptions | undefined
  /** False: the model gets a line of text instead of each image, and no tool to read images. Default true; an endpoint
   *  that rejects images gets none after that. */
  images?: boolean | undefined
  /** How an agent without a runtime treats an answer without a tool call: it is the final answer (`answer`) or a
   *  question to the user (`wait`), or the model is reminded to continue until it calls `finish` (`continue`). Only
   *  with `continue` is the tool `finish` offered. Default `answer`. */
  noTool?: NoToolPolicy | undefined
  /** Offers the tool `write_todos`, with which the model keeps a todo list. An answer with open todos is sent back
   *  once. Default false. */
  todos?: boolean | undefined
  /** Offers the tool `compact_memory`, with which the model has its conversation shortened early. Default false. */
  compactMemory?: boolean | undefined
  /** Ends the run after the first successful tool call, or after one of these tools. Its result is the output. */
  stopOn?: "first-tool" | readonly string[] | undefined
  /** Agents that this agent may delegate tasks to, by name, with the tools `delegate` and `delegate_status`. They use
   *  its files if they have none, and its policy, hooks, limits and signal apply to them. */
  agents?: Readonly<Record<string, Agent>> | undefined
  /** How many tools marked parallel, or sub-tasks, run at the same time. Default 8. */
  maxParallelTools?: number | undefined
  /** Characters of a cell's output that the model sees; a longer output is stored in a variable. Default 5,000. */
  maxOutputChars?: number | undefined
  /** The time limit of one cell. Default: none. */
  cellTimeoutMs?: number | undefined
  /** Checks each cell against the types of the objects in the runtime before it runs. Default `off`. */
  typeGate?: TypeGateMode | undefined
  /** The fence tag that marks code, and the only one. Default: "ts" or "python" and the other tags of the language. */
  fence?: string | undefined
  /** The tokens that the model can read. Default: as the model states, otherwise 128,000. */
  contextWindow?: number | undefined
  /** How a long conversation is shortened. */
  memory?: MemoryOptions | undefined
  /** Skills that the model can activate: paths of skills or of folders of skills, or skills made by `skill()`. */
  skills?: readonly SkillSource[] | undefined
  /** The messages that a conversation starts with. */
  messages?: Message[] | undefined
  /** The language of the texts that Karst writes for the model: the system prompt, reminders and the descriptions of
   *  built-in tools. Results and errors stay in English. Default "en". */
  language?: PromptLanguage | undefined
  /** Sections of the system prompt to replace. */
  prompt?: Partial<PromptSections> | undefined
  /** Rolls back a cell that throws, is refused or fails its check: the namespace is unchanged. Default false. */
  transaction?: CellOptions["transaction"]
  /** Answers approval requests: a function, or `"events"` for readers who call `run.approve(id, decision)`. Default:
   *  the approver of the run that starts this one; without any, calls that need approval are refused. */
  approver?: ApproverOption | undefined
  /** How long an approval request waits before the call is refused; no active time passes. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** User code around runs, answers and calls: one object or a pipeline. An override replaces all hooks; spread the old
   *  ones to retain them. Child runs have these hooks too, around their own. */
  hooks?: Hooks | readonly Hooks[] | undefined
  /** The sampling temperature. Default: the model's. */
  temperature?: number | undefined
  /** The most tokens of one answer. Default: the model's. */
  maxOutputTokens?: number | undefined
  /** Passed unchanged to the model's provider. */
  providerOptions?: ModelRequest["providerOptions"]
  /** The clock, for tests and replays. Default `Date.now`. */
  now?: (() => number) | undefined
}

export interface AgentConfig {
  name: string
  usesCode: boolean
  usesTools: boolean
  tools: readonly Tool[]
  agents: Readonly<Record<string, Agent>> | undefined
  toolPolicy: ToolPolicy | undefined
  workspace: Workspace | undefined
  shell: boolean | ShellOptions
  images: boolean
  noTool: NoToolPolicy
  todos: boolean
  compactMemory: boolean
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
  promptLanguage: PromptLanguage
  prompt: Partial<PromptSections>
  transaction: CellOptions["transaction"]
  approver: ApproverOption | undefined
  approvalTimeoutMs: number | undefined
  hooks: readonly Hooks[]
  metadata: Metadata
  request: Omit<ModelRequest, "messages" | "signal" | "system">
  /** Whether the options of this run change the system prompt. */
  changesPrompt: boolean
  now(): number
  /** The clock for durations. Unlike `now`, it is not affected when the system clock is set. */
  monotonicNow(): number
  /** The tag that the model is asked to use. */
  fenceTag(language: Runtime["language"]): string
  /** How the model marks code; undefined if the agent only calls tools. */
  codeSyntax(language: Runtime["language"]): CodeSyntax | undefined
}

/** Throws if the cost of the model cannot be limited. */
export function requirePrice({ id, price }: Model, option: string): void {
  if (price) return
  throw new ConfigError(
    `${option}: the price of "${id}" is not known, so its cost cannot be limited. Give the model a price, e.g. ` +
      `resolveModel(id, { price: { input: 1.25, output: 10 } }), or leave out ${option}.`,
  )
}

/** The options with those that the overrides have. Limits, prompt sections and metadata are merged. */
export function mergeOptions(options: AgentOptions, overrides: Partial<AgentOptions>): AgentOptions {
  return {
    ...options,
    ...withoutUndefined(overrides),
    limits: { ...options.limits, ...withoutUndefined(overrides.limits ?? {}) },
    prompt: { ...options.prompt, ...withoutUndefined(overrides.prompt ?? {}) },
    metadata: { ...options.metadata, ...overrides.metadata },
  }
}

export type NoToolPolicy = "answer" | "continue" | "wait"

export function resolveConfig(options: AgentOptions, changesPrompt = false): AgentConfig {
  const { maxOutputChars = 5000, cellTimeoutMs, fence, limits = {}, temperature, maxOutputTokens } = options
  const source = toModel(options.model)
  const model = options.images === false ? withoutImages(source) : source
  checkRuntime(options.runtime)
  if (fence !== undefined && !/^[^\s`~]+$/.test(fence)) {
    throw new ConfigError(`fence: "${fence}" cannot be a fence tag. Use one word without backticks, such as "ts".`)
  }
  const fenceTag = (language: Runtime["language"]) => fence ?? languageTags[language][0] ?? language
  if (limits.costUsd !== undefined) requirePrice(model, "limits.costUsd")
  const { tools = [], agents, workspace, noTool = "answer", stopOn, maxParallelTools = 8 } = options
  checkTools(tools)
  checkStopOn(stopOn, tools)
  checkWorkspace(workspace)
  checkAgents(agents)
  const usesTools = hasTools(options)
  const usesCode = options.runtime !== undefined || !usesTools
  const { language: promptLanguage = "en" } = options
  const texts = textsIn(promptLanguage)
  const contextWindow = options.contextWindow ?? model.contextWindow ?? 128_000
  return {
    name: options.name ?? "agent",
    model,
    runtime: options.runtime,
    usesCode,
    usesTools,
    tools,
    agents: agents && Object.keys(agents).length > 0 ? agents : undefined,
    toolPolicy: options.toolPolicy,
    workspace,
    shell: options.shell ?? false,
    images: options.images ?? true,
    noTool,
    todos: options.todos ?? false,
    compactMemory: options.compactMemory ?? false,
    stopOn,
    maxParallelTools,
    instructions: options.instructions ?? (usesCode ? texts.codeInstructions : texts.toolInstructions),
    limits,
    maxOutputChars,
    cellTimeoutMs,
    typeGate: options.typeGate,
    contextWindow,
    memory: resolveMemory(options.memory, { model, contextWindow, maxOutputTokens }),
    skills: options.skills?.length ? options.skills : undefined,
    messages: options.messages ?? [],
    promptLanguage,
    prompt: options.prompt ?? {},
    transaction: options.transaction,
    approver: checkApprover(options.approver),
    approvalTimeoutMs: options.approvalTimeoutMs,
    hooks: toHooks(options.hooks),
    metadata: options.metadata ?? {},
    request: { temperature, maxOutputTokens, providerOptions: options.providerOptions },
    changesPrompt,
    now: options.now ?? Date.now,
    monotonicNow: options.now ?? (() => Math.round(performance.now())),
    fenceTag,
    codeSyntax: (language) =>
      usesCode ? { language, fence: fenceTag(language), onlyFence: fence !== undefined, promptLanguage } : undefined,
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
