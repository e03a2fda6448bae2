// A deadline that stops counting while its cell or call is paused, such as while a person is asked for approval.
import type { PauseSignal } from "./runtime.ts"

export interface Deadline {
  /** The time of the deadline on the clock of `monotonicNow`. For code that blocks the event loop, and so the timer. */
  readonly at: number
  clear(): void
}

/** The clock of deadlines, read before a cell can replace `performance.now`. */
export const monotonicNow: () => number = performance.now.bind(performance)

export function startDeadline(ms: number, pauses: PauseSignal | undefined, expire: () => void): Deadline {
  let left = ms
  let timer: NodeJS.Timeout | undefined

  const go = () => {
    deadline.at = monotonicNow() + left
    // Node fires a timer at once if its delay is longer than this.
    timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1))
  }
  const stand = () => {
    clearTimeout(timer)
    left = Math.max(1, deadline.at - monotonicNow())
    // While paused, the deadline moves ahead as long as the event loop runs. Code that blocks the event loop also
    // blocks this timer, so the deadline still stops such code.
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
