import type { Caller } from "./caller.ts"
import { pendingResult } from "./pending.ts"

/** The result of a call that host code makes for a cell. Host code may not await it, as an event emitter does not: then a
 *  failure is the caller's, or goes to `onFailure` where there is no caller, and is never an unhandled rejection. */
export function watchedResult(
  promise: Promise<unknown>,
  title: string,
  caller: Caller | undefined,
  { onSuccess, onFailure }: { onSuccess?(): void; onFailure?(error: unknown): void },
): Promise<unknown> {
  const { result, pending } = pendingResult(promise, `${title}(…)`)
  const settled = promise.then(
    async () => {
      if (!onSuccess || pending.awaited) return
      await nextTurn()
      if (!pending.awaited) onSuccess()
    },
    async (error: unknown) => {
      await nextTurn()
      if (pending.awaited) return
      if (caller) caller.fail(error)
      else onFailure?.(error)
    },
  )
  caller?.track(settled)
  return result
}

// Code that awaits a promise has attached itself by then.
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
