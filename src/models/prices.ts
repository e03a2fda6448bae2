// The built-in list of model prices and context windows.
import type { Price } from "../core/usage.ts"

/** What is known about a model without asking a service. */
export interface ModelFacts {
  price: Price
  /** The number of tokens that the model can read. */
  contextWindow: number
}

/** Returns price (US dollars per million tokens) and context window as published by 2026-11-15: standard service,
 *  the lowest tier if long prompts cost more, including launch offers. `price` on a model overrides the list. An
 *  unknown model has no price rather than a guessed one. */
export function modelFacts(id: string): ModelFacts | undefined {
  const path = id.toLowerCase().split("/")
  // These services pass models on at the makers' prices, as `openrouter/openai/gpt-5.2`.
  if (path.length > 2 && (path[0] === "openrouter" || path[0] === "gateway")) path.shift()
  const owner = owners[path[0] ?? ""] ?? path[0] ?? ""
  const name = withDashes(path.at(-1) ?? "")
  const families = priceList[owner] ?? {}
  const family = Object.keys(families)
    .filter((key) => name.startsWith(withDashes(key)) && sameModelSuffix.test(name.slice(key.length)))
    .sort((a, b) => b.length - a.length)[0]
  const row = family === undefined ? undefined : families[family]
  if (!row) return undefined
  const [contextWindow, input, output, cacheRead, cacheWrite] = row
  const price: Price = { input, output }
  if (cacheRead !== undefined) price.cacheRead = cacheRead
  if (cacheWrite !== undefined) price.cacheWrite = cacheWrite
  return { price, contextWindow }
}

/** Returns every model of the list with its facts, by its id. */
export function listedModels(): ({ id: string } & ModelFacts)[] {
  return Object.entries(priceList).flatMap(([owner, families]) =>
    Object.keys(families).flatMap((name) => {
      const id = `${owner}/${name}`
      const facts = modelFacts(id)
      return facts ? [{ id, ...facts }] : []
    }),
  )
}

// Suffixes that name the same model: dates and aliases. Any other suffix may be another model.
const sameModelSuffix = /^(?:-(?:latest|chat-latest|preview|codex|\d{4,8}|\d{4}-\d\d-\d\d|\d\d-\d\d(?:\d\d)?))*$/

// The same version is written as 4.5 and 4-5.
function withDashes(name: string): string {
  return name.replaceAll(".", "-")
}

const owners: Record<string, string> = {
  moonshotai: "moonshot",
  mistralai: "mistral",
  "x-ai": "xai",
  "google-vertex": "google",
}

type PriceRow = [contextWindow: number, input: number, output: number, cacheRead?: number, cacheWrite?: number]

const priceList: Record<string, Record<string, PriceRow>> = {
  openai: {
    "gpt-6-astra": [922_000, 10, 50, 1, 12.5],
    "gpt-6.1-sol": [922_000, 2, 10, 0.1],
    "gpt-6.1-terra": [922_000, 1, 5, 0.05, 1.25],
    "gpt-6-sol": [922_000, 2, 10, 0.2, 2.5],
    "gpt-6-luna": [922_000, 0.1, 0.5, 0.01, 0.125],
    "gpt-5.6-terra": [922_000, 2, 12, 0.2],
    "gpt-5.6-luna": [922_000, 0.2, 1.2, 0.02],
    "gpt-5.5": [922_000, 5, 30, 0.5],
    "gpt-5.4": [272_000, 2.5, 15, 0.25],
    "gpt-5.4-mini": [272_000, 0.75, 4.5, 0.075],
    "gpt-5.2": [272_000, 1.75, 14, 0.175],
    "gpt-5.1": [272_000, 1.25, 10, 0.125],
    "gpt-5": [272_000, 1.25, 10, 0.125],
    "gpt-5-mini": [272_000, 0.25, 2, 0.025],
    "gpt-5-nano": [272_000, 0.05, 0.4, 0.005],
    "gpt-4.1": [1_047_576, 2, 8, 0.5],
    "gpt-4.1-mini": [1_047_576, 0.4, 1.6, 0.1],
    "gpt-4.1-nano": [1_047_576, 0.1, 0.4, 0.025],
    "gpt-4o": [128_000, 2.5, 10, 1.25],
    "gpt-4o-mini": [128_000, 0.15, 0.6, 0.075],
    o3: [200_000, 2, 8, 0.5],
    "o4-mini": [200_000, 1.1, 4.4, 0.275],
  },
  anthropic: {
    "claude-fable-5": [1_000_000, 10, 50, 1, 12.5],
    "claude-fable-5-1": [1_000_000, 10, 50, 1, 12.5],
    "claude-opus-5-5": [1_000_000, 4, 20, 0.2, 5],
    "claude-opus-5": [1_000_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-8": [1_000_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-7": [1_000_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-6": [200_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-5": [200_000, 5, 25, 0.5, 6.25],
    "claude-opus-4-1": [200_000, 15, 75, 1.5, 18.75],
    "claude-sonnet-5-5": [1_000_000, 2, 10, 0.1, 2.5],
    "claude-sonnet-5": [1_000_000, 2, 10, 0.2, 2.5],
    "claude-sonnet-4-6": [200_000, 3, 15, 0.3, 3.75],
    "claude-sonnet-4-5": [200_000, 3, 15, 0.3, 3.75],
    "claude-haiku-5-5": [1_000_000, 0.1, 0.5, 0.01, 0.125],
    "claude-haiku-4-5": [200_000, 1, 5, 0.1, 1.25],
  },
  google: {
    "gemini-4-argon": [1_048_576, 2, 10, 0.1],
    "gemini-3.8-flash": [1_048_576, 0.75, 3.75, 0.075],
    "gemini-3.5-flash": [1_048_576, 1.5, 9, 0.15],
    "gemini-3.1-pro": [1_048_576, 2, 12, 0.2],
    "gemini-3.1-flash-lite": [1_048_576, 0.25, 1.5, 0.025],
    "gemini-3-pro": [1_048_576, 2, 12, 0.2],
    "gemini-3-flash": [1_048_576, 0.5, 3, 0.05],
    "gemini-2.5-pro": [1_048_576, 1.25, 10, 0.125],
    "gemini-2.5-flash": [1_048_576, 0.3, 2.5, 0.03],
    "gemini-2.5-flash-lite": [1_048_576, 0.1, 0.4, 0.01],
  },
  // The peak rate; off-peak costs half.
  deepseek: {
    "deepseek-v4-pro": [1_000_000, 1.32, 3.96, 0.044],
    "deepseek-v4-flash": [1_000_000, 0.44, 1.32, 0.014],
  },
  xai: {
    "grok-4.7": [500_000, 2, 6, 0.5],
    "grok-4": [256_000, 3, 15, 0.75],
    "grok-4-fast": [2_000_000, 0.2, 0.5, 0.05],
    "grok-code-fast-1": [256_000, 0.2, 1.5, 0.02],
  },
  mistral: {
    "mistral-large-2512": [256_000, 0.5, 1.5],
    "mistral-medium-2508": [128_000, 0.4, 2],
    "codestral-2508": [256_000, 0.3, 0.9],
  },
  moonshot: {
    "kimi-k3": [1_048_576, 3, 15, 0.3],
    "kimi-k2-thinking": [262_144, 0.6, 2.5, 0.15],
  },
}
