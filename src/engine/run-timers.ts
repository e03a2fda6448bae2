/** Jobs that are pushed when their time has come. Where this process ends before that, `recover` finds their runs. */
export interface RunTimers {
  /** Pushes the run at that time, in milliseconds since the epoch. */
  add(id: string, at: number): void
  remove(id: string): void
  close(): void
}

export function createRunTimers(push: (id: string) => Promise<void>): RunTimers {
  const timers = new Map<string, NodeJS.Timeout>()
  let isClosed = false
  return {
    add(id, at) {
      if (isClosed || timers.has(id)) return
      const pushNow = () => {
        timers.delete(id)
        push(id).catch(() => undefined)
      }
      timers.set(id, setTimeout(pushNow, Math.min(Math.max(at - Date.now(), 0), maxTimerMs)))
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

// A timer for longer would fire at once.
const maxTimerMs = 2 ** 31 - 1
