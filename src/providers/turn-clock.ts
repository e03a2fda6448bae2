/** The time-outs of one turn of a process that outlives it. */
export interface TurnClock {
  /** Something has come. */
  stir(): void
  /** Whether something is done that may take long without a word. */
  busy(is: boolean): void
  end(): void
}

export function turnClock(
  { timeoutMs, idleTimeoutMs }: { timeoutMs?: number | undefined; idleTimeoutMs?: number | undefined },
  stop: (why: "timeout" | "idle") => void,
): TurnClock {
  const total = timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), longest(timeoutMs))
  let idle: NodeJS.Timeout | undefined
  let isBusy = false
  function stir(): void {
    clearTimeout(idle)
    if (idleTimeoutMs !== undefined && !isBusy) idle = setTimeout(() => stop("idle"), longest(idleTimeoutMs))
  }
  stir()
  return {
    stir,
    busy(is) {
      if (is === isBusy) return
      isBusy = is
      stir()
    },
    end() {
      // Nothing starts it again.
      isBusy = true
      clearTimeout(total)
      clearTimeout(idle)
    },
  }
}

function longest(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1)
}
