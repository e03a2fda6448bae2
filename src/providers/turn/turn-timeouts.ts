/** The time-outs of one turn of a process that outlives it. */
export interface TurnTimeouts {
  /** Something has come. */
  resetIdleTimer(): void
  /** Whether something is done that may take long without a word. */
  setBusy(is: boolean): void
  stop(): void
}

export function createTurnTimeouts(
  { timeoutMs, idleTimeoutMs }: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined },
  stop: (why: "timeout" | "idle") => void,
): TurnTimeouts {
  const total = timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), clampTimerMs(timeoutMs))
  let idle: NodeJS.Timeout | undefined
  let isBusy = false
  function stir(): void {
    clearTimeout(idle)
    if (idleTimeoutMs !== undefined && !isBusy) idle = setTimeout(() => stop("idle"), clampTimerMs(idleTimeoutMs))
  }
  stir()
  return {
    resetIdleTimer: stir,
    setBusy(is) {
      if (is === isBusy) return
      isBusy = is
      stir()
    },
    stop() {
      // Nothing starts it again.
      isBusy = true
      clearTimeout(total)
      clearTimeout(idle)
    },
  }
}

function clampTimerMs(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1)
}
