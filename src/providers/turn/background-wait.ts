import type { TurnResult } from "../provider.ts"

/** Waits for work that goes on after the answer of a turn, and gives up when it takes too long. */
export interface BackgroundWait {
  /** Begins a wait, or begins it anew. Returns the warning to tell, the first time there is one. */
  start(waits: {
    end: TurnResult
    maxMs: number
    begun?: string | undefined
    over?: string | undefined
  }): string | undefined
  /** There is something to follow again. */
  pause(): void
  readonly isWaiting: boolean
}

/** `giveUp` gets the end that the turn has. */
export function createBackgroundWait(giveUp: (end: TurnResult, warning: string | undefined) => void): BackgroundWait {
  let timer: NodeJS.Timeout | undefined
  let since = 0
  let waitedMs = 0
  let isTold = false

  function pause(): void {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    waitedMs += performance.now() - since
  }

  return {
    start({ end, maxMs, begun, over }) {
      pause()
      since = performance.now()
      // A wait without a warning is a short one of its own.
      const leftMs = over === undefined ? maxMs : Math.max(0, maxMs - waitedMs)
      timer = setTimeout(() => giveUp(end, over), Math.min(leftMs, 2 ** 31 - 1))
      if (isTold) return undefined
      isTold = begun !== undefined
      return begun
    },
    pause,
    get isWaiting() {
      return timer !== undefined
    },
  }
}
