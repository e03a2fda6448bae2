// A deadline that stops counting while its cell or call is paused, such as while a person is asked for approval.
import { timerMs } from "../core/time-limit.ts"
import type { PauseSignal } from "./runtime.ts"

export interface Deadline {
  /** The time of the deadline on the clock of `monotonicNow`. For code that blocks the event loop, and so the timer. */
  readonly at: number
  clear(): void
}

/** The clock of deadlines, read before a cell can replace `performance.now`. */
export const monotonicNow: () => number = performance.now.bind(performance)

export function startDeadline(ms: number, pauses: PauseSignal | undefined, expire: () => void): Deadline {
  let remainingMs = ms
  let timer: NodeJS.Timeout | undefined

  const startTimer = () => {
    deadline.at = monotonicNow() + remainingMs
    timer = setTimeout(expire, timerMs(remainingMs))
  }
  const pauseTimer = () => {
    clearTimeout(timer)
    remainingMs = Math.max(1, deadline.at - monotonicNow())
    // While paused, the deadline moves ahead as long as the event loop runs. Code that blocks the event loop also
    // blocks this timer, so the deadline still stops such code.
    const postpone = () => {
      deadline.at = monotonicNow() + Math.max(ms, minPausedMs)
    }
    postpone()
    timer = setInterval(postpone, minPausedMs / 10).unref()
  }

  const deadline = {
    at: Number.POSITIVE_INFINITY,
    clear() {
      stopListening?.()
      clearTimeout(timer)
    },
  }
  startTimer()
  const stopListening = pauses?.((paused) => {
    clearTimeout(timer)
    if (paused) pauseTimer()
    else startTimer()
  })
  return deadline
}

const minPausedMs = 1000
