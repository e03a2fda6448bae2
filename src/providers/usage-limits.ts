// Usage limits of a CLI's account: recognises them in failures, and waits until they reset.
import { mustBeBooleanOrOptions, mustBeFunction, mustBeLimit, mustBeObject } from "../core/checks/check-options.ts"
import { AbortError, type ProviderError } from "../core/errors.ts"
import type { RunControl } from "../core/run.ts"
import type { TurnResult } from "./provider.ts"

/** A usage limit of the account that was reached, as reported by the CLI. */
export interface UsageLimit {
  provider: string
  /** When it resets, in milliseconds since the epoch. */
  until: number
  reason: string
}

export interface AutoWaitOptions {
  /** How long a run waits in total. A limit that resets later ends the run at once. Default 24 hours. */
  maxWaitMs?: number | undefined
  /** Decides whether to wait. Default: always. */
  shouldWait?: ((limit: UsageLimit) => boolean) | undefined
  /** Default: the system clock. */
  clock?: Clock | undefined
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Rejects once the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The options with all defaults. */
export type AutoWait = { [K in keyof AutoWaitOptions]-?: NonNullable<AutoWaitOptions[K]> }

export const mustBeAutoWait = mustBeBooleanOrOptions<AutoWaitOptions>({
  maxWaitMs: mustBeLimit(0),
  shouldWait: mustBeFunction,
  clock: mustBeObject,
})

/** Returns undefined if the run shall not wait. */
export function resolveAutoWait(autoWait: boolean | AutoWaitOptions): AutoWait | undefined {
  if (autoWait === false) return undefined
  const { maxWaitMs = 24 * 3_600_000, shouldWait = () => true, clock = systemClock } = autoWait === true ? {} : autoWait
  return { maxWaitMs, shouldWait, clock }
}

/** The limit that a failure reports, if it says when the limit resets. Only the CLI's own error is read, never model
 *  output. */
export function usageLimitOf({ code, provider = "", retryAt, message }: ProviderError): UsageLimit | undefined {
  if (code !== "rate-limited" || retryAt === undefined) return undefined
  return { provider, until: retryAt, reason: message }
}

/** Sends a prompt. When a usage limit ends the turn, waits until the limit resets and sends again, as often as needed.
 *  Emits `limit-waiting` when a wait starts and regularly during it. Waiting does not count towards the run's time
 *  limit. */
export async function sendWaitingForLimits(
  send: (again: boolean) => Promise<TurnResult>,
  { emit, pauseClocks: paused, signal }: Pick<RunControl, "emit" | "pauseClocks" | "signal">,
  autoWait: AutoWait | undefined,
): Promise<TurnResult> {
  let waitedMs = 0
  for (let times = 0; ; times++) {
    const end = await send(times > 0)
    const limit = end.failure && usageLimitOf(end.failure)
    if (!limit || !autoWait?.shouldWait(limit)) return end
    const { maxWaitMs, clock } = autoWait
    const startedAt = clock.now()
    const until = Math.max(limit.until, startedAt + minimumWaitMs(times))
    waitedMs += until - startedAt
    if (waitedMs > maxWaitMs) {
      const message = `The limit is over at ${new Date(until).toISOString()}, and autoWait.maxWaitMs is ${maxWaitMs} ms: it is not waited for.`
      emit({ type: "warning-raised", code: "limit-too-far", message })
      return end
    }
    const announce = () => emit({ type: "limit-waiting", reason: limit.reason, until })
    await paused(() => waitUntil(until, clock, signal, announce))
  }
}

// The service's clock may differ from ours: the wait doubles each time it was too short.
function minimumWaitMs(times: number): number {
  return Math.min(1000 * 2 ** times, 300_000)
}

const announceEveryMs = 300_000

async function waitUntil(until: number, clock: Clock, signal: AbortSignal, announce: () => unknown): Promise<void> {
  for (let left = until - clock.now(); left > 0; left = until - clock.now()) {
    announce()
    await clock.sleep(Math.min(left, announceEveryMs), signal)
  }
}

const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        reject(new AbortError("The wait was ended.", { cause: signal.reason }))
      }
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop)
        resolve()
      }, ms)
      if (signal.aborted) stop()
      else signal.addEventListener("abort", stop, { once: true })
    }),
}
