import { AbortError, ConfigError, type ProviderError } from "../core/errors.ts"
import type { RunControl } from "../core/run.ts"
import type { TurnResult } from "./provider.ts"

/** A limit of the account that was reached, as the CLI told it. */
export interface UsageLimit {
  provider: string
  /** When it is over, in milliseconds since the epoch. */
  until: number
  reason: string
}

export interface AutoWaitOptions {
  /** How long a run waits in all. A limit that is over later ends the run at once. Default 24 hours. */
  maxMs?: number | undefined
  /** Asked before it waits. Default: always. */
  accept?: ((limit: UsageLimit) => boolean) | undefined
  /** Default: that of this machine. */
  clock?: Clock | undefined
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Rejects once the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The same with every default filled in. */
export type AutoWait = { [K in keyof AutoWaitOptions]-?: NonNullable<AutoWaitOptions[K]> }

/** Undefined where it shall not wait. */
export function resolveAutoWait(autoWait: boolean | AutoWaitOptions): AutoWait | undefined {
  if (autoWait === false) return undefined
  const { maxMs = 24 * 3_600_000, accept = () => true, clock = systemClock } = autoWait === true ? {} : autoWait
  if (typeof maxMs === "number" && maxMs >= 0) return { maxMs, accept, clock }
  throw new ConfigError(`autoWait.maxMs: ${String(maxMs)} is not a number of at least 0.`)
}

/** The limit that a failure tells of, where it says when that is over. It is read from what the CLI says of its failure, never
 *  from what a model says. */
export function usageLimitOf({ code, provider = "", retryAt, message }: ProviderError): UsageLimit | undefined {
  if (code !== "rate-limited" || retryAt === undefined) return undefined
  return { provider, until: retryAt, reason: message }
}

/** Sends a prompt, and where the account's limit is reached waits until that is over and goes on, as often as it takes. Each
 *  wait is told at its beginning and while it lasts, and does not count as time that the run takes. */
export async function sendWaitingForLimits(
  send: (again: boolean) => Promise<TurnResult>,
  { emit, pauseClocks: paused, signal }: Pick<RunControl, "emit" | "pauseClocks" | "signal">,
  autoWait: AutoWait | undefined,
): Promise<TurnResult> {
  let waitedMs = 0
  for (let times = 0; ; times++) {
    const end = await send(times > 0)
    const limit = end.failure && usageLimitOf(end.failure)
    if (!limit || !autoWait?.accept(limit)) return end
    const { maxMs, clock } = autoWait
    const begun = clock.now()
    const until = Math.max(limit.until, begun + minimumWaitMs(times))
    waitedMs += until - begun
    if (waitedMs > maxMs) {
      const message = `The limit is over at ${new Date(until).toISOString()}, and autoWait.maxMs is ${maxMs} ms: it is not waited for.`
      emit({ type: "warning-raised", code: "limit-too-far", message })
      return end
    }
    const told = () => emit({ type: "limit-waiting", reason: limit.reason, until })
    await paused(() => waitUntil(until, clock, signal, told))
  }
}

// It is not sure that their clock and ours agree: the oftener it was too early, the longer it waits.
function minimumWaitMs(times: number): number {
  return Math.min(1000 * 2 ** times, 300_000)
}

const announceEveryMs = 300_000

async function waitUntil(until: number, clock: Clock, signal: AbortSignal, told: () => unknown): Promise<void> {
  for (let left = until - clock.now(); left > 0; left = until - clock.now()) {
    told()
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
