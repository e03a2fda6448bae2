// The options of coding-CLI agents: their documentation, checks and defaults.

import { type ApproverOption, checkApprover } from "../actions/approval.ts"
import { type Hooks, toHooks } from "../actions/hooks.ts"
import type { AgentOverrides, Limits } from "../core/agent.ts"
import { checkOptions } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import { withoutUndefined } from "../core/object.ts"
import type { Price } from "../core/usage.ts"
import { checkMcpServer } from "../mcp/mcp-option-checks.ts"
import type { McpServer, ServeOptions, ToolSources } from "../mcp/mcp-types.ts"
import { modelFacts } from "../models/prices.ts"
import type { RuntimeSource } from "../runtime/typed-runtime.ts"
import { environmentDefaults } from "./environment-defaults.ts"
import type { Logger } from "./logger.ts"
import { cliChecks } from "./option-checks.ts"
import { isTier, type Provider, type Tier, type ToolGroup, type TurnSettings, toolGroups } from "./provider.ts"
import { type TierSettings, tierModel } from "./tiers.ts"
import { type AutoWait, type AutoWaitOptions, resolveAutoWait } from "./usage-limits.ts"

/** The hooks that apply to a coding CLI: only those around calls. */
export type CallHooks = Pick<Hooks, "beforeCall" | "afterCall" | "inherited">

/** Options of cells that the CLI runs in your runtime, as in `createAgent`. */
export type CellOptions = Pick<ServeOptions, "cellTimeoutMs" | "typeGate" | "transaction">

/** The options of `claude`, `codex` and the others; `with`, `run` and `session` take the same as overrides. */
export interface CliOptions extends AgentOverrides, CellOptions {
  /** The agent's name in events and for other agents. Default: the name of the CLI. */
  name?: string | undefined
  /** What the agent is for: shown to agents that delegate to it. */
  description?: string | undefined
  /** A model by the CLI's name for it, or a tier; "": the CLI's default. Default: `KARST_MODEL`, else the CLI's
   *  default. */
  model?: Tier | (string & {}) | undefined
  /** The models of the tiers, by the name of the CLI: `{ claude: { fast: "haiku" } }`. The CLI's own environment
   *  variables, such as `ANTHROPIC_MODEL`, have precedence. */
  tiers?: TierSettings | undefined
  /** US dollars per million tokens by the id of the model, such as `openai/gpt-5.2`, or by the CLI's name for it. They
   *  have precedence over the price list, and count if the CLI reports no cost. */
  prices?: Readonly<Record<string, Price>> | undefined
  /** The reasoning effort, by the CLI's name for it: "low", "high". Default: `KARST_EFFORT`, else the CLI's default. */
  reasoning?: string | undefined
  /** Replaces the CLI's system prompt, if it can be replaced; `instructions` are added to it. */
  systemPrompt?: string | undefined
  /** The folder it works in. Default: the current folder of this process. */
  cwd?: string | undefined
  /** What it may do. Default: everything but `interaction`. */
  allow?: readonly ToolGroup[] | undefined
  /** Your tools, in any form: made by `tool()`, toolsets, functions, agents. */
  tools?: ToolSources | undefined
  /** MCP servers for the CLI, by name. */
  mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /** Names of MCP servers in the user's own configuration of the CLI that it may use. Default: none. */
  userServers?: readonly string[] | undefined
  /** Live objects for the CLI: an instance is shared by all runs, a factory creates one for each run or session. */
  runtime?: RuntimeSource | undefined
  /** Environment variables of the CLI, added to those of this process; undefined removes one. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** Default: the groups in `allow` are granted, the others refused. `ask`: reading is granted, the other allowed
   *  groups need an approval. `bypass`: the CLI checks nothing. */
  permissions?: "ask" | "bypass" | undefined
  /** Answers approvals (of calls to your tools and, with "ask", to the CLI's own): a function, or `"events"` if a
   *  reader of the events calls `run.approve(id, decision)`. Default: the approver of the run that starts this one,
   *  else refusal. */
  approver?: ApproverOption | undefined
  /** After this time an unanswered approval is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** Your code around the calls of your tools and of functions in your runtime: one object, or several applied in
   *  order. */
  hooks?: CallHooks | readonly CallHooks[] | undefined
  /** The program, if it is not in PATH. */
  program?: string | undefined
  /** How long a turn may take. Default: no limit. */
  timeoutMs?: number | undefined
  /** How long the CLI may be silent while it waits for its model. Default 10 minutes. */
  idleTimeoutMs?: number | undefined
  /** How often a turn is resent that failed for a temporary reason before it called anything. Default 2. */
  maxRetries?: number | undefined
  /** Whether a run waits when the account's usage limit ended a turn and the CLI says when the limit resets; the run
   *  then continues. Default: `KARST_AUTOWAIT`, else true. */
  autoWait?: boolean | AutoWaitOptions | undefined
  /** Gets one line for each important event. */
  logger?: Logger | undefined
  /** Writes the trajectory to this file during the run; the file is complete JSON at every moment. */
  trajectoryPath?: string | undefined
}

/** The options with all defaults. */
export interface CliConfig {
  name: string
  model: string | undefined
  cwd: string | undefined
  program: string | undefined
  tools: ToolSources | undefined
  mcpServers: Readonly<Record<string, McpServer>>
  runtime: RuntimeSource | undefined
  approver: ApproverOption | undefined
  approvalTimeoutMs: number | undefined
  hooks: readonly Hooks[]
  cells: CellOptions
  maxRetries: number
  autoWait: AutoWait | undefined
  limits: Limits
  prices: Readonly<Record<string, Price>>
  metadata: Metadata
  logger: Logger | undefined
  trajectoryPath: string | undefined
  onEvent: AgentOverrides["onEvent"]
  settings: Omit<TurnSettings, "program" | "cwd" | "servers">
}

export function resolveOptions(provider: Provider, options: CliOptions): CliConfig {
  checkOptions(`${provider.name}()`, options, cliChecks)
  const defaults = environmentDefaults()
  const { allow = toolGroups.filter((group) => group !== "interaction"), permissions, mcpServers = {} } = options
  const {
    idleTimeoutMs = 600_000,
    timeoutMs,
    cellTimeoutMs,
    maxRetries = 2,
    runtime,
    limits = {},
    prices = {},
  } = options
  checkGroups(allow)
  checkPermissions(provider, permissions)
  for (const [name, server] of Object.entries(mcpServers)) {
    checkServerName(name)
    checkMcpServer(`${provider.name}(): mcpServers.${name}`, server)
  }
  if (runtime !== undefined && typeof runtime !== "function" && !("execute" in runtime)) {
    throw new ConfigError("runtime: this is neither a runtime nor a function that makes one. Use jsRuntime({ … }).")
  }
  const env = childEnvironment(options.env)
  const model = options.model ?? defaults.model
  const modelName = isTier(model) ? tierModel(provider, model, options.tiers, env).id : model || undefined
  checkLimits(provider, limits, priceOf(provider, modelName, prices))
  checkCapability(provider, "systemPrompt", options.systemPrompt !== undefined)
  checkCapability(provider, "userServers", (options.userServers ?? []).length > 0)
  return {
    name: options.name ?? provider.name,
    model: modelName,
    cwd: options.cwd,
    program: options.program,
    tools: options.tools,
    mcpServers,
    runtime,
    approver: checkApprover(options.approver),
    approvalTimeoutMs: options.approvalTimeoutMs,
    hooks: requireCallHooks(options.hooks),
    cells: { cellTimeoutMs, typeGate: options.typeGate, transaction: options.transaction },
    maxRetries,
    autoWait: resolveAutoWait(options.autoWait ?? defaults.autoWait),
    limits,
    prices,
    metadata: options.metadata ?? {},
    logger: options.logger,
    trajectoryPath: options.trajectoryPath,
    onEvent: options.onEvent,
    settings: {
      model: modelName,
      reasoning: options.reasoning ?? defaults.reasoning,
      instructions: options.instructions,
      systemPrompt: options.systemPrompt,
      userServers: options.userServers ?? [],
      allow: new Set(allow),
      permissions: permissions ?? "allow",
      env,
      timeoutMs,
      idleTimeoutMs,
    },
  }
}

/** Merges overrides into options; undefined overrides change nothing. */
export function mergeOptions(options: CliOptions, overrides: Partial<CliOptions>): CliOptions {
  return {
    ...options,
    ...withoutUndefined(overrides),
    limits: { ...options.limits, ...withoutUndefined(overrides.limits ?? {}) },
    metadata: { ...options.metadata, ...overrides.metadata },
    ...(overrides.env && { env: { ...options.env, ...overrides.env } }),
  }
}

function checkGroups(allow: readonly string[]): void {
  if (!Array.isArray(allow)) throw new ConfigError(`allow: give a list of ${toolGroups.join(", ")}.`)
  const wrong = allow.find((group) => !toolGroups.some((each) => each === group))
  if (wrong === undefined) return
  throw new ConfigError(`allow: "${wrong}" is unknown. There are: ${toolGroups.join(", ")}.`)
}

function requireCallHooks(given: CliOptions["hooks"]): readonly Hooks[] {
  const hooks = toHooks(given)
  const names = ["beforeCall", "afterCall"]
  const wrong = hooks.flatMap(Object.keys).find((key) => key !== "inherited" && !names.includes(key))
  if (wrong === undefined) return hooks
  throw new ConfigError(`hooks: a CLI has no place for "${wrong}". There are: ${names.join(", ")}.`)
}

function checkPermissions({ title, can }: Provider, permissions: string | undefined): void {
  if (permissions === undefined || permissions === "bypass") return
  if (permissions !== "ask") throw new ConfigError(`permissions: "${permissions}" is unknown. Use "ask" or "bypass".`)
  if (can.ask) return
  throw new ConfigError(
    `permissions: ${title} cannot ask before it acts. Say what it may do by allow: [ … ], or use one that asks: claude(), ` +
      'opencode({ protocol: "acp" }), gemini({ protocol: "acp" }).',
  )
}

/** Throws if the user's configuration of the CLI lacks one of these servers. */
export function requireKnownServers(title: string, names: readonly string[], known: readonly string[]): void {
  const missing = names.find((name) => !known.includes(name))
  if (missing === undefined) return
  const there = known.length === 0 ? "There are none." : `There are: ${known.join(", ")}.`
  throw new ConfigError(`userServers: ${title} is not configured with an MCP server "${missing}". ${there}`)
}

function checkCapability({ title, can }: Provider, name: "systemPrompt" | "userServers", isGiven: boolean): void {
  if (!isGiven || can[name]) return
  const cures = { systemPrompt: "Use instructions.", userServers: "Give its servers as mcpServers." }
  throw new ConfigError(`${name}: ${title} has no setting for this. ${cures[name]}`)
}

/** Throws for limits that cannot be enforced with this CLI. */
function checkLimits({ name, title, can }: Provider, limits: Limits, price: Price | undefined): void {
  const tokens = (["tokens", "uncachedTokens"] as const).find((key) => limits[key] !== undefined)
  if (tokens !== undefined && !can.tokens) {
    throw new ConfigError(
      `limits.${tokens}: ${title} reports its tokens only when a turn is over, so they cannot be limited. Use limits.cycles or limits.timeMs.`,
    )
  }
  if (limits.costUsd === undefined || can.cost) return
  if (can.tokens && price) return
  const cure = can.tokens
    ? `Give ${name}({ model, prices: { [model]: { input: 1.25, output: 10 } } }), in US dollars per million tokens, or a model of the price list.`
    : "Use limits.cycles or limits.timeMs."
  throw new ConfigError(`limits.costUsd: ${title} reports no cost while it works, so it cannot be limited. ${cure}`)
}

/** The price of a model of a CLI, if known. Without a model, only a price that is fixed for the CLI is known. */
export function priceOf(
  { maker, price }: Provider,
  model: string | undefined,
  prices: CliConfig["prices"],
): Price | undefined {
  if (price || model === undefined) return price
  const id = maker === undefined ? model : `${maker}/${model}`
  const given = [model, id].find((name) => Object.hasOwn(prices, name))
  return given === undefined ? modelFacts(id)?.price : prices[given]
}

// CLIs build tool names from the server name.
function checkServerName(name: string): void {
  if (/^[A-Za-z][\w-]{0,31}$/.test(name) && !name.includes("__") && name !== "karst") return
  throw new ConfigError(
    `mcpServers: "${name}" is no name for one. Use a word of letters, digits, "_" and "-"; "karst" is taken.`,
  )
}

// Set by Claude Code for its children: a CLI started by us must not take itself for a part of that session.
const nestedSessionVariable = /^(CLAUDECODE|CLAUDE_CODE_(SESSION_ID|CHILD_SESSION|SSE_PORT|ENTRYPOINT))$/

function childEnvironment(own: CliOptions["env"] = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !nestedSessionVariable.test(name))
  const merged = Object.entries({ ...Object.fromEntries(inherited), ...own })
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined))
}
