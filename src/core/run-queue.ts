// The queue of a session's runs: one at a time, in order, with the option to hold the rest back.
import { onAbort } from "./abort.ts"

/** Runs entries one after another, in the order in which they were added. */
export interface RunQueue<T> {
  readonly running: QueueEntry<T> | undefined
  /** The waiting entries in the order in which they will run. Held entries come last. */
  readonly pending: readonly QueueEntry<T>[]
  /** Adds an entry after the waiting ones and before the held ones. It starts at once if the queue is idle.
   *  `start` receives the function that waits until the entry may start; if `start` throws, nothing is added. */
  add(start: (waitForStart: WaitForStart) => T): QueueEntry<T>
  /** Lets held entries run, after the waiting ones. */
  release(): void
}

/** Resolves when the entry may start. If the signal fires first, rejects with its reason and removes the entry;
 *  the others keep their order. */
export type WaitForStart = (signal: AbortSignal) => Promise<void>

export interface QueueEntry<T> {
  readonly value: T
  /** Ends the entry. With `hold`, the waiting entries are held until `release`. An entry that never started is only
   *  removed. */
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
      let hasStarted = false
      let hasLeft = false
      function waitForStart(signal: AbortSignal): Promise<void> {
        return new Promise((resolve, reject) => {
          const stopListening = onAbort(signal, () => {
            hasLeft = true
            leave(entry)
            reject(signal.reason)
          })
          void granted.then(() => {
            // The entry was aborted when it could start but had not yet done so, and has left the queue.
            if (hasLeft) return
            stopListening()
            hasStarted = true
            resolve()
          })
        })
      }
      const entry: QueueEntry<T> = {
        value: start(waitForStart),
        end({ hold = false } = {}) {
          if (hold && hasStarted && running === entry) {
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
