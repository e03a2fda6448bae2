// Timers for runs: retries and approvals that expire.
import { timerMs } from "../core/time-limit.ts"

/** At most one timer for each run. If this process ends before a timer fires, `recover` finds the run. */
export interface RunTimers {
  /** Sets a timer for that time, in milliseconds since the epoch, unless the run has one. */
  add(id: string, at: number): void
  remove(id: string): void
  close(): void
}

/** `onTimer` is called with the id of the run; its failures are ignored. */
export function createRunTimers(onTimer: (id: string) => Promise<void>): RunTimers {
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false
  return {
    add(id, at) {
      if (isClosed || timers.has(id)) return
      const fire = () => {
        timers.delete(id)
        onTimer(id).catch(() => undefined)
      }
      timers.set(id, setTimeout(fire, timerMs(Math.max(at - Date.now(), 0))))
    },
    remove(id) {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    close() {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
