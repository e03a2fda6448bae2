import { type ApproverOption, checkApprover } from "../actions/approval.ts"
import { type Hooks, toHooks } from "../actions/hooks.ts"
import type { AgentOverrides, Limits } from "../core/agent.ts"
import { checkOptions } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import type { Price } from "../core/usage.ts"
import type { McpServer, ServeOptions, ToolSources } from "../mcp/mcp-types.ts"
import { modelFacts } from "../models/prices.ts"
import type { RuntimeSource } from "../runtime/runtime.ts"
import { environmentDefaults } from "./environment-defaults.ts"
import type { Logger } from "./logger.ts"
import { cliChecks } from "./option-checks.ts"
import { type Provider, type Tier, type ToolGroup, type TurnSettings, toolGroups } from "./provider.ts"
import { type AutoWait, type AutoWaitOptions, resolveAutoWait } from "./usage-limits.ts"

/** Those of our hooks that there is a place for in a CLI: what else it does is its own affair. */
export type CallHooks = Pick<Hooks, "beforeCall" | "afterCall" | "inherited">

/** What holds for cells that the CLI runs in your runtime, as in an agent of ours. */
export type CellOptions = Pick<ServeOptions, "cellTimeoutMs" | "typeGate" | "transaction">

/** What `claude`, `codex` and the others take; `with`, `run` and `session` take the same as overrides. */
export interface CliOptions extends AgentOverrides, CellOptions {
  /** For people, events and other agents. Default: the name of the CLI. */
  name?: string | undefined
  description?: string | undefined
  /** A model as the CLI names it, or a tier; "": the CLI's own. Default: `KARST_MODEL`, else the CLI's own. */
  model?: Tier | (string & {}) | undefined
  /** How hard the model thinks, in the CLI's own words: "low", "high". Default: `KARST_EFFORT`, else the CLI's own. */
  reasoning?: string | undefined
  /** In place of the CLI's own system prompt, where it can be replaced; `instructions` are added to it. */
  systemPrompt?: string | undefined
  /** The folder it works in. Default: that of this process. */
  cwd?: string | undefined
  /** What it may do. Default: all but `interaction`. */
  allow?: readonly ToolGroup[] | undefined
  /** Tools of yours, in every form: made by `tool()`, kits, functions, agents. */
  tools?: ToolSources | undefined
  /** MCP servers for the CLI, by name. */
  mcpServers?: Readonly<Record<string, McpServer>> | undefined
  /** Names of MCP servers that the CLI is configured with by its user, and that it may use. Default: none of them. */
  userServers?: readonly string[] | undefined
  /** Live objects for the CLI: an instance is shared on purpose, a factory makes each run or session its own. */
  runtime?: RuntimeSource | undefined
  /** Variables for the CLI over those of this process; undefined removes one. */
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** Default: what is in `allow` is granted, the rest refused. `ask`: reading is granted, what else is allowed is asked about.
   *  `bypass`: the CLI checks nothing. */
  permissions?: "ask" | "bypass" | undefined
  /** Answers what asks for approval (calls of your tools and, with "ask", of the CLI's own): a function, or `"events"` for
   *  `run.approve(id, decision)` by who reads the events. Default: that of the run it is started by, else it is refused. */
  approver?: ApproverOption | undefined
  /** How long an approval may stay unanswered; then the call is refused. Default: no limit. */
  approvalTimeoutMs?: number | undefined
  /** Code of yours around the calls of your tools, and of functions in your runtime, one object or a pipeline of them. */
  hooks?: CallHooks | readonly CallHooks[] | undefined
  /** The program, where it is not in PATH. */
  program?: string | undefined
  /** How long a turn may take. Default: no limit. */
  timeoutMs?: number | undefined
  /** How long nothing may come while the CLI waits for its model. Default 10 minutes. */
  idleTimeoutMs?: number | undefined
  /** How often a turn is sent again that failed for a passing reason before anything was done. Default 2. */
  retries?: number | undefined
  /** What becomes of a turn that the account's limit has ended, where the CLI says when that is over: by default the run waits until
   *  then and goes on. Default: `KARST_AUTOWAIT`, else true. */
  autoWait?: boolean | AutoWaitOptions | undefined
  /** Told one line for each thing that matters. */
  logger?: Logger | undefined
  /** Writes the trajectory to this file while the work goes on, whole at every moment. */
  trajectoryPath?: string | undefined
}

/** The options with every default filled in. */
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
  retries: number
  autoWait: AutoWait | undefined
  limits: Limits
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
  const { idleTimeoutMs = 600_000, timeoutMs, cellTimeoutMs, retries = 2, runtime, limits = {} } = options
  checkGroups(allow)
  checkPermissions(provider, permissions)
  for (const name of Object.keys(mcpServers)) checkServerName(name)
  if (runtime !== undefined && typeof runtime !== "function" && !("execute" in runtime)) {
    throw new ConfigError("runtime: this is neither a runtime nor a function that makes one. Use jsRuntime({ … }).")
  }
  const env = childEnvironment(options.env)
  const model = options.model ?? defaults.model
  const named = model === "strongest" || model === "fast" ? provider.model(model, env) : model || undefined
  checkLimits(provider, limits, named)
  checkCapability(provider, "systemPrompt", options.systemPrompt !== undefined)
  checkCapability(provider, "userServers", (options.userServers ?? []).length > 0)
  return {
    name: options.name ?? provider.name,
    model: named,
    cwd: options.cwd,
    program: options.program,
    tools: options.tools,
    mcpServers,
    runtime,
    approver: checkApprover(options.approver),
    approvalTimeoutMs: options.approvalTimeoutMs,
    hooks: requireCallHooks(options.hooks),
    cells: { cellTimeoutMs, typeGate: options.typeGate, transaction: options.transaction },
    retries,
    autoWait: resolveAutoWait(options.autoWait ?? defaults.autoWait),
    limits,
    metadata: options.metadata ?? {},
    logger: options.logger,
    trajectoryPath: options.trajectoryPath,
    onEvent: options.onEvent,
    settings: {
      model: named,
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

/** The options with others over them; what is undefined there changes nothing. */
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

/** Refuses names of servers that the user of a CLI does not have. */
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

/** Limits that nobody could keep are refused. */
function checkLimits(provider: Provider, limits: Limits, model: string | undefined): void {
  const { name, title, can } = provider
  const tokens = (["tokens", "uncachedTokens"] as const).find((key) => limits[key] !== undefined)
  if (tokens !== undefined && !can.tokens) {
    throw new ConfigError(
      `limits.${tokens}: ${title} reports its tokens only when a turn is over, so they cannot be limited. Use limits.cycles or limits.timeMs.`,
    )
  }
  if (limits.costUsd === undefined || can.cost) return
  if (can.tokens && (model === undefined ? provider.price : priceOf(provider, model))) return
  const cure = can.tokens
    ? `Give ${name}({ price: { input: 1.25, output: 10 } }), in US dollars per million tokens, or a model of the price list.`
    : "Use limits.cycles or limits.timeMs."
  throw new ConfigError(`limits.costUsd: ${title} reports no cost while it works, so it cannot be limited. ${cure}`)
}

/** The price of a model of a CLI, where it is known. */
export function priceOf({ maker, price }: Provider, model: string): Price | undefined {
  return price ?? modelFacts(maker === undefined ? model : `${maker}/${model}`)?.price
}

// The CLIs make names of tools from it.
function checkServerName(name: string): void {
  if (/^[A-Za-z][\w-]{0,31}$/.test(name) && !name.includes("__") && name !== "karst") return
  throw new ConfigError(
    `mcpServers: "${name}" is no name for one. Use a word of letters, digits, "_" and "-"; "karst" is taken.`,
  )
}

export function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return
  throw new ConfigError(`${name}: ${String(value)} is not a number of at least ${least}.`)
}

// A CLI that is started by another must not take itself for a part of it.
const nestedSessionVariable = /^(CLAUDECODE|CLAUDE_CODE_(SESSION_ID|CHILD_SESSION|SSE_PORT|ENTRYPOINT))$/

function childEnvironment(own: CliOptions["env"] = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !nestedSessionVariable.test(name))
  const merged = Object.entries({ ...Object.fromEntries(inherited), ...own })
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function withoutUndefined<T extends object>(overrides: T): Partial<T> {
  // What is left has the same keys and types.
  return Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)) as Partial<T>
}
