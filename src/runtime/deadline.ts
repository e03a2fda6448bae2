import type { Pauses } from "./runtime.ts"

/** The end of the time that something may take. It moves on while time stands still. */
export interface Deadline {
  /** When it is, on the clock of `now`: for code that keeps the event loop, and so its timer, from running. */
  readonly at: number
  /** It will not come. */
  clear(): void
}

/** The clock of deadlines, taken before any cell could lay hands on it. */
export const now: () => number = performance.now.bind(performance)

export function startDeadline(ms: number, pauses: Pauses | undefined, expire: () => void): Deadline {
  let left = ms
  let timer: NodeJS.Timeout | undefined

  const go = () => {
    deadline.at = now() + left
    // Node fires a timer at once that is longer than this.
    timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1))
  }
  const stand = () => {
    clearTimeout(timer)
    left = Math.max(1, deadline.at - now())
    // Waiting costs nothing; keeping the event loop does, and so keeps this from being moved on.
    const moveOn = () => {
      deadline.at = now() + Math.max(ms, leastMs)
    }
    moveOn()
    timer = setInterval(moveOn, leastMs / 10).unref()
  }

  const deadline = {
    at: Number.POSITIVE_INFINITY,
    clear() {
      ignore?.()
      clearTimeout(timer)
    },
  }
  go()
  const ignore = pauses?.((paused) => {
    clearTimeout(timer)
    if (paused) stand()
    else go()
  })
  return deadline
}

const leastMs = 1000
