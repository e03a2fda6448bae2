// Memory: shortens a conversation that grows too long for the model.
import {
  anything,
  checkOptions,
  mustBeIntegerFrom,
  mustBeLimit,
  type OptionChecks,
} from "./core/checks/check-options.ts"
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

/** How a long conversation is shortened. First, old results become markers that name a variable with the whole text. If
 *  that is not enough, older messages become a summary; without a summary they are removed. Their whole text is stored
 *  in a variable either way, so the model can still read it. */
export interface MemoryOptions {
  /** The tokens at which a conversation is shortened; `Infinity`: when the provider refuses it. Default: 77 % of the
   *  window. */
  compactAtTokens?: number | undefined
  /** How many of the newest results stay whole when old ones are cleared. Default 6. */
  keepResults?: number | undefined
  /** Writes the summaries; a smaller model often suffices. Default: the agent's model. */
  model?: ModelSource | undefined
}

/** Hooks that observe and change how a conversation is shortened. Messages that a hook returns are emitted and stored
 *  like any compaction, but not accepted if a call loses its result. A hook that throws causes a warning: after
 *  `beforeCompact` nothing is compacted this time; after the others the compaction continues. */
export interface CompactHooks {
  /** Called before anything is removed. May return messages to start with instead of the current ones. */
  beforeCompact?(full: FullConversation): MaybeMessages | Promise<MaybeMessages>
  /** Called after each step, before its event. May return other replacement messages. */
  afterCompact?(compacted: Compacted): MaybeMessages | Promise<MaybeMessages>
  /** Called after the event of each step. */
  onCompact?(compacted: Compacted): unknown
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common one.
export type MaybeMessages = void | undefined | Message[]

export interface FullConversation {
  messages: readonly Message[]
  /** The size of the next request, including the system prompt. */
  tokens: number
  /** The size that it may have. */
  maxTokens: number
  /** It reached the limit, the provider refused it, or the model asked for a compaction. */
  reason: "limit" | "overflow" | "asked"
}

export interface Compacted {
  /** 1: old results were cleared. 2: older messages were summarised. 3: they were removed without a summary. */
  tier: 1 | 2 | 3
  replaced: readonly Message[]
  messages: readonly Message[]
  usage: Usage
}

export const memoryChecks: OptionChecks<MemoryOptions> = {
  compactAtTokens: mustBeLimit(1),
  keepResults: mustBeIntegerFrom(0),
  // Checked by `toModel`.
  model: anything,
}

export interface MemoryConfig {
  compactAtTokens: number
  keepResults: number
  /** Writes the summaries. */
  model: Model
  ownModel: boolean
  /** The tokens that the summarising model can read. */
  summariserWindow: number
}

/** What memory must know from one request to the next. JSON, stored with the conversation. */
export interface MemoryState {
  /** How many summaries failed in a row. */
  failures: number
  /** How many of the next compactions are done without a summary. */
  skips: number
  /** The tokens that the provider counted for the last request, and the estimate for the same request. */
  measured?: { tokens: number; estimate: number }
  /** A limit below the size of a request that the provider refused. */
  ceiling?: number
}

export const initialMemory: MemoryState = Object.freeze({ failures: 0, skips: 0 })

export interface MemoryServices {
  memory: MemoryConfig
  /** A live view of the conversation: each event is folded into it at once. */
  messages: readonly Message[]
  request: Pick<ModelRequest, "system" | "providerOptions">
  systemTokens: number
  /** Where long texts are stored, and which names exist. */
  valueStore: Pick<Runtime, "keep" | "names" | "retrieve">
  /** What the model calls that place. */
  resultStorage: "variable" | "artifact"
  /** Names that stored values must not get. */
  reservedNames: ReadonlySet<string>
  hooks: readonly CompactHooks[]
  /** Counts the usage of a model call at once. */
  spend(usage: Usage): void
  signal: AbortSignal
}

export interface Compaction {
  state: MemoryState
  /** Whether the conversation became shorter. */
  changed: boolean
}

export function resolveMemory(
  options: MemoryOptions = {},
  agent: { model: Model; contextWindow: number; maxOutputTokens?: number | undefined },
): MemoryConfig {
  checkOptions("memory", options, memoryChecks)
  const { compactAtTokens = defaultCompactAt(agent.contextWindow, agent.maxOutputTokens), keepResults = 6 } = options
  const model = options.model === undefined ? agent.model : toModel(options.model)
  const ownModel = model === agent.model
  const summariserWindow = model.contextWindow ?? (ownModel ? agent.contextWindow : 128_000)
  return { compactAtTokens, keepResults, model, ownModel, summariserWindow }
}

export function estimateRequest({ systemTokens, messages }: MemoryServices): number {
  return systemTokens + estimateConversation(messages)
}

/** Returns true if the conversation must be shortened. A count from the provider has priority over estimates. */
export function isFull(state: MemoryState, services: MemoryServices): boolean {
  return requestSize(state, estimateRequest(services)) > compactionLimit(state, services.memory)
}

/** The key in the state of the tools under which the model's request for a compaction is stored. */
export const compactionRequestKey = "karst:compact"

/** Returns true if the model asked for a compaction, and removes that request. */
export function takeCompactionRequest(toolState: { [key: string]: Json }): boolean {
  const isRequested = toolState[compactionRequestKey] === true
  if (isRequested) toolState[compactionRequestKey] = false
  return isRequested
}

/** Shortens a conversation and emits `memory-compacted` events; folding them gives the same messages. Never throws: a
 *  failure becomes a warning, and the conversation stays as it is. */
export async function compact(
  state: MemoryState,
  services: MemoryServices,
  emit: Emit,
  reason: FullConversation["reason"] = "limit",
): Promise<Compaction> {
  const isRefused = reason === "overflow"
  const isRequested = reason === "asked"
  const tokens = requestSize(state, estimateRequest(services))
  const known = isRefused ? withLowerCeiling(state, tokens) : state
  // A requested compaction must make the conversation shorter, even if it is short.
  const limit = Math.min(compactionLimit(known, services.memory), isRequested ? tokens / 2 : Infinity)
  const job = createCompactionJob(known, services, emit, limit)
  try {
    await runBeforeCompact(job, { messages: services.messages.slice(), tokens, maxTokens: limit, reason })
    await clearResults(job, { wholeResults: isRefused ? 1 : services.memory.keepResults })
    if (isRefused || !hasRoom(job)) {
      await replaceOlderMessages(job, isRefused ? 1 / 4 : 1 / 2)
      // The newest result alone can be too long; then the model sees only its beginning.
      if (!isRequested && job.tokens() > job.limit) await clearResults(job, { wholeResults: 0, headChars: 400 })
    }
  } catch (error) {
    if (!isAbortError(error) && !services.signal.aborted) {
      const message = `The conversation could not be made shorter: ${errorData(error).message}`
      emit({ type: "warning-raised", code: "memory-failed", message })
    }
  }
  return { state: job.state, changed: job.changed }
}

/** Returns the state after a request that the provider counted. */
export function withMeasurement(state: MemoryState, tokens: number | undefined, estimate: number): MemoryState {
  return tokens === undefined ? state : { ...state, measured: { tokens, estimate } }
}

// Without a margin, the next request would need a compaction again, and each one breaks the prompt cache.
function hasRoom(job: CompactionJob): boolean {
  return job.tokens() <= job.limit * 0.9
}

function compactionLimit({ ceiling = Infinity }: MemoryState, { compactAtTokens }: MemoryConfig): number {
  return Math.min(ceiling, compactAtTokens)
}
