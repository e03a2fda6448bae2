// Waiting with a time limit.

/** The longest delay of a timer. Node fires a timer with a longer delay immediately. */
export const maxTimerMs = 2 ** 31 - 1

/** Returns a delay that timers accept, also for `Infinity`. */
export const timerMs = (ms: number) => Math.min(ms, maxTimerMs)

/** Settles like `work`, or resolves with undefined if it takes longer than `ms` or the signal fires first. */
export async function resultWithin<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const giveUp = () => resolve(undefined)
  const timer = setTimeout(giveUp, timerMs(ms))
  signal?.addEventListener("abort", giveUp)
  if (signal?.aborted) giveUp()
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", giveUp)
  }
}
