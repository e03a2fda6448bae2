// Replays the outcomes of parallel calls in their recorded order.
/** Releases recorded outcomes in the order in which they were recorded, so that code with parallel calls takes the same
 *  path again. `onStuck` is called if an earlier outcome is not requested in time: the code took another path. */
export function createCompletionOrder(onStuck: () => void, timeoutMs = 2_000) {
  const waiting = new Map<number, () => void>()
  let next = 0
  let isReleasing = false
  let timer: NodeJS.Timeout | undefined

  async function release(): Promise<void> {
    if (isReleasing) return
    isReleasing = true
    clearTimeout(timer)
    for (let resolveNext = waiting.get(next); resolveNext; resolveNext = waiting.get(next)) {
      waiting.delete(next++)
      resolveNext()
      // Code that waited for this outcome continues before the next one is released.
      await new Promise((resolve) => setImmediate(resolve))
    }
    isReleasing = false
    if (waiting.size > 0) timer = setTimeout(skip, timeoutMs)
  }

  function skip(): void {
    onStuck()
    next = Math.min(...waiting.keys())
    void release()
  }

  return {
    /** Resolves when all outcomes before this position have been released. */
    waitForPosition(position: number): Promise<void> {
      if (position < next) return Promise.resolve()
      return new Promise((resolve) => {
        waiting.set(position, resolve)
        void release()
      })
    },
  }
}
