// Listening to abort signals, and racing work against them.

const abortListeners = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `listener` when the signal fires, or immediately if it has fired. Returns a function that stops listening.
 *  Meant for long-lived signals with many listeners: only the first one adds an event listener to the signal. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const registered = abortListeners.get(signal) ?? listenOnce(signal)
  registered.add(listener)
  return () => registered.delete(listener)
}

/** Settles like `work`, or rejects with the signal's reason as soon as the signal fires, even if `work` is still
 *  running. */
export function rejectOnAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<Awaited<T>> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason))
    Promise.resolve(work).then(
      (value) => {
        stopListening()
        resolve(value)
      },
      (error: unknown) => {
        stopListening()
        reject(error)
      },
    )
  })
}

function listenOnce(signal: AbortSignal): Set<() => void> {
  const registered = new Set<() => void>()
  abortListeners.set(signal, registered)
  const fire = () => {
    for (const listener of [...registered]) listener()
  }
  signal.addEventListener("abort", fire, { once: true })
  return registered
}
