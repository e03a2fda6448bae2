import type { Caller } from "./caller.ts"
import { createPendingResult } from "./pending-result.ts"

/** The result of a call that host code makes for a cell. Host code may not await it, as an event emitter does not: then a
 *  failure is the caller's, or goes to `onFailure` where there is no caller, and is never an unhandled rejection. */
export function reportIfUnawaited(
  promise: Promise<unknown>,
  title: string,
  caller: Caller | undefined,
  { onSuccess, onFailure }: { onSuccess?(): void; onFailure?(error: unknown): void },
): Promise<unknown> {
  const { result, pending } = createPendingResult(promise, `${title}(…)`)
  const settled = promise.then(
    async () => {
      if (!onSuccess || pending.isAwaited) return
      await nextTurn()
      if (!pending.isAwaited) onSuccess()
    },
    async (error: unknown) => {
      await nextTurn()
      if (pending.isAwaited) return
      if (caller) caller.fail(error)
      else onFailure?.(error)
    },
  )
  caller?.waitFor(settled)
  return result
}

// Code that awaits a promise has attached itself by then.
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
