// Batches the commits of the SQLite store.
import type { EncodedChange } from "./encode-changes.ts"
import type { SqliteDatabase } from "./sqlite-database.ts"
import type { StoreGuard } from "./store.ts"
import { checkGuard } from "./store-errors.ts"

/** Makes commits of the same moment in one transaction, so that they wait for the disk only once. */
export function createCommitBatcher(open: () => Promise<SqliteDatabase>) {
  let waiting: PendingCommit[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      // Commits of the same turn of the event loop join this transaction.
      await new Promise((resolve) => setImmediate(resolve))
      const group = waiting
      waiting = []
      await write(group)
    }
    writing = undefined
  }

  async function write(group: readonly PendingCommit[]): Promise<void> {
    try {
      const database = await open()
      const settle = await database.transact("write", () => group.map((commit) => applyCommit(commit, database)))
      for (const each of settle) each()
    } catch (error) {
      const [only, ...others] = group
      if (others.length === 0) return only?.reject(error)
      // One commit may have caused the failure, so each is tried alone.
      for (const commit of group) await write([commit])
    }
  }

  return {
    add(changes: readonly EncodedChange[], guard: StoreGuard | undefined): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      waiting.push({ changes, guard, resolve, reject })
      writing ??= writeAll()
      return promise
    },
    /** Resolves when all added commits are made or have failed. */
    untilIdle: async (): Promise<void> => writing,
  }
}

interface PendingCommit {
  changes: readonly EncodedChange[]
  guard: StoreGuard | undefined
  resolve(revision: number): void
  reject(error: unknown): void
}

/** Makes one commit if its guard holds. Returns a function that settles its promise once the transaction is on the
 *  disk. */
function applyCommit({ changes, guard, resolve, reject }: PendingCommit, { queries }: SqliteDatabase): () => void {
  try {
    if (guard) checkGuard(guard, queries.revision(guard.key))
  } catch (error) {
    return () => reject(error)
  }
  const revision = queries.nextRevision()
  for (const change of changes) queries.apply(change, revision)
  return () => resolve(revision)
}
