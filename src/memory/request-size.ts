// The size of requests, from what the provider counted and from estimates.
import type { MemoryState } from "../memory.ts"

// Leaves 29,000 of 128,000 tokens for the answer and for estimation errors.
const fullShare = 99 / 128

/** Where a window counts as full: at 77 %, or earlier if answers may be longer than the rest. Grows with the window. */
export function defaultCompactAt(window: number, maxOutputTokens = 0): number {
  return Math.max(Math.floor(window / 4), Math.min(Math.floor(window * fullShare), window - maxOutputTokens))
}

/** Returns the expected tokens of a request with this estimate, based on the last count: growth is added, removed
 *  messages are subtracted in proportion, because estimates are usually wrong by a factor and not by an amount. */
export function requestSize({ measured }: MemoryState, estimate: number): number {
  if (!measured) return estimate
  const { tokens, estimate: then } = measured
  return estimate >= then ? tokens + estimate - then : tokens * (estimate / then)
}

/** Returns the estimate of a request with this many tokens. */
export function estimateForTokens({ measured }: MemoryState, tokens: number): number {
  if (!measured) return tokens
  const { tokens: counted, estimate } = measured
  return tokens >= counted ? estimate + tokens - counted : estimate * (tokens / counted)
}

/** After a refused request: the provider's window is smaller than assumed, or it counts more tokens. */
export function withLowerCeiling(state: MemoryState, refused: number): MemoryState {
  return { ...state, ceiling: Math.min(state.ceiling ?? Infinity, Math.floor(refused * fullShare)) }
}
