import type { PauseSignal } from "./runtime.ts"

/** The end of the time that something may take. It moves on while time stands still. */
export interface Deadline {
  /** When it is, on the clock of `now`: for code that keeps the event loop, and so its timer, from running. */
  readonly at: number
  /** It will not come. */
  clear(): void
}

/** The clock of deadlines, taken before any cell could lay hands on it. */
export const monotonicNow: () => number = performance.now.bind(performance)

export function startDeadline(ms: number, pauses: PauseSignal | undefined, expire: () => void): Deadline {
  let left = ms
  let timer: NodeJS.Timeout | undefined

  const go = () => {
    deadline.at = monotonicNow() + left
    // Node fires a timer at once that is longer than this.
    timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1))
  }
  const stand = () => {
    clearTimeout(timer)
    left = Math.max(1, deadline.at - monotonicNow())
    // Waiting costs nothing; keeping the event loop does, and so keeps this from being moved on.
    const moveOn = () => {
      deadline.at = monotonicNow() + Math.max(ms, minPausedMs)
    }
    moveOn()
    timer = setInterval(moveOn, minPausedMs / 10).unref()
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

const minPausedMs = 1000
