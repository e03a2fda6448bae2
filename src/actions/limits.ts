import type { Limits } from "../core/agent.ts"
import type { StopReason } from "../core/event.ts"
import { totalTokens, type Usage } from "../core/usage.ts"
import type { Call, Pauses } from "../runtime/runtime.ts"
import { callName } from "./preview-call.ts"

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

/** The calls of a run so far: all of them, and of each name that is limited. JSON, as part of the run's state. */
export interface CallCounts {
  total: number
  of: { [name: string]: number }
}

export function noCalls(): CallCounts {
  // Without a prototype, because a binding may be called `__proto__`.
  return { total: 0, of: Object.create(null) }
}

/** What a run may spend on calls. */
export interface CallBudget extends Pick<Limits, "calls" | "callsOf"> {
  counts: CallCounts
}

/** What a cell sees when a run has made as many calls as it may. */
export class CallLimitReached extends Error {
  override name = "CallLimitReached"
}

/** Counts a call, whatever becomes of it, in every budget or in none: throws when one of them is spent. */
export function spendCall(call: Call, budgets: readonly CallBudget[]): void {
  for (const budget of budgets) {
    const { counts, calls = Infinity } = budget
    if (counts.total >= calls) throw new CallLimitReached(spent(call, `${calls} calls in all (limits.calls)`))
    const limit = limitOf(call, budget)
    if (limit && (counts.of[callName(call)] ?? 0) >= limit.most) {
      throw new CallLimitReached(spent(call, `${limit.most} calls of it (${limit.name})`))
    }
  }
  for (const budget of budgets) {
    budget.counts.total++
    if (!limitOf(call, budget)) continue
    const { of } = budget.counts
    of[callName(call)] = (of[callName(call)] ?? 0) + 1
  }
}

function limitOf(call: Call, { callsOf }: CallBudget): { most: number; name: string } | undefined {
  const ofRun = callsOf && Object.hasOwn(callsOf, callName(call)) ? callsOf[callName(call)] : undefined
  const { maxCalls } = call
  if (maxCalls === undefined) return ofRun === undefined ? undefined : { most: ofRun, name: "limits.callsOf" }
  return ofRun !== undefined && ofRun < maxCalls
    ? { most: ofRun, name: "limits.callsOf" }
    : { most: maxCalls, name: "maxCalls" }
}

function spent(call: Call, limit: string): string {
  return `${callName(call)} was not called: this run may make ${limit}, and has made them. Go on without it.`
}

/** Measures active time: what is spent waiting for a person does not count. */
export interface Stopwatch {
  activeMs(): number
  /** Active time left; undefined without a limit. */
  leftMs(): number | undefined
  /** Stops the clock while `work` is under way. */
  paused<T>(work: () => Promise<T>): Promise<T>
  /** Tells when it stops and goes on, so that other clocks do the same. */
  readonly pauses: Pauses
  /** Fires when active time reaches the limit. */
  readonly expired: AbortSignal
  stop(): void
}

export function stopwatch(limitMs = Infinity, now: () => number = Date.now, spentMs = 0): Stopwatch {
  const expiry = new AbortController()
  const listeners = new Set<(paused: boolean) => void>()
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
    pauses(listener) {
      listeners.add(listener)
      if (pauses > 0) listener(true)
      return () => listeners.delete(listener)
    },
    async paused(work) {
      if (pauses++ === 0) {
        spent += now() - since
        clearTimeout(timer)
        for (const listener of [...listeners]) listener(true)
      }
      try {
        return await work()
      } finally {
        if (--pauses === 0) {
          since = now()
          arm()
          for (const listener of [...listeners]) listener(false)
        }
      }
    },
    stop: () => clearTimeout(timer),
  }
}
