// Token usage and cost: adding, pricing and estimating.

/** Tokens and cost of one or more model calls. A field is absent if it is unknown: unknown is never 0. */
export interface Usage {
  /** All input tokens, including those read from and written to a cache. */
  input?: number
  /** All output tokens, including reasoning. */
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
  /** US dollars, if the price is known. */
  costUsd?: number
  /** False if input or output of some call is unknown or estimated, or if `costUsd` covers only some calls. */
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

/** Returns the sum. A field that one of them lacks is that of the other; complete only if both are. */
export function addUsage(a: Usage, b: Usage): Usage {
  // Called several times per step, mostly with nothing to add.
  if (a === noUsage) return b
  if (b === noUsage) return a
  const sum: Usage = { complete: a.complete && b.complete && !(hasUnpricedTokens(a, b) || hasUnpricedTokens(b, a)) }
  for (const key of counts) {
    const value = a[key] === undefined ? b[key] : b[key] === undefined ? a[key] : a[key] + b[key]
    if (value !== undefined) sum[key] = value
  }
  return sum
}

/** Returns the usage between two totals. */
export function subtractUsage(total: Usage, before: Usage): Usage {
  const rest: Usage = { complete: total.complete && before.complete }
  for (const key of counts) {
    const value = total[key]
    if (value !== undefined) rest[key] = Math.max(0, value - (before[key] ?? 0))
  }
  return rest
}

// True if the sum of both would have a cost that is too low, because `other` has tokens but no price.
function hasUnpricedTokens(priced: Usage, other: Usage): boolean {
  return priced.costUsd !== undefined && other.costUsd === undefined && (totalTokens(other) ?? 0) > 0
}

/** Corrects the counts of a coding CLI. CLIs report 0 if the service reported nothing. No request has 0 input
 *  tokens, so such counts are unknown. */
export function cliReportedUsage(usage: Usage): Usage {
  if (usage.input !== 0) return usage
  return usage.costUsd ? { costUsd: usage.costUsd, complete: false } : { complete: false }
}

/** Input plus output; undefined if neither is known. */
export function totalTokens(usage: Usage): number | undefined {
  if (usage.input === undefined && usage.output === undefined) return undefined
  return (usage.input ?? 0) + (usage.output ?? 0)
}

/** Adds the cost. Cached tokens cost as much as plain input if the price list has no rate for them. */
export function withCost(usage: Usage, price: Price | undefined): Usage {
  if (!price || usage.costUsd !== undefined || totalTokens(usage) === undefined) return usage
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const dollars =
    (input - cacheRead - cacheWrite) * price.input +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) +
    output * price.output
  return { ...usage, costUsd: dollars / 1e6 }
}

/** Estimates the tokens of a text: about as many as byte-pair tokenizers count for numbers, tables, ids and encoded
 *  bytes, a quarter more for prose and code, and never fewer for Chinese, Japanese and Korean. */
export function estimateTokens(text: string): number {
  let tokens = 0
  let before: number = line
  let run = 0
  // Letters between digits are an id, a hash or base64, which tokenizers do not know as words.
  let noisy = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const now = unit < 0x80 ? (kinds[unit] ?? mark) : foreign
    run = now === before ? run + 1 : 1
    switch (now) {
      case lower:
      case upper:
        if (before === digit) noisy = true
        tokens += tokensPerLetter(now, before, run, noisy)
        break
      case digit:
        // Three digits are one token; a space before them is another.
        if (run % 3 === 1) tokens += run === 1 && before === space ? 2 : 1
        break
      case mark:
        tokens += run === 1 ? 1 : 0.55
        break
      case foreign:
        tokens += tokensPerUnit(unit)
        break
      default:
        // A single space belongs to the next word, and a line end to the punctuation before it.
        noisy = false
        if (now === space ? run === 2 : run === 1 && before !== mark) tokens += 1
    }
    before = now
  }
  return Math.ceil(tokens)
}

// The kinds of characters. As properties of one object they would make the engine discard optimized code repeatedly.
const [mark, space, line, digit, lower, upper, foreign] = [0, 1, 2, 3, 4, 5, 6] as const

const kinds = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  if (/[ \t]/.test(character)) return space
  if (/[\r\n]/.test(character)) return line
  if (/\d/.test(character)) return digit
  if (/[a-z]/.test(character)) return lower
  return /[A-Z]/.test(character) ? upper : mark
})

// A word is one token, a long word several; each hump of camelCase is one. Punctuation before a word belongs to it.
function tokensPerLetter(now: number, before: number, run: number, noisy: boolean): number {
  const goesOn = before === now || (before === upper && now === lower)
  if (!goesOn) return before === mark ? 0.35 : 1
  if (noisy) return 0.6
  if (now === upper) return 0.3
  return run > 6 ? 0.35 : 0.1
}

// Tokens per UTF-16 unit by script; at least as many as byte-pair tokenizers with 100,000 entries produce.
function tokensPerUnit(unit: number): number {
  if (unit < 0x250) return 0.8
  if (unit < 0x900) return 1
  if (unit < 0x3040) return 1.75
  if (unit < 0x3130) return 1.25
  // Compatibility letters and rare ideographs are split into bytes; common ideographs are one or two tokens.
  if (unit < 0x4e00) return 3
  if (unit < 0xac00) return 2
  return unit < 0xd800 ? 1.75 : 2
}
