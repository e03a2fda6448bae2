import { anything, checkOptions, mustBeAtLeast, type OptionChecks } from "./core/checks/check-options.ts"
import { errorData, isAbortError } from "./core/errors.ts"
import type { Emit } from "./core/event.ts"
import type { Json } from "./core/json.ts"
import type { Message } from "./core/message.ts"
import type { Usage } from "./core/usage.ts"
import { clearResults } from "./memory/clear-results.ts"
import { type CompactionJob, createCompactionJob, runBeforeCompact } from "./memory/compaction-job.ts"
import { estimateConversation } from "./memory/estimate-tokens.ts"
import { replaceOlderMessages } from "./memory/replace-older.ts"
import { defaultCompactAt, requestSize, withLowerCeiling } from "./memory/request-size.ts"
import type { Model, ModelRequest } from "./models/model.ts"
import { type ModelSource, toModel } from "./models/model-source.ts"
import type { Runtime } from "./runtime/runtime.ts"

/** How a conversation that grows long is made shorter. First, old results become markers that name a variable with the
 *  whole text. When that is not enough, older messages become a summary; when none can be had, they are taken out
 *  without one. Either way they stay whole in a variable: nothing that was said is out of the model's reach. */
export interface MemoryOptions {
  /** Tokens at which a conversation is made shorter; `Infinity` waits until the provider refuses it. Default: 77 % of
   *  the context window. */
  compactAt?: number | undefined
  /** How many of the newest results stay whole when old ones are cleared. Default 6. */
  keepResults?: number | undefined
  /** Writes the summaries; a smaller one will often do. Default: the agent's model. */
  model?: ModelSource | undefined
}

/** What sees and changes how a conversation is made shorter. What a hook gives is told and stored like any compaction; a
 *  conversation in which a call has lost its result is not accepted. A hook that throws is told as a warning: after
 *  `beforeCompact`, nothing is compacted this time; after the others, it goes on without them. */
export interface CompactHooks {
  /** Before anything is taken out. May give the messages to begin with, in place of those there are. */
  beforeCompact?(full: FullConversation): MaybeMessages | Promise<MaybeMessages>
  /** After each step, before it is told. May give other messages to stand in the place of those that go. */
  afterCompact?(compacted: Compacted): MaybeMessages | Promise<MaybeMessages>
  /** Sees each step as it was told. */
  onCompact?(compacted: Compacted): unknown
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common one.
export type MaybeMessages = void | undefined | Message[]

export interface FullConversation {
  messages: readonly Message[]
  /** How long the next request would be, system prompt included. */
  tokens: number
  /** How long it may be. */
  limit: number
  /** Whether it reached the limit, the provider refused it, or the model asked for it. */
  reason: "limit" | "overflow" | "asked"
}

export interface Compacted {
  /** 1: old results were cleared. 2: older messages were summarised. 3: they were taken out without a summary. */
  tier: 1 | 2 | 3
  /** The messages that go. */
  replaced: readonly Message[]
  /** What stands in their place. */
  messages: readonly Message[]
  /** What the summary cost. */
  usage: Usage
}

export const memoryChecks: OptionChecks<MemoryOptions> = {
  compactAt: mustBeAtLeast(1),
  keepResults: mustBeAtLeast(0),
  // Checked where it becomes a model.
  model: anything,
}

/** The options with every default filled in. */
export interface MemoryConfig {
  compactAt: number
  keepResults: number
  /** Writes the summaries. */
  model: Model
  /** Whether that is the agent's model. */
  ownModel: boolean
  /** Tokens the summariser can read. */
  summariserWindow: number
}

/** What memory must know from one request to the next: JSON, kept with the state of the conversation. */
export interface MemoryState {
  /** Summaries that failed, in a row. */
  failures: number
  /** Compactions for which none is tried. */
  skips: number
  /** What the provider counted for the last request, and what had been estimated for it. */
  measured?: { tokens: number; estimate: number }
  /** Below what a provider refused, though it was within the limit. */
  ceiling?: number
}

export const initialMemory: MemoryState = Object.freeze({ failures: 0, skips: 0 })

export interface MemoryServices {
  memory: MemoryConfig
  /** A live view of the conversation: what is told is folded into it at once. */
  messages: readonly Message[]
  request: Pick<ModelRequest, "system" | "providerOptions">
  systemTokens: number
  /** Where texts are kept, and what is live. */
  kept: Pick<Runtime, "keep" | "names" | "retrieve">
  /** What the model knows such a place as. */
  keptIn: "variable" | "artifact"
  /** Names that must not be given to what is kept. */
  taken: ReadonlySet<string>
  hooks: readonly CompactHooks[]
  /** Counts what a model call has used, at once. */
  spend(usage: Usage): void
  signal: AbortSignal
}

/** What became of a conversation that was full. */
export interface Compaction {
  state: MemoryState
  /** Whether anything is shorter than before. */
  changed: boolean
}

export function resolveMemory(
  options: MemoryOptions = {},
  agent: { model: Model; contextWindow: number; maxOutputTokens?: number | undefined },
): MemoryConfig {
  checkOptions("memory", options, memoryChecks)
  const { compactAt = defaultCompactAt(agent.contextWindow, agent.maxOutputTokens), keepResults = 6 } = options
  const model = options.model === undefined ? agent.model : toModel(options.model)
  const ownModel = model === agent.model
  const summariserWindow = model.contextWindow ?? (ownModel ? agent.contextWindow : 128_000)
  return { compactAt, keepResults, model, ownModel, summariserWindow }
}

/** An estimate of the tokens of the next request, made from what is new since the last. */
export function estimateRequest({ systemTokens, messages }: MemoryServices): number {
  return systemTokens + estimateConversation(messages)
}

/** Whether the conversation must be made shorter before it is sent again. What the provider counted for the last request
 *  counts for more than an estimate. */
export function isFull(state: MemoryState, services: MemoryServices): boolean {
  return requestSize(state, estimateRequest(services)) > compactionLimit(state, services.memory)
}

/** By what the model's wish is known among what tools remember. */
export const compactionRequestKey = "karst:compact"

/** Whether the model asked for the conversation to be made shorter; the wish is granted once. */
export function takeCompactionRequest(remembered: { [key: string]: Json }): boolean {
  const asked = remembered[compactionRequestKey] === true
  if (asked) remembered[compactionRequestKey] = false
  return asked
}

/** Makes a conversation shorter and tells how, as `memory-compacted` events from which the same messages are folded
 *  again. Never throws: what fails is told as a warning, and the conversation is then as it was. */
export async function compact(
  state: MemoryState,
  services: MemoryServices,
  emit: Emit,
  reason: FullConversation["reason"] = "limit",
): Promise<Compaction> {
  const refused = reason === "overflow"
  const asked = reason === "asked"
  const tokens = requestSize(state, estimateRequest(services))
  const known = refused ? withLowerCeiling(state, tokens) : state
  // Who asks for it wants less than there is, however little that is.
  const limit = Math.min(compactionLimit(known, services.memory), asked ? tokens / 2 : Infinity)
  const job = createCompactionJob(known, services, emit, limit)
  try {
    await runBeforeCompact(job, { messages: services.messages.slice(), tokens, limit, reason })
    await clearResults(job, { newest: refused ? 1 : services.memory.keepResults })
    if (refused || !hasRoom(job)) {
      await replaceOlderMessages(job, refused ? 1 / 4 : 1 / 2)
      // The newest result alone can be too long; the model then sees how it begins.
      if (!asked && job.tokens() > job.limit) await clearResults(job, { newest: 0, head: 400 })
    }
  } catch (error) {
    if (!isAbortError(error) && !services.signal.aborted) {
      const message = `The conversation could not be made shorter: ${errorData(error).message}`
      emit({ type: "warning-raised", code: "memory-failed", message })
    }
  }
  return { state: job.state, changed: job.changed }
}

/** The state after a request that the provider counted. */
export function withMeasurement(state: MemoryState, tokens: number | undefined, estimate: number): MemoryState {
  return tokens === undefined ? state : { ...state, measured: { tokens, estimate } }
}

// Clearing that just about suffices would be needed again at the next step, and break the prompt cache each time.
function hasRoom(job: CompactionJob): boolean {
  return job.tokens() <= job.limit * 0.9
}

function compactionLimit({ ceiling = Infinity }: MemoryState, { compactAt }: MemoryConfig): number {
  return Math.min(ceiling, compactAt)
}
