// The store in the memory of this process.
import { checkKey, checkPosition, type EncodedChange, encodeChanges, sortByCodePoint } from "./encode-changes.ts"
import { createLogNotifier, type LogCursor, watchCursor } from "./log-watch.ts"
import type { Store } from "./store.ts"
import { checkGuard, closedError } from "./store-errors.ts"

/** Stores state in this process, for tests and for runs that need not survive it. Values are encoded, as in the other
 *  stores, so neither writers nor readers can change them afterwards. */
export function memoryStore(): Store {
  const values = new Map<string, { value: string | Uint8Array; revision: number }>()
  const logs = new Map<string, string[]>()
  const notifier = createLogNotifier()
  let revision = 0
  let closed = false

  function checkOpen(): void {
    if (closed) throw closedError("The memory store")
  }

  function apply(change: EncodedChange): void {
    switch (change.type) {
      case "put":
        values.set(change.key, { value: change.value, revision })
        return
      case "append":
        append(change.log, change.items)
        return
      case "delete":
        values.delete(change.key)
        logs.delete(change.key)
        notifier.notify(change.key)
    }
  }

  function append(log: string, items: readonly string[]): void {
    const entries = logs.get(log) ?? []
    logs.set(log, entries)
    for (const item of items) entries.push(item)
    notifier.notify(log)
  }

  function createCursor(log: string, from: number): LogCursor {
    checkKey(log)
    let at = checkPosition(from)
    let entries = logs.get(log)
    return {
      async next() {
        entries ??= logs.get(log)
        if (entries !== logs.get(log)) return undefined
        const items = entries?.slice(at) ?? []
        at += items.length
        return items.map((item) => JSON.parse(item))
      },
    }
  }

  async function close(): Promise<void> {
    closed = true
    notifier.close()
  }

  return {
    async get(key) {
      checkOpen()
      const entry = values.get(checkKey(key))
      if (!entry) return undefined
      const { value, revision } = entry
      return { value: typeof value === "string" ? JSON.parse(value) : new Uint8Array(value), revision }
    },
    async commit(changes, guard, options) {
      checkOpen()
      const encoded = encodeChanges(changes, guard, options)
      if (guard) checkGuard(guard, values.get(guard.key)?.revision ?? 0)
      revision++
      for (const change of encoded) apply(change)
      return revision
    },
    async *keys(prefix) {
      checkOpen()
      yield* sortByCodePoint([...values.keys()].filter((key) => key.startsWith(prefix)))
    },
    async *read(log, from = 0) {
      checkOpen()
      for (const item of (logs.get(checkKey(log)) ?? []).slice(checkPosition(from))) yield JSON.parse(item)
    },
    async *watch(log, from, signal) {
      checkOpen()
      yield* watchCursor(createCursor(log, from), notifier.subscribe(log), signal, () => closed)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
