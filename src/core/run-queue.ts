import { onAbort } from "./abort.ts"

/** Runs work one after the other, in the order in which it was added. */
export interface RunQueue<T> {
  /** The entry whose turn it is. */
  readonly running: QueueEntry<T> | undefined
  /** The entries that wait, in the order in which they run. Entries that are held back come last. */
  readonly pending: readonly QueueEntry<T>[]
  /** Adds an entry behind those that wait, and before those that are held back. If the queue is idle, its turn comes at once.
   *  `start` gets the way to wait for the turn; if it throws, nothing is added. */
  add(start: (turn: WaitForTurn) => T): QueueEntry<T>
  /** Lets the entries that are held back run, behind those that wait. */
  release(): void
}

/** Resolves when the turn of an entry comes. Rejects with the reason of a signal that fires before that: the entry has then left
 *  the queue, and the others keep their order. */
export type WaitForTurn = (signal: AbortSignal) => Promise<void>

export interface QueueEntry<T> {
  readonly value: T
  /** Ends the entry's turn. With `hold`, the entries that wait are held back until `release`. An entry that never took its turn
   *  only leaves the queue. */
  end(options?: { hold?: boolean }): void
}

export function createRunQueue<T>(): RunQueue<T> {
  let running: QueueEntry<T> | undefined
  let waiting: QueueEntry<T>[] = []
  let held: QueueEntry<T>[] = []
  const grants = new WeakMap<QueueEntry<T>, () => void>()

  function startNext(): void {
    if (running) return
    running = waiting.shift()
    if (running) grants.get(running)?.()
  }

  function leave(entry: QueueEntry<T>): void {
    waiting = waiting.filter((each) => each !== entry)
    held = held.filter((each) => each !== entry)
    if (running !== entry) return
    running = undefined
    startNext()
  }

  return {
    get running() {
      return running
    },
    get pending() {
      return [...waiting, ...held]
    },
    add(start) {
      const { promise: granted, resolve: grant } = Promise.withResolvers<void>()
      let hasTaken = false
      let hasLeft = false
      function turn(signal: AbortSignal): Promise<void> {
        return new Promise((resolve, reject) => {
          const stopListening = onAbort(signal, () => {
            hasLeft = true
            leave(entry)
            reject(signal.reason)
          })
          void granted.then(() => {
            // An entry that was aborted after its turn came, but before it took it, has left the queue.
            if (hasLeft) return
            stopListening()
            hasTaken = true
            resolve()
          })
        })
      }
      const entry: QueueEntry<T> = {
        value: start(turn),
        end({ hold = false } = {}) {
          if (hold && hasTaken && running === entry) {
            held = [...waiting, ...held]
            waiting = []
          }
          leave(entry)
        },
      }
      grants.set(entry, grant)
      if (!hasLeft) waiting.push(entry)
      startNext()
      return entry
    },
    release() {
      waiting = [...waiting, ...held]
      held = []
      startNext()
    },
  }
}
