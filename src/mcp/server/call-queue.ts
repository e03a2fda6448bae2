// Runs the calls of each client session one after another.
import { keyedSerialQueue } from "../../core/serial.ts"

/** Gives up the turn while waiting for something, and resolves when it is this work's turn again. */
export type YieldTurn = <T>(wait: () => Promise<T>) => Promise<T>

/** Runs work with the same key one after another; other keys do not wait for it. */
export function createCallQueue(): <T>(key: string, work: (yieldTurn: YieldTurn) => Promise<T>) => Promise<T> {
  const inOrder = keyedSerialQueue()

  /** Waits for the turn, and resolves with the function that ends it. */
  function begin(key: string): Promise<() => void> {
    return new Promise((begun) => void inOrder(key, () => new Promise<void>((end) => begun(end))))
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
          // The work may have ended without waiting for this.
          if (isOver) end()
        }
      })
    } finally {
      isOver = true
      end()
    }
  }
}
