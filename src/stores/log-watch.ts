// Watching logs: cursors over a log, and notifications about new items.
import { attempt } from "../core/attempt.ts"
import type { Json } from "../core/json.ts"

/** Reads a log page by page: up to its end at the first read, or for a watcher without an end. */
export interface LogCursor {
  /** The next items: empty if there are no more for now, undefined if the log was deleted since. */
  next(): Promise<readonly Json[] | undefined>
  close?(): void
}

/** Notifies the watchers of logs. */
export interface LogNotifier {
  subscribe(log: string): Subscription
  /** Call this when something may have been appended to the log; without a log, to any log. */
  notify(log?: string): void
  /** Notifies all watchers for the last time and stops the source of changes. */
  close(): void
}

export interface Subscription {
  /** Resolves at the next notification after the call. */
  nextChange(): Promise<void>
  notify(): void
  unsubscribe(): void
}

/** Reports changes from outside this process while there are subscriptions. */
export interface ChangeSource {
  /** Called when the log gets its first subscription (true) or loses its last one (false). */
  onSubscribed?(log: string, isSubscribed: boolean): void
  stop(): void
}

/** `start` opens a source of changes with the first subscription. It is stopped `lingerMs` after the last one has
 *  ended. */
export function createLogNotifier(start?: (notify: LogNotifier["notify"]) => ChangeSource, lingerMs = 0): LogNotifier {
  const subscriptions = new Map<string, Set<Subscription>>()
  let source: ChangeSource | undefined
  let lingering: NodeJS.Timeout | undefined

  function notify(log?: string): void {
    const notified = log === undefined ? [...subscriptions.values()] : [subscriptions.get(log) ?? []]
    for (const some of notified) for (const subscription of some) subscription.notify()
  }

  function stopSource(): void {
    clearTimeout(lingering)
    source?.stop()
    source = undefined
  }

  function subscribe(log: string): Subscription {
    const subscription = createSubscription(() => {
      const others = subscriptions.get(log)
      if (!others?.delete(subscription) || others.size > 0) return
      subscriptions.delete(log)
      source?.onSubscribed?.(log, false)
      if (subscriptions.size > 0) return
      if (lingerMs > 0) lingering = setTimeout(stopSource, lingerMs).unref()
      else stopSource()
    })
    clearTimeout(lingering)
    source ??= start?.(notify)
    const others = subscriptions.get(log) ?? new Set()
    subscriptions.set(log, others.add(subscription))
    if (others.size === 1) source?.onSubscribed?.(log, true)
    return subscription
  }

  return {
    subscribe,
    notify,
    close() {
      notify()
      stopSource()
    },
  }
}

/** A source for stores that do not announce changes: checks regularly whether another process changed something. */
export function pollForChanges(
  hasChanged: () => boolean,
  everyMs: number,
): (notify: LogNotifier["notify"]) => ChangeSource {
  return (notify) => {
    // Changes before the first subscription do not count.
    // Its error is dropped: the watchers meet the same error when they read, and report it.
    attempt(hasChanged)
    const timer = setInterval(() => {
      if (attempt(hasChanged) ?? true) notify()
    }, everyMs)
    return { stop: () => clearInterval(timer) }
  }
}

export async function* readCursor(cursor: LogCursor): AsyncGenerator<Json> {
  try {
    for (;;) {
      const items = await cursor.next()
      if (!items || items.length === 0) return
      yield* items
    }
  } finally {
    cursor.close?.()
  }
}

/** Yields items until the signal fires or the store is closed, waiting for notifications in between. */
export async function* watchCursor(
  cursor: LogCursor,
  subscription: Subscription,
  signal: AbortSignal,
  isClosed: () => boolean,
): AsyncGenerator<Json> {
  const isOver = () => signal.aborted || isClosed()
  signal.addEventListener("abort", subscription.notify)
  try {
    while (!isOver()) {
      // The subscription is asked before the read, so that a change in between is not missed.
      const change = subscription.nextChange()
      const items = await cursor.next().catch((error) => {
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
    signal.removeEventListener("abort", subscription.notify)
    subscription.unsubscribe()
    cursor.close?.()
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
