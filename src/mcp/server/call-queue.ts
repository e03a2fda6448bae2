/** Waits for something outside of the turn, which others have meanwhile; resolves when it is this work's turn again. */
export type YieldTurn = <T>(wait: () => Promise<T>) => Promise<T>

/** Lets work of one key begin when all before it of the same key has ended; others do not wait for it. */
export function createCallQueue(): <T>(key: string, work: (aside: YieldTurn) => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<void>>()

  /** Resolves when the turn has come, with the function that ends it. */
  async function begin(key: string): Promise<() => void> {
    const before = last.get(key)
    const turn = Promise.withResolvers<void>()
    last.set(key, turn.promise)
    await before
    return () => {
      turn.resolve()
      if (last.get(key) === turn.promise) last.delete(key)
    }
  }

  return async (key, work) => {
    let end = await begin(key)
    let isOver = false
    try {
      return await work(async (wait) => {
        end()
        try {
          return await wait()
        } finally {
          end = await begin(key)
          // The work may have ended without the answer.
          if (isOver) end()
        }
      })
    } finally {
      isOver = true
      end()
    }
  }
}
