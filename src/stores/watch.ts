import type { Json } from "../core/json.ts"

/** A way through a log, page by page: to where it ended at the first step, or for a watcher with no end. */
export interface Walk {
  /** The next items; none when there are no more for now, undefined when the log was deleted since. */
  next(): Promise<readonly Json[] | undefined>
  close?(): void
}

/** Wakes those who watch logs. */
export interface Bell {
  listen(log: string): Ear
  /** Something may have been appended to this log, or to any. */
  ring(log?: string): void
  /** Wakes everybody for the last time. Those who do not come back to listen hold nothing open. */
  close(): void
}

export interface Ear {
  /** Fulfilled at the next ring after the call. */
  next(): Promise<void>
  ring(): void
  stop(): void
}

/** What rings from outside while anybody listens. */
export interface Source {
  /** Somebody listens to this log now, or nobody any more. */
  heed?(log: string, isHeard: boolean): void
  stop(): void
}

/** With `start` there is more to be heard while anybody listens, and for so long after. */
export function createBell(start?: (ring: Bell["ring"]) => Source, lingerMs = 0): Bell {
  const ears = new Map<string, Set<Ear>>()
  let source: Source | undefined
  let lingering: NodeJS.Timeout | undefined

  function ring(log?: string): void {
    const rung = log === undefined ? [...ears.values()] : [ears.get(log) ?? []]
    for (const some of rung) for (const ear of some) ear.ring()
  }

  function rest(): void {
    clearTimeout(lingering)
    source?.stop()
    source = undefined
  }

  function listen(log: string): Ear {
    const ear = createEar(() => {
      const others = ears.get(log)
      if (!others?.delete(ear) || others.size > 0) return
      ears.delete(log)
      source?.heed?.(log, false)
      if (ears.size > 0) return
      if (lingerMs > 0) lingering = setTimeout(rest, lingerMs).unref()
      else rest()
    })
    clearTimeout(lingering)
    source ??= start?.(ring)
    const others = ears.get(log) ?? new Set()
    ears.set(log, others.add(ear))
    if (others.size === 1) source?.heed?.(log, true)
    return ear
  }

  return {
    listen,
    ring,
    close() {
      ring()
      rest()
    },
  }
}

/** For media that do not tell: looks now and then whether somebody else changed something. */
export function polling(hasChanged: () => boolean, everyMs: number): (ring: Bell["ring"]) => Source {
  return (ring) => {
    // What was changed before anybody listened is of no interest.
    unlessFailing(hasChanged)
    const timer = setInterval(() => {
      if (unlessFailing(hasChanged) ?? true) ring()
    }, everyMs)
    return { stop: () => clearInterval(timer) }
  }
}

// Whoever watches meets the same trouble, and has somebody to tell.
function unlessFailing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

export async function* readWalk(walk: Walk): AsyncGenerator<Json> {
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
export async function* watchWalk(
  walk: Walk,
  ear: Ear,
  signal: AbortSignal,
  isClosed: () => boolean,
): AsyncGenerator<Json> {
  const isOver = () => signal.aborted || isClosed()
  signal.addEventListener("abort", ear.ring)
  try {
    while (!isOver()) {
      // Listening begins before the look: what comes in between is heard.
      const change = ear.next()
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
    signal.removeEventListener("abort", ear.ring)
    ear.stop()
    walk.close?.()
  }
}

function createEar(stop: () => void): Ear {
  let waiting: PromiseWithResolvers<void> | undefined
  return {
    next() {
      waiting ??= Promise.withResolvers()
      return waiting.promise
    },
    ring() {
      waiting?.resolve()
      waiting = undefined
    },
    stop,
  }
}
