// The store in one SQLite file.
import { checkOptions, mustBeBoolean, mustBeIntegerFrom, type OptionChecks } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { checkKey, checkPosition, decodeStored, encodeChanges, parseStored } from "./encode-changes.ts"
import { createLogNotifier, type LogCursor, pollForChanges, readCursor, watchCursor } from "./log-watch.ts"
import { createCommitBatcher } from "./sqlite-commits.ts"
import { openDatabase, type SqliteDatabase } from "./sqlite-database.ts"
import type { Store } from "./store.ts"
import { closedError, corruptError } from "./store-errors.ts"

export interface SqliteStoreOptions {
  /** Waits until a commit is on the disk, so that it also survives a power cut. Without this a commit takes a tenth of
   *  the time and still survives a crash of the process. Default true. */
  sync?: boolean | undefined
  /** How long to wait for another process that is writing. Default 10,000. */
  busyTimeoutMs?: number | undefined
}

const optionChecks: OptionChecks<SqliteStoreOptions> = { sync: mustBeBoolean, busyTimeoutMs: mustBeIntegerFrom(0) }

/** Stores state in one SQLite file (`node:sqlite`), for any number of processes of this machine. The file is created at
 *  the first use. */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  checkOptions("sqliteStore()", options, optionChecks)
  const { sync = true, busyTimeoutMs = 10_000 } = options
  // SQLite would open a temporary database for an empty path.
  if (!path) throw new ConfigError('sqliteStore needs a path, such as "karst.db".')
  const name = `The store "${path}"`
  let opened: Promise<SqliteDatabase> | undefined
  let database: SqliteDatabase | undefined
  let closed = false
  const notifier = createLogNotifier(pollForChanges(() => database?.wasChangedByOthers() ?? false, pollMs))

  const commits = createCommitBatcher(connected)

  function connected(): Promise<SqliteDatabase> {
    opened ??= openDatabase(path, { name, sync, busyTimeoutMs }).catch((error) => {
      // The cause may be fixed later, so the next use tries again.
      opened = undefined
      throw error
    })
    return opened
  }

  async function open(): Promise<SqliteDatabase> {
    if (closed) throw closedError(name)
    database = await connected()
    if (closed) throw closedError(name)
    return database
  }

  /** Each page is read at once: an open statement would prevent the write-ahead log from shrinking. */
  function createCursor(log: string, from: number, isLive: boolean): LogCursor {
    checkKey(log)
    let at = checkPosition(from)
    let id: number | undefined
    let end: number | undefined
    return {
      async next() {
        const { transact, queries } = await open()
        return transact("read", () => {
          const found = queries.log(log)
          if (id !== undefined && found?.id !== id) return undefined
          id = found?.id
          end ??= isLive ? Infinity : (found?.length ?? 0)
          if (!found || at >= Math.min(end, found.length)) return []
          const items = queries.items(found.id, at, end)
          if (items.length === 0)
            throw corruptError(name, `the log "${log}" has no item ${at} of ${found.length}`, cure)
          at += items.length
          return items.map((item) => parseStored(item, `${name}, log "${log}"`))
        })
      },
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    notifier.close()
    await commits.untilIdle()
    const database = await opened?.catch(() => undefined)
    database?.close()
  }

  return {
    async get(key) {
      checkKey(key)
      const { transact, queries } = await open()
      const found = await transact("read", () => queries.value(key))
      return found && { value: decodeStored(found.value, `${name}, key "${key}"`), revision: found.revision }
    },
    async commit(changes, guard, options) {
      const encoded = encodeChanges(changes, guard, options)
      await open()
      const revision = await commits.add(encoded, guard)
      for (const change of encoded) {
        if (change.type !== "put") notifier.notify(change.type === "append" ? change.log : change.key)
      }
      return revision
    },
    async *keys(prefix) {
      const { transact, queries } = await open()
      for (let after = ""; ; ) {
        const page = await transact("read", () => queries.keys(prefix, after))
        for (const key of page) {
          if (!key.startsWith(prefix)) return
          yield key
        }
        const last = page.at(-1)
        if (last === undefined) return
        after = last
      }
    },
    async *read(log, from = 0) {
      yield* readCursor(createCursor(log, from, false))
    },
    async *watch(log, from, signal) {
      await open()
      yield* watchCursor(createCursor(log, from, true), notifier.subscribe(log), signal, () => closed)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const cure = "Restore it from a backup, or save what can be read with: sqlite3 <file> .recover"

// Each check is one small query that reads no file.
const pollMs = 25
