// Limits which runs a worker executes at the same time.
/** Lets runs execute side by side, or one alone. A run that may have killed its workers executes alone, so that its
 *  next crash interrupts no other run and is certainly its own. */
export interface RunSlots {
  /** Does the work once no run executes alone. With `isAlone`, once no other run executes. */
  enter<T>(isAlone: boolean, work: () => Promise<T>): Promise<T>
  /** True if a run waits to execute alone: the other slices then end after their cycle. */
  readonly isAloneWanted: boolean
}

export function createRunSlots(): RunSlots {
  const waiting: { isAlone: boolean; start: () => void }[] = []
  let sharedCount = 0
  let hasAlone = false

  function startNext(): void {
    for (let first = waiting[0]; first && !hasAlone && (!first.isAlone || sharedCount === 0); first = waiting[0]) {
      waiting.shift()
      if (first.isAlone) hasAlone = true
      else sharedCount++
      first.start()
    }
  }

  return {
    async enter(isAlone, work) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ isAlone, start: resolve })
      startNext()
      await promise
      try {
        return await work()
      } finally {
        if (isAlone) hasAlone = false
        else sharedCount--
        startNext()
      }
    },
    get isAloneWanted() {
      return waiting.some(({ isAlone }) => isAlone)
    },
  }
}
