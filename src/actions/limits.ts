import type { Limits } from "../core/agent.ts"
import type { StopReason } from "../core/event.ts"
import { totalTokens, type Usage } from "../core/usage.ts"

/** The limit a run has reached, if any. Checked between cycles: the cycle that crosses one completes. */
export function reachedLimit(
  spent: { cycle: number; usage: Usage; activeMs: number },
  limits: Limits,
): StopReason | undefined {
  const { cycles = 10, tokens = Infinity, costUsd = Infinity, timeMs = Infinity } = limits
  if (spent.cycle >= cycles) return "cycles"
  if ((totalTokens(spent.usage) ?? 0) >= tokens) return "tokens"
  if ((spent.usage.costUsd ?? 0) >= costUsd) return "cost"
  if (spent.activeMs >= timeMs) return "time"
  return undefined
}

/** Measures active time: what is spent waiting for a person does not count. */
export interface Stopwatch {
  activeMs(): number
  /** Active time left; undefined without a limit. */
  leftMs(): number | undefined
  /** Stops the clock while `work` is under way. */
  paused<T>(work: () => Promise<T>): Promise<T>
  /** Fires when active time reaches the limit. */
  readonly expired: AbortSignal
  stop(): void
}

export function stopwatch(limitMs = Infinity, now: () => number = Date.now, spentMs = 0): Stopwatch {
  const expiry = new AbortController()
  let spent = spentMs
  let since = now()
  let pauses = 0
  let timer: NodeJS.Timeout | undefined

  const activeMs = () => (pauses > 0 ? spent : spent + now() - since)

  function arm(): void {
    // Timers hold at most 2^31 - 1 ms; a limit beyond that is as good as none.
    const left = limitMs - activeMs()
    if (left < 2 ** 31) timer = setTimeout(() => expiry.abort(), Math.max(0, left))
    timer?.unref()
  }

  arm()
  return {
    activeMs,
    leftMs: () => (limitMs === Infinity ? undefined : Math.max(1, limitMs - activeMs())),
    expired: expiry.signal,
    async paused(work) {
      if (pauses++ === 0) {
        spent += now() - since
        clearTimeout(timer)
      }
      try {
        return await work()
      } finally {
        if (--pauses === 0) {
          since = now()
          arm()
        }
      }
    },
    stop: () => clearTimeout(timer),
  }
}
