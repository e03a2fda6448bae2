// Listening to abort signals, combining them, and racing work against them.

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

/** Returns a signal that fires when the first of the given ones does. */
export function combineSignals(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b)
}

/** Aborts the controller when the first signal fires. Returns a function that stops this, which `AbortSignal.any`
 *  cannot: a parent may start many runs one after another. */
export function followSignals(controller: AbortController, signals: readonly AbortSignal[]): () => void {
  const aborts = signals.map((signal) => ({ signal, abort: () => controller.abort(signal.reason) }))
  for (const { signal, abort } of aborts) {
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort)
  }
  return () => {
    for (const { signal, abort } of aborts) signal.removeEventListener("abort", abort)
  }
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
