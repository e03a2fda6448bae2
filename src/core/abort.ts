/** What work comes to, or the reason of a signal that fires first: a rejection at once, whatever the work still does. */
export async function orAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<Awaited<T>> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener("abort", abort)
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener("abort", abort)
  }
}
