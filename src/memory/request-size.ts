import type { MemoryState } from "../memory.ts"

// Of 128,000 tokens 29,000 are left for the answer and for what estimates miss.
const fullShare = 99 / 128

/** Where a window counts as full: 77 % of it, less where answers may be longer than the rest. Never shrinks when the
 *  window grows. */
export function defaultCompactAt(window: number, maxOutputTokens = 0): number {
  return Math.max(Math.floor(window / 4), Math.min(Math.floor(window * fullShare), window - maxOutputTokens))
}

/** The tokens of a request with this estimate. What was counted is believed: growth is added to it, and what was taken
 *  out is taken off in proportion, because estimates are too high by a factor more often than by an amount. */
export function requestSize({ measured }: MemoryState, estimate: number): number {
  if (!measured) return estimate
  const { tokens, estimate: then } = measured
  return estimate >= then ? tokens + estimate - then : tokens * (estimate / then)
}

/** The estimate at which a request has this many tokens. */
export function estimateForTokens({ measured }: MemoryState, tokens: number): number {
  if (!measured) return tokens
  const { tokens: counted, estimate } = measured
  return tokens >= counted ? estimate + tokens - counted : estimate * (tokens / counted)
}

/** A provider that refuses a request has a smaller window than we thought, or counts more than we do. */
export function withLowerCeiling(state: MemoryState, refused: number): MemoryState {
  return { ...state, ceiling: Math.min(state.ceiling ?? Infinity, Math.floor(refused * fullShare)) }
}
