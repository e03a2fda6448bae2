/** Gives recorded outcomes in the order they were recorded, so that a program whose calls ran side by side takes the same
 *  path again. */
export interface CompletionOrder {
  /** Waits for its turn. */
  waitForTurn(position: number): Promise<void>
}

/** `stuck` is told when an outcome's predecessors never come: the program took another path. */
export function createCompletionOrder(stuck: () => void, patienceMs = 2_000): CompletionOrder {
  const waiting = new Map<number, () => void>()
  let next = 0
  let moving = false
  let timer: NodeJS.Timeout | undefined

  async function move(): Promise<void> {
    if (moving) return
    moving = true
    clearTimeout(timer)
    for (let go = waiting.get(next); go; go = waiting.get(next)) {
      waiting.delete(next++)
      go()
      // Whoever waited for it goes on before the next one is told.
      await new Promise((resolve) => setImmediate(resolve))
    }
    moving = false
    if (waiting.size > 0) timer = setTimeout(giveUp, patienceMs)
  }

  function giveUp(): void {
    stuck()
    next = Math.min(...waiting.keys())
    void move()
  }

  return {
    waitForTurn(position) {
      if (position < next) return Promise.resolve()
      return new Promise((resolve) => {
        waiting.set(position, resolve)
        void move()
      })
    },
  }
}
