const abortListeners = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back when a signal fires, at once where it has; gives the way to stop listening. For signals that live long and are
 *  listened to at every step: the first listener costs what an event listener does, each after it next to nothing. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const known = abortListeners.get(signal) ?? listenOnce(signal)
  known.add(listener)
  return () => known.delete(listener)
}

/** What work comes to, or the reason of a signal that fires first: a rejection at once, whatever the work still does. */
export function rejectOnAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<Awaited<T>> {
  return new Promise((resolve, reject) => {
    const off = onAbort(signal, () => reject(signal.reason))
    Promise.resolve(work).then(
      (value) => {
        off()
        resolve(value)
      },
      (error: unknown) => {
        off()
        reject(error)
      },
    )
  })
}

function listenOnce(signal: AbortSignal): Set<() => void> {
  const known = new Set<() => void>()
  abortListeners.set(signal, known)
  const fire = () => {
    for (const listener of [...known]) listener()
  }
  signal.addEventListener("abort", fire, { once: true })
  return known
}
