// Converts stream parts, finish reasons and usage of the AI SDK to ours.
import type { Json } from "../core/json.ts"
import type { Usage } from "../core/usage.ts"
import { markOrigin } from "./ai-sdk-prompt.ts"
import type { AiSdkFinish, AiSdkPart, AiSdkUsage, ProviderOptions } from "./ai-sdk-types.ts"
import type { FinishReason, ModelPart } from "./model.ts"

/** Converts text, reasoning and tool calls. Collects a provider's metadata about a reasoning block until the block
 *  ends. */
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

/** Returns true if the stream broke off. Providers then add a finish themselves: without a reason of the service,
 *  and without usage. */
export function endedEarly({ unified, raw }: AiSdkFinish, usage: Usage): boolean {
  if (unified === "interrupted") return true
  return (unified === "other" || unified === "error") && raw === undefined && usage.output === undefined
}

/** Converts the reported usage. Provider packages put 0 if the service reported nothing. No request has 0 input
 *  tokens, and no answer with content (`hasContent`) 0 output tokens, so such counts are unknown. */
export function toUsage(usage: AiSdkUsage | undefined, hasContent: boolean): Usage {
  const { inputTokens, outputTokens } = usage ?? {}
  const counts = {
    ...(inputTokens?.total !== 0 && {
      input: inputTokens?.total,
      cacheRead: inputTokens?.cacheRead,
      cacheWrite: inputTokens?.cacheWrite,
    }),
    ...(!(hasContent && outputTokens?.total === 0) && {
      output: outputTokens?.total,
      reasoning: outputTokens?.reasoning,
    }),
  }
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isFinite(count)))
  return { ...known, complete: "input" in known && "output" in known }
}

/** Merges options by key within each provider; later ones win. */
export function mergeOptions(...all: (ProviderOptions | undefined)[]): ProviderOptions {
  const merged: ProviderOptions = {}
  for (const options of all) {
    for (const [provider, values] of Object.entries(options ?? {})) {
      merged[provider] = { ...merged[provider], ...values }
    }
  }
  return merged
}
