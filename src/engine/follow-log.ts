// Follows a log of any store; polls if the store has no `watch`.
import { setTimeout as sleep } from "node:timers/promises"
import type { Json } from "../core/json.ts"
import type { Store } from "../stores/store.ts"

/** Yields the items of a log and those appended later, until the signal fires. */
export async function* followLog(store: Store, log: string, from: number, signal: AbortSignal): AsyncGenerator<Json> {
  if (store.watch) return yield* store.watch(log, from, signal)
  for (let at = from; !signal.aborted; ) {
    for await (const item of store.read(log, at)) {
      if (signal.aborted) return
      at++
      yield item
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

const pollMs = 100
