/** Which runs a process works on side by side. A run that may have ended its workers is worked on alone, so that its next
 *  failure interrupts no other run and can be attributed to it. */
export interface RunSlots {
  /** Does the work once no run works alone, or for a run that works alone: once no other work is under way. */
  enter<T>(isAlone: boolean, work: () => Promise<T>): Promise<T>
  /** Whether a run waits to work alone: others leave after their cycle. */
  readonly isAloneWanted: boolean
}

export function createRunSlots(): RunSlots {
  const waiting: { isAlone: boolean; begin: () => void }[] = []
  let shared = 0
  let isTaken = false

  function next(): void {
    for (let first = waiting[0]; first && !isTaken && (!first.isAlone || shared === 0); first = waiting[0]) {
      waiting.shift()
      if (first.isAlone) isTaken = true
      else shared++
      first.begin()
    }
  }

  return {
    async enter(isAlone, work) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ isAlone, begin: resolve })
      next()
      await promise
      try {
        return await work()
      } finally {
        if (isAlone) isTaken = false
        else shared--
        next()
      }
    },
    get isAloneWanted() {
      return waiting.some(({ isAlone }) => isAlone)
    },
  }
}
