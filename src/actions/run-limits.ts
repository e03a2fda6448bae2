// The limits of a run: cycles, tokens, cost and time, and how many calls it may make.
import type { Limits } from "../core/agent.ts"
import type { StopReason } from "../core/event.ts"
import { maxTimerMs, timerMs } from "../core/time-limit.ts"
import { totalTokens, type Usage } from "../core/usage.ts"
import type { PauseSignal, RuntimeCall } from "../runtime/runtime.ts"
import { callName } from "./preview-call.ts"

/** Returns the limit that a run has reached, if any. Checked between cycles: a cycle that crosses a limit completes. */
export function reachedLimit(
  spent: { cycle: number; usage: Usage; activeMs: number },
  limits: Limits,
): StopReason | undefined {
  const { cycles = 10, tokens = Infinity, uncachedTokens = Infinity, costUsd = Infinity, timeMs = Infinity } = limits
  const { usage } = spent
  if (spent.cycle >= cycles) return "cycles"
  if ((totalTokens(usage) ?? 0) >= tokens) return "tokens"
  if ((totalTokens(usage) ?? 0) - (usage.cacheRead ?? 0) >= uncachedTokens) return "uncached-tokens"
  if ((usage.costUsd ?? 0) >= costUsd) return "cost"
  if (spent.activeMs >= timeMs) return "time"
  if (limits.unknownUsage === "stop" && !usage.complete) return "unknown-usage"
  return undefined
}

/** The calls of a run so far, in total and for each limited name. JSON, because it is part of the stored run state. */
export interface CallCounts {
  total: number
  of: { [name: string]: number }
}

export function noCalls(): CallCounts {
  // No prototype, because a binding may be named `__proto__`.
  return { total: 0, of: Object.create(null) }
}

/** How many calls a run may make, and how many it has made. */
export interface CallBudget extends Pick<Limits, "calls" | "callsByName"> {
  counts: CallCounts
}

/** The error that a cell or the model sees when a call limit is reached. */
export class CallLimitReached extends Error {
  override name = "CallLimitReached"
}

/** Counts a call in every budget, whatever its outcome. Throws, and counts nothing, if a budget is used up. */
export function spendCall(call: RuntimeCall, budgets: readonly CallBudget[]): void {
  for (const budget of budgets) {
    const { counts, calls = Infinity } = budget
    if (counts.total >= calls)
      throw new CallLimitReached(limitReachedText(call, `${calls} calls in all (limits.calls)`))
    const limit = callLimitFor(call, budget)
    if (limit && (counts.of[callName(call)] ?? 0) >= limit.most) {
      throw new CallLimitReached(limitReachedText(call, `${limit.most} calls of it (${limit.name})`))
    }
  }
  addToCounts(call, budgets, 1)
}

/** The calls of one answer, counted before any of them is made. */
export interface Reservation {
  /** Returns why a call may not be made; undefined if it may. */
  findRefusal(id: string): CallLimitReached | undefined
  /** Uncounts a call that was not made. */
  release(id: string): void
}

/** Counts the calls of one answer at once, before any has an effect. If there are too many calls of one name, or in
 *  total, all of these are refused: half of what the model planned may be worse than nothing. */
export function reserveCalls(calls: readonly CountedCall[], budgets: readonly CallBudget[]): Reservation {
  if (!budgets.some(({ calls: most, callsByName }) => most !== undefined || callsByName) && !calls.some(hasLimit)) {
    return reserveUnlimited(calls, budgets)
  }
  const reserved = new Map<string, CountedCall>()
  const refused = new Map<string, CallLimitReached>()
  const byName = Map.groupBy(calls, callName)
  for (const [name, group] of byName) {
    const problem = groupProblem(name, group, budgets)
    for (const call of group) {
      if (problem) refused.set(call.id, problem)
      else reserved.set(call.id, call)
    }
  }
  const requested = reserved.size
  const least = Math.min(...budgets.map(({ counts, calls: most = Infinity }) => most - counts.total))
  if (requested > least) {
    for (const call of reserved.values()) {
      refused.set(
        call.id,
        new CallLimitReached(tooManyCallsText(call, requested, least, "calls in all (limits.calls)")),
      )
    }
    reserved.clear()
  }
  for (const call of reserved.values()) addToCounts(call, budgets, 1)
  return {
    findRefusal: (id) => refused.get(id),
    release(id) {
      const call = reserved.get(id)
      if (call && reserved.delete(id)) addToCounts(call, budgets, -1)
    },
  }
}

// The common case, fast because it runs in every cycle.
function reserveUnlimited(calls: readonly CountedCall[], budgets: readonly CallBudget[]): Reservation {
  const add = (by: number) => {
    for (const { counts } of budgets) counts.total += by
  }
  add(calls.length)
  return {
    findRefusal: () => undefined,
    release(id) {
      if (calls.some((call) => call.id === id)) add(-1)
    },
  }
}

function hasLimit({ maxCalls }: CountedCall): boolean {
  return maxCalls !== undefined
}

function groupProblem(
  name: string,
  group: readonly CountedCall[],
  budgets: readonly CallBudget[],
): CallLimitReached | undefined {
  const [first] = group
  if (!first) return undefined
  for (const budget of budgets) {
    const limit = callLimitFor(first, budget)
    const left = limit ? limit.most - (budget.counts.of[name] ?? 0) : Infinity
    if (limit && group.length > left) {
      return new CallLimitReached(tooManyCallsText(first, group.length, left, `calls of it (${limit.name})`))
    }
  }
  return undefined
}

function tooManyCallsText(call: CountedCall, requested: number, left: number, what: string): string {
  const more = left > 0 ? `${left} more` : "no more"
  const cure = left > 0 ? "Ask for fewer." : "Go on without."
  return `${callName(call)} was not called: this answer asks for ${requested}, and the run may make ${more} ${what}. ${cure}`
}

export type CountedCall = Pick<RuntimeCall, "id" | "binding" | "method" | "maxCalls">

function addToCounts(call: CountedCall, budgets: readonly CallBudget[], by: 1 | -1): void {
  for (const budget of budgets) {
    budget.counts.total += by
    if (!callLimitFor(call, budget)) continue
    const { of } = budget.counts
    of[callName(call)] = (of[callName(call)] ?? 0) + by
  }
}

function callLimitFor(call: CountedCall, { callsByName }: CallBudget): { most: number; name: string } | undefined {
  const ofRun = callsByName && Object.hasOwn(callsByName, callName(call)) ? callsByName[callName(call)] : undefined
  const { maxCalls } = call
  if (maxCalls === undefined) return ofRun === undefined ? undefined : { most: ofRun, name: "limits.callsByName" }
  return ofRun !== undefined && ofRun < maxCalls
    ? { most: ofRun, name: "limits.callsByName" }
    : { most: maxCalls, name: "maxCalls" }
}

function limitReachedText(call: RuntimeCall, limit: string): string {
  return `${callName(call)} was not called: this run may make ${limit}, and has made them. Go on without it.`
}

/** Measures active time. Time that is spent waiting for a person does not count. */
export interface Stopwatch {
  activeMs(): number
  /** The active time left; undefined without a limit. */
  leftMs(): number | undefined
  withClockPaused<T>(work: () => Promise<T>): Promise<T>
  /** Reports when the clock stops and continues, so that other clocks follow. */
  readonly pauseSignal: PauseSignal
  /** Fires when active time reaches the limit. */
  readonly expired: AbortSignal
  stop(): void
}

export function createStopwatch(limitMs = Infinity, now: () => number = Date.now, spentMs = 0): Stopwatch {
  const expiry = new AbortController()
  const listeners = new Set<(paused: boolean) => void>()
  let spent = spentMs
  let since = now()
  let pauses = 0
  let timer: NodeJS.Timeout | undefined

  const activeMs = () => (pauses > 0 ? spent : spent + now() - since)

  function arm(): void {
    // A limit that is too long for a timer counts as no limit.
    const left = limitMs - activeMs()
    if (left <= maxTimerMs) timer = setTimeout(() => expiry.abort(), timerMs(Math.max(0, left)))
    timer?.unref()
  }

  arm()
  return {
    activeMs,
    leftMs: () => (limitMs === Infinity ? undefined : Math.max(1, limitMs - activeMs())),
    expired: expiry.signal,
    pauseSignal(listener) {
      listeners.add(listener)
      if (pauses > 0) listener(true)
      return () => listeners.delete(listener)
    },
    async withClockPaused(work) {
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
