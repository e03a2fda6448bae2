/** Tokens and money of one model call, or of many. A field is absent where nothing is known about it: unknown is never 0. */
export interface Usage {
  /** All input tokens, those read from and written to a cache included. */
  input?: number
  /** All output tokens, reasoning included. */
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
  /** US dollars, where the price is known. */
  costUsd?: number
  /** False where input or output of some call is unknown or only estimated. */
  complete: boolean
}

/** US dollars per million tokens. */
export interface Price {
  input: number
  output: number
  cacheRead?: number
  cacheWrite?: number
}

export const noUsage: Usage = Object.freeze({ complete: true })

const counts = ["input", "output", "cacheRead", "cacheWrite", "reasoning", "costUsd"] as const

export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { complete: a.complete && b.complete }
  for (const key of counts) {
    const value = a[key] === undefined ? b[key] : b[key] === undefined ? a[key] : a[key] + b[key]
    if (value !== undefined) sum[key] = value
  }
  return sum
}

/** Input and output together; undefined when neither is known. */
export function totalTokens(usage: Usage): number | undefined {
  if (usage.input === undefined && usage.output === undefined) return undefined
  return (usage.input ?? 0) + (usage.output ?? 0)
}

/** The same usage with its cost. Cached tokens are priced as plain input where the price list has no rate for them. */
export function priced(usage: Usage, price: Price | undefined): Usage {
  if (!price || usage.costUsd !== undefined || totalTokens(usage) === undefined) return usage
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const dollars =
    (input - cacheRead - cacheWrite) * price.input +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) +
    output * price.output
  return { ...usage, costUsd: dollars / 1e6 }
}

/** A guess at the tokens of a text: for Chinese, Japanese and Korean never below what real tokenizers count, for prose and
 *  code a little above. */
export function estimateTokens(text: string): number {
  let tokens = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    tokens += unit < 0x80 ? (unit > 0x2f && unit < 0x3a ? 0.5 : 0.3) : ratePerUnit(unit)
  }
  return Math.ceil(tokens)
}

// Tokens a UTF-16 unit of running text, by script, at least as many as byte-pair tokenizers of 100,000 entries make of it.
function ratePerUnit(unit: number): number {
  if (unit < 0x250) return 0.8
  if (unit < 0x900) return 1
  if (unit < 0x3040) return 1.75
  if (unit < 0x3130) return 1.25
  // Compatibility letters and rare ideographs fall apart into bytes; common ideographs take one or two tokens.
  if (unit < 0x4e00) return 3
  if (unit < 0xac00) return 2
  return unit < 0xd800 ? 1.75 : 2
}
