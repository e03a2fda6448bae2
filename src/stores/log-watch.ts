import type { Json } from "../core/json.ts"

/** A way through a log, page by page: to where it ended at the first step, or for a watcher with no end. */
export interface LogCursor {
  /** The next items; none when there are no more for now, undefined when the log was deleted since. */
  next(): Promise<readonly Json[] | undefined>
  close?(): void
}

/** Wakes those who watch logs. */
export interface LogNotifier {
  subscribe(log: string): Subscription
  /** Something may have been appended to this log, or to any. */
  notify(log?: string): void
  /** Wakes everybody for the last time. Those who do not come back to listen hold nothing open. */
  close(): void
}

export interface Subscription {
  /** Fulfilled at the next ring after the call. */
  nextChange(): Promise<void>
  notify(): void
  unsubscribe(): void
}

/** What rings from outside while anybody listens. */
export interface ChangeSource {
  /** Somebody listens to this log now, or nobody any more. */
  onSubscribed?(log: string, isHeard: boolean): void
  stop(): void
}

/** With `start` there is more to be heard while anybody listens, and for so long after. */
export function createLogNotifier(start?: (ring: LogNotifier["notify"]) => ChangeSource, lingerMs = 0): LogNotifier {
  const ears = new Map<string, Set<Subscription>>()
  let source: ChangeSource | undefined
  let lingering: NodeJS.Timeout | undefined

  function ring(log?: string): void {
    const rung = log === undefined ? [...ears.values()] : [ears.get(log) ?? []]
    for (const some of rung) for (const ear of some) ear.notify()
  }

  function rest(): void {
    clearTimeout(lingering)
    source?.stop()
    source = undefined
  }

  function listen(log: string): Subscription {
    const ear = createSubscription(() => {
      const others = ears.get(log)
      if (!others?.delete(ear) || others.size > 0) return
      ears.delete(log)
      source?.onSubscribed?.(log, false)
      if (ears.size > 0) return
      if (lingerMs > 0) lingering = setTimeout(rest, lingerMs).unref()
      else rest()
    })
    clearTimeout(lingering)
    source ??= start?.(ring)
    const others = ears.get(log) ?? new Set()
    ears.set(log, others.add(ear))
    if (others.size === 1) source?.onSubscribed?.(log, true)
    return ear
  }

  return {
    subscribe: listen,
    notify: ring,
    close() {
      ring()
      rest()
    },
  }
}

/** For media that do not tell: looks now and then whether somebody else changed something. */
export function pollForChanges(
  hasChanged: () => boolean,
  everyMs: number,
): (ring: LogNotifier["notify"]) => ChangeSource {
  return (ring) => {
    // What was changed before anybody listened is of no interest.
    tryOrUndefined(hasChanged)
    const timer = setInterval(() => {
      if (tryOrUndefined(hasChanged) ?? true) ring()
    }, everyMs)
    return { stop: () => clearInterval(timer) }
  }
}

// Whoever watches meets the same trouble, and has somebody to tell.
function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

export async function* readCursor(walk: LogCursor): AsyncGenerator<Json> {
  try {
    for (;;) {
      const items = await walk.next()
      if (!items || items.length === 0) return
      yield* items
    }
  } finally {
    walk.close?.()
  }
}

/** Reads on as long as neither the signal nor `isClosed` says otherwise, resting until the bell rings. */
export async function* watchCursor(
  walk: LogCursor,
  ear: Subscription,
  signal: AbortSignal,
  isClosed: () => boolean,
): AsyncGenerator<Json> {
  const isOver = () => signal.aborted || isClosed()
  signal.addEventListener("abort", ear.notify)
  try {
    while (!isOver()) {
      // Listening begins before the look: what comes in between is heard.
      const change = ear.nextChange()
      const items = await walk.next().catch((error) => {
        if (!isOver()) throw error
      })
      if (!items) return
      for (const item of items) {
        if (isOver()) return
        yield item
      }
      if (items.length === 0 && !isOver()) await change
    }
  } finally {
    signal.removeEventListener("abort", ear.notify)
    ear.unsubscribe()
    walk.close?.()
  }
}

function createSubscription(stop: () => void): Subscription {
  let waiting: PromiseWithResolvers<void> | undefined
  return {
    nextChange() {
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    notify() {
      waiting?.resolve()
      waiting = undefined
    },
    unsubscribe: stop,
  }
}
