// Timers for runs: retries and approvals that expire.
import { timerMs } from "../core/time-limit.ts"

/** Has at most one timer for each run. `onTimer` is called with the id of the run; its failures are ignored. If this
 *  process ends before a timer fires, `recover` finds the run. */
export function createRunTimers(onTimer: (id: string) => Promise<void>) {
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false
  return {
    /** Sets a timer for that time, in milliseconds since the epoch, unless the run has one. */
    add(id: string, at: number): void {
      if (isClosed || timers.has(id)) return
      const fire = () => {
        timers.delete(id)
        onTimer(id).catch(() => undefined)
      }
      timers.set(id, setTimeout(fire, timerMs(Math.max(at - Date.now(), 0))))
    },
    remove(id: string): void {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    close(): void {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
