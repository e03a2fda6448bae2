import { AgentError, ConflictError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { Change, Entry, Store } from "./store.ts"

/** State in this process, for tests and for runs that need not survive it. */
export function memoryStore(): Store {
  const values = new Map<string, Entry>()
  const logs = new Map<string, Json[]>()
  let revision = 0
  let closed = false

  function open(): void {
    if (closed) throw new AgentError("The memory store is closed.", { code: "closed" })
  }

  function apply(change: Change): void {
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
    }
  }

  function append(log: string, items: readonly Json[]): void {
    const entries = logs.get(log) ?? []
    logs.set(log, entries)
    entries.push(...items)
  }

  async function close(): Promise<void> {
    closed = true
  }

  return {
    async get(key) {
      open()
      const entry = values.get(key)
      return entry && { ...entry, value: copy(entry.value) }
    },
    async commit(changes, guard) {
      open()
      const found = guard ? (values.get(guard.key)?.revision ?? 0) : 0
      if (guard && found !== guard.ifRevision) {
        throw new ConflictError(`"${guard.key}" is at revision ${found}, not ${guard.ifRevision}. Read it again.`)
      }
      // Copied before anything is changed: a value that cannot be stored leaves the store as it was.
      const copies = structuredClone(changes)
      revision++
      for (const change of copies) apply(change)
      return revision
    },
    async *keys(prefix) {
      open()
      yield* [...values.keys()].filter((key) => key.startsWith(prefix)).sort()
    },
    async *read(log, from = 0) {
      open()
      for (const item of (logs.get(log) ?? []).slice(from)) yield copy(item)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

// What is stored is the store's own: neither who wrote it nor who reads it can change it.
function copy<T extends Json | Uint8Array>(value: T): T {
  return structuredClone(value)
}
