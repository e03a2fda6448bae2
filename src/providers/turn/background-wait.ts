// Waits for background work that continues after a turn's answer, with a time limit.
import { timerMs } from "../../core/time-limit.ts"
import type { TurnResult } from "../provider.ts"
import type { BackgroundWork } from "./json-lines-session.ts"

/** `giveUp` is called when the time is over, with the result that the turn has so far. */
export function createBackgroundWait(giveUp: (end: TurnResult, warning: string | undefined) => void) {
  let timer: NodeJS.Timeout | undefined
  let since = 0
  let waitedMs = 0
  let hasWarned = false

  /** Called when the model works again: the wait stops and its time stops counting. */
  function pause(): void {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    waitedMs += performance.now() - since
  }

  return {
    /** Starts or restarts the wait. Returns `startWarning` the first time there is one. */
    start({ end, maxMs, startWarning, timeoutWarning }: BackgroundWork): string | undefined {
      pause()
      since = performance.now()
      // Waits without a `timeoutWarning` are short and have their own time.
      const leftMs = timeoutWarning === undefined ? maxMs : Math.max(0, maxMs - waitedMs)
      timer = setTimeout(() => giveUp(end, timeoutWarning), timerMs(leftMs))
      if (hasWarned) return undefined
      hasWarned = startWarning !== undefined
      return startWarning
    },
    pause,
    get isWaiting(): boolean {
      return timer !== undefined
    },
  }
}
