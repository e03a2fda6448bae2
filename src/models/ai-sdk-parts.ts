import type { Json } from "../core/json.ts"
import type { Usage } from "../core/usage.ts"
import { markOrigin } from "./ai-sdk-prompt.ts"
import type { AiSdkFinish, AiSdkPart, AiSdkUsage, ProviderOptions } from "./ai-sdk-types.ts"
import type { FinishReason, ModelPart } from "./model.ts"

/** Reads text, reasoning and calls; remembers what a provider says about a reasoning block until the block ends. */
export function createPartConverter(id: string): (part: AiSdkPart) => ModelPart | undefined {
  const blocks = new Map<string, ProviderOptions>()
  return (part) => {
    switch (part.type) {
      case "text-delta":
        return part.delta ? { type: "text", text: part.delta } : undefined
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        const known = mergeOptions(blocks.get(part.id), part.providerMetadata)
        blocks.set(part.id, known)
        if (part.type === "reasoning-delta" && part.delta) return { type: "reasoning", text: part.delta }
        if (part.type !== "reasoning-end") return undefined
        blocks.delete(part.id)
        if (Object.keys(known).length === 0) return undefined
        return { type: "reasoning", text: "", provider: markOrigin(known, id) }
      }
      case "tool-call": {
        if (part.providerExecuted) return undefined
        const call = {
          type: "tool-call",
          id: part.toolCallId,
          name: part.toolName,
          input: parseInput(part.input),
        } as const
        return part.providerMetadata ? { ...call, provider: markOrigin(part.providerMetadata, id) } : call
      }
    }
  }
}

function parseInput(input: string): Json {
  if (input.trim() === "") return {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

const finishReasons: ReadonlySet<string> = new Set<FinishReason>([
  "stop",
  "length",
  "tool-calls",
  "content-filter",
  "error",
])

export function toFinishReason({ unified }: AiSdkFinish): FinishReason {
  return finishReasons.has(unified) ? (unified as FinishReason) : "other"
}

/** Providers close a stream that broke off with a finish of their own making: no reason from the service, no usage. */
export function endedEarly({ unified, raw }: AiSdkFinish, usage: Usage): boolean {
  if (unified === "interrupted") return true
  return (unified === "other" || unified === "error") && raw === undefined && usage.output === undefined
}

/** What a provider reported. Its package puts 0 where the service reported nothing. No request has an input of 0 tokens,
 *  and no answer that said something (`hasSpoken`) an output of 0: such a count is unknown. */
export function toUsage(usage: AiSdkUsage | undefined, hasSpoken: boolean): Usage {
  const { inputTokens, outputTokens } = usage ?? {}
  const counts = {
    ...(inputTokens?.total !== 0 && {
      input: inputTokens?.total,
      cacheRead: inputTokens?.cacheRead,
      cacheWrite: inputTokens?.cacheWrite,
    }),
    ...(!(hasSpoken && outputTokens?.total === 0) && {
      output: outputTokens?.total,
      reasoning: outputTokens?.reasoning,
    }),
  }
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isFinite(count)))
  return { ...known, complete: "input" in known && "output" in known }
}

/** Later ones win, key by key within each provider. */
export function mergeOptions(...all: (ProviderOptions | undefined)[]): ProviderOptions {
  const merged: ProviderOptions = {}
  for (const options of all) {
    for (const [provider, values] of Object.entries(options ?? {})) {
      merged[provider] = { ...merged[provider], ...values }
    }
  }
  return merged
}
