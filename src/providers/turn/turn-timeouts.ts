// The two time-outs of a turn: its total time, and the time without any output.
import { timerMs } from "../../core/time-limit.ts"

export function createTurnTimeouts(
  { timeoutMs, idleTimeoutMs }: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined },
  stop: (why: "timeout" | "idle") => void,
) {
  const total = timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), timerMs(timeoutMs))
  let idle: NodeJS.Timeout | undefined
  let isBusy = false
  /** Called when output has come. */
  function resetIdleTimer(): void {
    clearTimeout(idle)
    if (idleTimeoutMs !== undefined && !isBusy) idle = setTimeout(() => stop("idle"), timerMs(idleTimeoutMs))
  }
  resetIdleTimer()
  return {
    resetIdleTimer,
    /** Sets whether work is done that may take long without output; the idle time does not count then. */
    setBusy(busy: boolean): void {
      isBusy = busy
      resetIdleTimer()
    },
    stop(): void {
      // `resetIdleTimer` starts no timer while busy.
      isBusy = true
      clearTimeout(total)
      clearTimeout(idle)
    },
  }
}
