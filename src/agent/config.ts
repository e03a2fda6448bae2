import type { Approver } from "../actions/approve.ts"
import type { AgentOverrides, Limits } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import type { Model, ModelRequest } from "../models/model.ts"
import { type ModelSource, toModel } from "../models/source.ts"
import type { ExecuteOptions, Runtime, RuntimeSource, TypeGateMode } from "../runtime/runtime.ts"
import { defaultInstructions, type PromptSections } from "./prompt.ts"

/** What `createAgent` takes; `with`, `run` and `session` take the same as overrides. */
export interface AgentOptions extends AgentOverrides {
  /** A `Model`, an AI SDK language model, or an id such as "openai/gpt-5.2". */
  model: ModelSource
  /** For people, events and other agents. Default "agent". */
  name?: string | undefined
  description?: string | undefined
  /** An instance is shared on purpose; a factory makes each run or session its own. Default: a fresh `jsRuntime` each. */
  runtime?: RuntimeSource | undefined
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
  /** A conversation to begin with. */
  messages?: Message[] | undefined
  /** Sections of the system prompt to replace. */
  prompt?: Partial<PromptSections> | undefined
  /** Rolls a cell back that throws, is refused or fails its check: the namespace is as before. Default false. */
  transaction?: ExecuteOptions["transaction"]
  /** Answers the calls that ask for approval. Default: who watches the run; nobody there means no. */
  approve?: Approver | undefined
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
  model: Model
  runtime: RuntimeSource | undefined
  instructions: string
  limits: Limits
  maxOutputChars: number
  cellTimeoutMs: number | undefined
  typeGate: TypeGateMode | undefined
  contextWindow: number
  messages: Message[]
  prompt: Partial<PromptSections>
  transaction: ExecuteOptions["transaction"]
  approve: Approver | undefined
  metadata: Metadata
  request: Omit<ModelRequest, "messages" | "signal" | "system">
  /** Whether this run's options change what the system prompt says. */
  freshPrompt: boolean
  now(): number
  /** The tag the model is asked for. */
  tag(language: Runtime["language"]): string
  /** The tags that make a block a cell. */
  tags(language: Runtime["language"]): readonly string[]
}

const tagsOf: Record<Runtime["language"], readonly string[]> = {
  typescript: ["ts", "typescript", "js", "javascript", "mjs"],
  python: ["python", "py"],
}

export function resolveConfig(options: AgentOptions, freshPrompt = false): AgentConfig {
  const { maxOutputChars = 5000, cellTimeoutMs, fence, limits = {}, temperature, maxOutputTokens } = options
  const model = toModel(options.model)
  checkRuntime(options.runtime)
  checkNumber("maxOutputChars", maxOutputChars, 0)
  checkNumber("cellTimeoutMs", cellTimeoutMs, 1)
  checkNumber("contextWindow", options.contextWindow, 1)
  for (const [name, value] of Object.entries(limits)) {
    if (!limitNames.includes(name))
      throw new ConfigError(`limits.${name}: unknown. There are ${limitNames.join(", ")}.`)
    checkNumber(`limits.${name}`, value, 0)
  }
  if (fence !== undefined && !/^[^\s`~]+$/.test(fence)) {
    throw new ConfigError(`fence: "${fence}" cannot be a fence tag. Use one word without backticks, such as "ts".`)
  }
  if (limits.costUsd !== undefined && !model.price) {
    const cure =
      "Give the model a price, e.g. resolve(id, { price: { input: 1.25, output: 10 } }), or leave out limits.costUsd."
    throw new ConfigError(
      `limits.costUsd: the price of "${model.id}" is not known, so its cost cannot be limited. ${cure}`,
    )
  }
  return {
    name: options.name ?? "agent",
    model,
    runtime: options.runtime,
    instructions: options.instructions ?? defaultInstructions,
    limits,
    maxOutputChars,
    cellTimeoutMs,
    typeGate: options.typeGate,
    contextWindow: options.contextWindow ?? model.contextWindow ?? 128_000,
    messages: options.messages ?? [],
    prompt: options.prompt ?? {},
    transaction: options.transaction,
    approve: options.approve,
    metadata: options.metadata ?? {},
    request: { temperature, maxOutputTokens, providerOptions: options.providerOptions },
    freshPrompt,
    now: options.now ?? Date.now,
    tag: (language) => fence ?? tagsOf[language][0] ?? language,
    tags: (language) => (fence === undefined ? tagsOf[language] : [fence]),
  }
}

const limitNames = ["cycles", "tokens", "costUsd", "timeMs"]

function checkRuntime(runtime: unknown): void {
  if (runtime === undefined || typeof runtime === "function") return
  if (typeof runtime === "object" && runtime !== null && "execute" in runtime) return
  throw new ConfigError("runtime: this is neither a runtime nor a function that makes one. Use jsRuntime({ … }).")
}

function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return
  throw new ConfigError(`${name}: ${String(value)} is not a number of at least ${least}.`)
}
